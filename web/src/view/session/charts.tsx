// The course of a session: calls, score with thresholds and decisions, signals on top of each other.

import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { plural, toneOf, type Tone } from '../../format';
import type { Timeline } from '../../client';
import {
  SIGNALS,
  callTone,
  chartData,
  decisionsOf,
  threshold,
  type CallTone,
  type ChartData,
} from '../../state/timeline';
import { prefer, preferences } from '../../preferences';
import { Chart, axis, faint, ink, stack, wholeSplits } from '../chart';
import { useAbout } from './about';

/** Calls of a turn that get a square of their own; the last one stands for the rest. */
const MAX_SQUARES = 6;
/** Width of what stands left of every chart, so that their turns are below each other. */
const LEFT = 44;

const CALL_INKS: Record<CallTone, string> = {
  new: 's1',
  again: 's4',
  error: 'bad',
  empty: 'rule-strong',
  open: 'rule',
};

const TONE_INKS: Record<Tone, string> = {
  calm: 'soft',
  good: 'good',
  warn: 'warn',
  urge: 'urge',
  bad: 'bad',
  violet: 'violet',
  human: 'human',
};

type Options = Omit<uPlot.Options, 'width' | 'height'>;

export function Charts({ timeline }: { timeline: Timeline }) {
  const { jump } = useAbout();
  const data = useMemo(() => chartData(timeline.turns), [timeline]);
  if (data.turns.length === 0) return null;
  const open = (plot: uPlot): void => {
    plot.over.addEventListener('click', () => {
      const turn = data.turns[plot.cursor.idx ?? -1];
      if (turn !== undefined) jump(turn);
    });
  };
  return (
    <section class="panel charts" aria-label="The course of the session">
      <CallsChart timeline={timeline} data={data} ready={open} />
      <ScoreChart timeline={timeline} data={data} ready={open} />
      <SignalsChart data={data} ready={open} />
    </section>
  );
}

interface Part {
  data: ChartData;
  ready(plot: uPlot): void;
}

function base(part: Part, y: { max: number; axis: uPlot.Axis }): Options {
  return {
    legend: { show: false },
    cursor: {
      sync: { key: 'session', setSeries: false },
      points: { show: false },
      drag: { x: false },
    },
    padding: [6, 8, 0, 0],
    scales: {
      x: {
        time: false,
        range: (_, min, max) => [min - 0.7, Math.max(max, min + 8) + 0.7],
      },
      y: { range: [0, y.max] },
    },
    axes: [axis({ splits: wholeSplits, size: 24, gap: 2 }), axis({ size: LEFT, ...y.axis })],
    hooks: { ready: [part.ready] },
    series: [{}],
  };
}

/** The shape of a chart does not change with every turn, only the last turn does. */
function shapeOf(data: ChartData): string {
  return `${data.turns[0]}-${data.turns.length}`;
}

function CallsChart({ timeline, data, ready }: Part & { timeline: Timeline }) {
  const most = Math.max(1, ...timeline.turns.map((turn) => turn.calls.length));
  const rows = Math.min(MAX_SQUARES, most);
  const options = (): Options => {
    const made = base({ data, ready }, { max: rows, axis: { show: false } });
    const inks = Object.fromEntries(
      Object.entries(CALL_INKS).map(([tone, token]) => [tone, ink(token)]),
    );
    return {
      ...made,
      padding: [4, 8, 0, LEFT],
      axes: [{ show: false }, { show: false }],
      series: [{}, { stroke: 'transparent', points: { show: false } }],
      hooks: { ...made.hooks, draw: [(plot) => drawCalls(plot, timeline, inks)] },
    };
  };
  return (
    <figure>
      <figcaption>
        Calls
        <ul class="legend">
          <li class="new">something new</li>
          <li class="again">nothing new</li>
          <li class="empty">empty</li>
          <li class="error">error</li>
        </ul>
      </figcaption>
      <Chart
        label={`Calls of ${plural(data.turns.length, 'turn')} by outcome; the turns below tell the same`}
        height={18 + rows * 12}
        data={[data.turns, data.turns.map(() => 0)]}
        options={options}
        shape={`${shapeOf(data)}-${rows}-${timeline.seq}`}
      />
    </figure>
  );
}

function drawCalls(plot: uPlot, timeline: Timeline, inks: Record<string, string>): void {
  const { ctx } = plot;
  const ratio = uPlot.pxRatio;
  const wide = Math.abs(plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true));
  const size = Math.max(1, Math.min(10 * ratio, wide - ratio));
  const step = 12 * ratio;
  ctx.save();
  for (const turn of timeline.turns) {
    const x = plot.valToPos(turn.number, 'x', true) - size / 2;
    turn.calls.slice(0, MAX_SQUARES).forEach((call, at) => {
      ctx.fillStyle = inks[callTone(call)] ?? 'gray';
      const y = plot.bbox.top + plot.bbox.height - (at + 1) * step;
      ctx.fillRect(x, y, size, 10 * ratio);
    });
  }
  ctx.restore();
}

function ScoreChart({ timeline, data, ready }: Part & { timeline: Timeline }) {
  const goOn = threshold(timeline, 'continuation.continue_score');
  const force = threshold(timeline, 'continuation.synthesis_score');
  const acts = decisionsOf(timeline).filter((decided) => decided.action !== 'continue');
  const line = (value: number | null): (number | null)[] => data.turns.map(() => value);
  const options = (): Options => {
    const made = base(
      { data, ready },
      { max: 1.08, axis: { splits: () => [0, 0.25, 0.5, 0.75, 1] } },
    );
    const score = ink('accent');
    const dashed = (token: string): uPlot.Series => ({
      stroke: ink(token),
      width: 1,
      dash: [5, 4],
      points: { show: false },
    });
    return {
      ...made,
      series: [
        {},
        { stroke: score, width: 2, fill: faint(score, 0.12), points: { size: 5, fill: score } },
        dashed('good'),
        dashed('bad'),
      ],
      hooks: { ...made.hooks, draw: [(plot) => drawActs(plot, acts)] },
    };
  };
  const last = data.scores.at(-1);
  return (
    <figure>
      <figcaption>
        Score{last != null && <b> {last.toFixed(2)}</b>}
        <ul class="legend lines">
          {goOn !== null && <li class="go">goes on from {goOn}</li>}
          {force !== null && <li class="force">forced below {force}</li>}
          {acts.length > 0 && <li class="acts">▼ {plural(acts.length, 'decision')}</li>}
        </ul>
      </figcaption>
      <Chart
        label={`Score by turn, now ${last?.toFixed(2) ?? 'unknown'}, with ${plural(acts.length, 'decision')}`}
        height={170}
        data={[data.turns, data.scores, line(goOn), line(force)]}
        options={options}
        shape={`${shapeOf(data)}-${acts.length}-${goOn}-${force}`}
      />
    </figure>
  );
}

function drawActs(
  plot: uPlot,
  acts: readonly { turn: number; action: string; shadow: boolean }[],
): void {
  const { ctx } = plot;
  const ratio = uPlot.pxRatio;
  const half = 5 * ratio;
  ctx.save();
  for (const act of acts) {
    const x = plot.valToPos(act.turn, 'x', true);
    const y = plot.bbox.top + 2 * ratio;
    const colour = ink(TONE_INKS[toneOf(act.action)]);
    ctx.beginPath();
    ctx.moveTo(x - half, y);
    ctx.lineTo(x + half, y);
    ctx.lineTo(x, y + 2 * half);
    ctx.closePath();
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    if (act.shadow) ctx.stroke();
    else ctx.fill();
    ctx.beginPath();
    ctx.globalAlpha = 0.35;
    ctx.moveTo(x, y + 2 * half);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  ctx.restore();
}

function SignalsChart({ data, ready }: Part) {
  const { hidden } = preferences.value;
  const shown = SIGNALS.map((signal, at) => ({ signal, at })).filter(
    ({ signal }) => !hidden.includes(signal[0]),
  );
  const stacked = stack(shown.map(({ at }) => data.signals[at] ?? []));
  const options = (): Options => {
    const made = base({ data, ready }, { max: Math.max(1, shown.length), axis: {} });
    return {
      ...made,
      series: [
        {},
        ...shown.map(({ at }) => {
          const colour = ink(`s${at + 1}`);
          return { stroke: colour, width: 1, fill: faint(colour, 0.55), points: { show: false } };
        }),
      ],
      bands: shown.slice(1).map((_, at) => ({ series: [at + 2, at + 1] as [number, number] })),
    };
  };
  return (
    <figure>
      <figcaption>Signals, on top of each other; 1 each is best</figcaption>
      <Chart
        label="Signals by turn; the list below has the latest values"
        height={190}
        data={[data.turns, ...stacked]}
        options={options}
        shape={`${shapeOf(data)}-${shown.map(({ at }) => at).join()}`}
      />
      <SignalSwitches data={data} hidden={hidden} />
    </figure>
  );
}

function SignalSwitches({ data, hidden }: { data: ChartData; hidden: readonly string[] }) {
  return (
    <ul class="switches">
      {SIGNALS.map(([name, words, about], at) => {
        const value = data.signals[at]?.at(-1);
        const isShown = !hidden.includes(name);
        return (
          <li key={name}>
            <button
              type="button"
              class={`switch s${at + 1}`}
              title={about}
              aria-pressed={isShown}
              onClick={() =>
                prefer({
                  hidden: isShown ? [...hidden, name] : hidden.filter((other) => other !== name),
                })
              }
            >
              <i aria-hidden="true" />
              {words} <b>{value == null ? '–' : value.toFixed(2)}</b>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
