// Small things that many views show: badges, sparklines, states of waiting and failing.

import type { ComponentChildren } from 'preact';
import { toneOf, toneOfState, words, type Tone } from '../format';

/** A shape beside every colour, for eyes and screens that do not tell colours apart. */
const SHAPES: Record<Tone, string> = {
  calm: '·',
  good: '●',
  warn: '◆',
  urge: '▲',
  bad: '■',
  violet: '↺',
  human: '◐',
};

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <i aria-hidden="true">{SHAPES[tone]}</i>
      {children}
    </span>
  );
}

interface ActionMark {
  action: string;
  shadow: boolean;
  /** A decision to go on has followed. */
  isOver?: boolean;
}

export function ActionBadge({ action, shadow, isOver }: ActionMark) {
  return (
    <Badge tone={isOver === true ? 'calm' : toneOf(action)}>
      {words(action)}
      {shadow && <small> (shadow)</small>}
    </Badge>
  );
}

export function StateBadge({ state }: { state: string }) {
  return <Badge tone={toneOfState(state)}>{words(state)}</Badge>;
}

const WIDTH = 84;
const HEIGHT = 22;

/** The points of a line through scores from 0 to 1, the latest at the right. */
export function sparkPoints(scores: readonly number[], width = WIDTH, height = HEIGHT): string {
  const step = width / Math.max(1, scores.length - 1);
  return scores
    .map((score, at) => {
      const inside = Math.min(1, Math.max(0, score));
      return `${(at * step).toFixed(1)},${(1 + (1 - inside) * (height - 2)).toFixed(1)}`;
    })
    .join(' ');
}

export function Spark({ scores }: { scores: readonly number[] }) {
  const last = scores.at(-1);
  if (last === undefined) return <span class="spark none">–</span>;
  const shown = scores.length === 1 ? [last, last] : scores;
  const label = `score ${last.toFixed(2)}`;
  return (
    <span class="spark" role="img" aria-label={label}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <line class="half" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <polyline class={last < 0.35 ? 'low' : ''} points={sparkPoints(shown)} />
      </svg>
      <b aria-hidden="true">{last.toFixed(2)}</b>
    </span>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="blank">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="blank" role="status" aria-busy="true">
      <span class="wheel" aria-hidden="true" />
      <p>Loading {what}…</p>
    </div>
  );
}

export function Failed({ what, why, retry }: { what: string; why: string; retry?: () => void }) {
  return (
    <div class="blank failed" role="alert">
      <h2>{what}</h2>
      <p>{why}</p>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A number with what it is. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A bar from 0 to 1 with its name for screen readers. */
export function Meter({ share, label, tone }: { share: number; label: string; tone?: Tone }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span class={`meter ${tone ?? ''}`} role="img" aria-label={label}>
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}
