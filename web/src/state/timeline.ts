// A session turn by turn, as it grows. Pure.

import type { Decided, Timeline, Turn } from '../client';

/** Turns that are kept; of a longer session the latest. */
export const MAX_TURNS = 5_000;

/** What `after_turn` has to be for everything that may have changed: the last turn can still grow. */
export function askAfter(known: Timeline | null): number {
  const last = known?.turns.at(-1);
  return last === undefined ? 0 : Math.max(0, last.number - 1);
}

/** A part of a session laid over what is known: a turn that is told again is told anew. */
export function mergeTimeline(known: Timeline | null, fresh: Timeline): Timeline {
  if (known === null || known.session !== fresh.session) return fresh;
  if (fresh.seq < known.seq) return known;
  const first = fresh.turns[0]?.number ?? Infinity;
  const kept = known.turns.filter((turn) => turn.number < first);
  const turns = [...kept, ...fresh.turns].slice(-MAX_TURNS);
  const before = fresh.before.length > 0 ? fresh.before : known.before;
  return { ...fresh, before, turns, whole: withDiffs(fresh.whole, known.whole) };
}

/** What an attempt changed is told once: it is taken from what is known. */
function withDiffs(fresh: Timeline['whole'], known: Timeline['whole']): Timeline['whole'] {
  const attempts = fresh.attempts.map((attempt) => {
    const before = known.attempts.find((it) => it.number === attempt.number);
    return { ...attempt, diff: attempt.diff ?? before?.diff ?? null };
  });
  return { ...fresh, attempts };
}

/** Every decision, in order, also those that were only told. */
export function decisionsOf(timeline: Timeline): Decided[] {
  return timeline.turns.flatMap((turn) => turn.decisions);
}

/** The same timeline with a mark as it will be once the gateway has it. */
export function withMark(
  timeline: Timeline,
  seq: number,
  mark: Decided['mark'],
  note: string | null,
): Timeline {
  const turns = timeline.turns.map((turn) => {
    if (!turn.decisions.some((decided) => decided.seq === seq)) return turn;
    const decisions = turn.decisions.map((decided) =>
      decided.seq === seq ? { ...decided, mark, mark_note: note } : decided,
    );
    return { ...turn, decisions };
  });
  return { ...timeline, turns };
}

/** What a call came to, for its colour. */
export type CallTone = 'new' | 'again' | 'error' | 'empty' | 'open';

export function callTone(call: Turn['calls'][number]): CallTone {
  if (call.outcome === null) return 'open';
  if (call.outcome === 'error') return 'error';
  if (call.outcome === 'empty') return 'empty';
  return call.novel ? 'new' : 'again';
}

/** Whether anything of a turn can be shown in a conversation. */
export function speaks(turn: Turn): boolean {
  return turn.text !== '' || turn.said.length > 0 || turn.calls.length > 0;
}

export const SIGNALS = [
  ['progress_velocity', 'progress', 'New resources per iteration'],
  ['novelty', 'novelty', 'Turns that brought something new'],
  ['stuck_loop', 'no loop', '1 without repeats, 0 in a stuck loop'],
  ['token_budget', 'context room', 'Room in the context window'],
  ['budget_left', 'budget left', 'Share of the tightest budget'],
  ['intervention_ratio', 'patience', 'Interventions not used up'],
  ['complexity', 'complexity', 'Patience that the task earns'],
  ['test_trend', 'test trend', '1 while failing tests reach new lows'],
  ['error_rate', 'no errors', '1 less the share of turns in which every call failed'],
] as const;

export type SignalName = (typeof SIGNALS)[number][0];

/** A signal so that 1 is always good. */
export function goodness(turn: Turn, name: SignalName): number | null {
  if (turn.signals === null) return null;
  const value = turn.signals[name];
  return name === 'error_rate' ? 1 - value : value;
}

export interface ChartData {
  turns: number[];
  scores: (number | null)[];
  /** By signal, in the order of `SIGNALS`. */
  signals: (number | null)[][];
}

/** The turns as columns. Where a turn has no decision the last values hold. */
export function chartData(turns: readonly Turn[]): ChartData {
  const data: ChartData = { turns: [], scores: [], signals: SIGNALS.map(() => []) };
  const last: (number | null)[] = SIGNALS.map(() => null);
  let score: number | null = null;
  for (const turn of turns) {
    data.turns.push(turn.number);
    score = turn.score ?? score;
    data.scores.push(score);
    SIGNALS.forEach(([name], at) => {
      last[at] = goodness(turn, name) ?? last[at] ?? null;
      data.signals[at]?.push(last[at]);
    });
  }
  return data;
}

/** A threshold of the policy that decides; null if it has none of this name. */
export function threshold(timeline: Timeline, name: string): number | null {
  const holds = timeline.whole.thresholds.find((set) => set.holds);
  return holds?.values.find((value) => value.name === name)?.value ?? null;
}

export interface ThresholdRow {
  name: string;
  about: string;
  /** What holds now. */
  now: number | null;
  /** What would hold. */
  then: number | null;
}

/** What a preset changes, the changes first. */
export function thresholdEffect(timeline: Timeline, preset: string): ThresholdRow[] {
  const sets = timeline.whole.thresholds;
  const now = sets.find((set) => set.holds);
  const then = sets.find((set) => set.preset === preset && !set.holds) ?? now;
  if (now === undefined || then === undefined) return [];
  const rows = now.values.map(({ name, about, value }) => {
    const other = then.values.find((it) => it.name === name)?.value ?? null;
    return { name, about, now: value, then: other };
  });
  const isChanged = (row: ThresholdRow): number => (row.now === row.then ? 1 : 0);
  return rows.sort((a, b) => isChanged(a) - isChanged(b));
}

/** Turn numbers as ranges: 3–9, 12. */
export function ranges(turns: readonly number[]): string {
  const parts: string[] = [];
  let first: number | null = null;
  let last = 0;
  const close = (): void => {
    if (first !== null) parts.push(first === last ? `${first}` : `${first}–${last}`);
  };
  for (const turn of turns) {
    if (first !== null && turn === last + 1) {
      last = turn;
      continue;
    }
    close();
    first = turn;
    last = turn;
  }
  close();
  return parts.join(', ');
}
