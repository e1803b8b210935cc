// What happened over time.

import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { Analytics } from '../../client';
import { count, plural, short, toneOf, words, type Tone } from '../../format';
import { Chart, axis, ink, stack } from '../chart';

const TONE_INKS: Record<Tone, string> = {
  calm: 'soft',
  good: 'good',
  warn: 's4',
  urge: 'urge',
  bad: 'bad',
  violet: 'violet',
  human: 's2',
};

/** Two actions of one tone differ by how much ground is seen through them. */
const SHARES: Record<string, number> = { nudge_synthesis: 0.55, force_synthesis: 0.55 };

/** Every bucket of the time, also those in which nothing happened. */
export function filled(analytics: Analytics): Analytics['buckets'] {
  const { bucket_ms, since_ms, until_ms, buckets } = analytics;
  const known = new Map(buckets.map((bucket) => [bucket.from_ms, bucket]));
  const all: Analytics['buckets'] = [];
  for (let at = since_ms - (since_ms % bucket_ms); at <= until_ms; at += bucket_ms) {
    all.push(known.get(at) ?? { ...NOTHING, from_ms: at });
  }
  return all;
}

const NOTHING: Analytics['buckets'][number] = {
  from_ms: 0,
  requests: 0,
  replies: 0,
  decisions: {},
  rescues: 0,
  failed_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_nanodollars: 0,
  unpriced_replies: 0,
};

interface Layer {
  name: string;
  token: string;
  share: number;
  values: number[];
}

/** Steps of an axis on which nothing has fractions. */
const WHOLE = Array.from({ length: 12 }, (_, at) => [1, 2, 5].map((by) => by * 10 ** at)).flat();

/** Hours and minutes as they are written everywhere else on the page; the date where a day begins. */
function times24(_: uPlot, splits: number[]): string[] {
  return splits.map((seconds, at) => {
    const date = new Date(seconds * 1_000);
    const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    return isMidnight ? day : at === 0 ? `${time}\n${day}` : time;
  });
}

/** Bars of several layers on top of each other. */
function StackedBars({
  title,
  layers,
  times,
}: {
  title: string;
  layers: Layer[];
  times: number[];
}) {
  const data = useMemo(() => {
    const sums = stack(layers.map((layer) => layer.values)).reverse();
    return [times, ...sums] as uPlot.AlignedData;
  }, [layers, times]);
  // The last bar reaches as far as the others.
  const step = (times[1] ?? (times[0] ?? 0) + 1) - (times[0] ?? 0);
  const total = (layer: Layer): number => layer.values.reduce((sum, value) => sum + value, 0);
  return (
    <figure class="panel wide">
      <figcaption>
        <h2>{title}</h2>
        <ul class="legend inked">
          {layers.map((layer) => (
            <li key={layer.name}>
              <i style={{ background: `var(--${layer.token})`, opacity: layer.share }} />
              {layer.name} <b>{short(total(layer))}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <Chart
        label={`${title}: ${layers.map((layer) => `${layer.name} ${count(total(layer))}`).join(', ')}`}
        height={210}
        data={data}
        shape={`${times[0]}-${times.length}-${layers.map((layer) => layer.name).join()}`}
        options={() => ({
          legend: { show: false },
          cursor: { y: false, points: { show: false } },
          scales: {
            x: { range: (_, min, max) => [min, max + step] },
            y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
          },
          axes: [
            axis({ size: 42, values: times24 }),
            axis({ size: 54, incrs: WHOLE, values: (_, splits) => splits.map(short) }),
          ],
          series: [{}, ...[...layers].reverse().map(bars)],
        })}
      />
    </figure>
  );
}

function bars(layer: Layer): uPlot.Series {
  const colour = ink(layer.token);
  const paths = uPlot.paths.bars;
  return {
    // What is below has been painted by the layer above, so it is covered and not seen through.
    fill: layer.share === 1 ? colour : `color-mix(in srgb, ${colour}, ${ink('panel')} 45%)`,
    stroke: 'transparent',
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths: paths({ size: [0.85, 40], align: 1 }) }),
  };
}

export function DecisionsChart({ analytics }: { analytics: Analytics }) {
  const [times, layers] = useMemo(() => {
    const buckets = filled(analytics);
    const names = [...new Set(buckets.flatMap((it) => Object.keys(it.decisions)))]
      .filter((name) => name !== 'continue')
      .sort();
    const made = names.map((name) => ({
      name: words(name),
      token: TONE_INKS[toneOf(name)],
      share: SHARES[name] ?? 1,
      values: buckets.map((it) => it.decisions[name] ?? 0),
    }));
    return [buckets.map((it) => it.from_ms / 1_000), made] as const;
  }, [analytics]);
  const gone = analytics.decisions
    .filter((it) => it.action === 'continue')
    .reduce((sum, it) => sum + it.count, 0);
  if (layers.length === 0) {
    return (
      <figure class="panel wide">
        <figcaption>
          <h2>Decisions over time</h2>
        </figcaption>
        <p class="soft">No interventions; {plural(gone, 'decision')} to go on.</p>
      </figure>
    );
  }
  return (
    <StackedBars title="Decisions over time, other than to go on" layers={layers} times={times} />
  );
}

export function TokensChart({ analytics }: { analytics: Analytics }) {
  const [times, layers] = useMemo(() => {
    const buckets = filled(analytics);
    const made: Layer[] = [
      { name: 'sent', token: 's1', share: 1, values: buckets.map((it) => it.input_tokens) },
      { name: 'generated', token: 's3', share: 1, values: buckets.map((it) => it.output_tokens) },
    ];
    return [buckets.map((it) => it.from_ms / 1_000), made] as const;
  }, [analytics]);
  return <StackedBars title="Tokens over time" layers={layers} times={times} />;
}
