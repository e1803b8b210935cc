// Which rows of the fleet are shown, and in which order. Pure.

import type { Row } from './fleet';

export type SortKey =
  'attention' | 'updated' | 'created' | 'turns' | 'tokens' | 'cost' | 'score' | 'task' | 'agent';

export const SORT_KEYS: readonly SortKey[] = [
  'attention',
  'updated',
  'created',
  'turns',
  'tokens',
  'cost',
  'score',
  'task',
  'agent',
];

export interface Choice {
  text: string;
  state: string;
  agent: string;
  model: string;
  sort: SortKey;
  /** Against the key's own direction. */
  reversed: boolean;
}

export const NO_CHOICE: Choice = {
  text: '',
  state: '',
  agent: '',
  model: '',
  sort: 'attention',
  reversed: false,
};

/** How much a session wants a person: 0 nothing, 1 a look, 2 soon, 3 now. */
export type Level = 0 | 1 | 2 | 3;

export interface Attention {
  level: Level;
  why: string;
}

/** Something that happened longer ago is history and calls nobody. Milliseconds. */
const STALE_MS = 6 * 3_600_000;
/** An intervention that many turns ago has had its effect. */
const RECENT_TURNS = 3;
/** Scores below this are worth a look. */
const LOW_SCORE = 0.35;

const NOBODY: Attention = { level: 0, why: '' };

/** Whether a session goes on, as far as its state tells. */
export function isOpen(state: string): boolean {
  return state === 'open' || state === 'paused' || state === 'forced' || state === 'running';
}

export function attention(row: Row, nowMs: number): Attention {
  if (nowMs - row.updatedMs > STALE_MS) return NOBODY;
  if (row.state === 'paused') return { level: 3, why: 'Paused: its requests wait' };
  if (row.last?.reason === 'awaiting_user') return { level: 3, why: 'Asks you something' };
  if (row.state === 'capped') return { level: 2, why: 'Answered by Steersman' };
  if (row.state === 'forced') return { level: 2, why: 'Its answer is being forced' };
  if (row.trouble !== null) return { level: 2, why: `Trouble: ${row.trouble}` };
  return fromDecisions(row);
}

function fromDecisions(row: Row): Attention {
  const act = row.lastAct;
  if (act !== null && row.turns - act.turn < RECENT_TURNS && isOpen(row.state)) {
    const strong = act.action === 'stop' || act.action === 'force_synthesis';
    const why = `${act.shadow ? 'Would have been: ' : ''}${act.action.replaceAll('_', ' ')}`;
    return { level: strong && !act.shadow ? 2 : 1, why };
  }
  if (row.last !== null && row.last.score < LOW_SCORE && isOpen(row.state)) {
    return { level: 1, why: `Low score: ${row.last.score.toFixed(2)}` };
  }
  return NOBODY;
}

function isChosen(row: Row, choice: Choice, needle: string): boolean {
  if (choice.state !== '' && row.state !== choice.state) return false;
  if (choice.agent !== '' && row.agent !== choice.agent) return false;
  if (choice.model !== '' && row.model !== choice.model) return false;
  if (needle === '') return true;
  return (
    row.task.toLowerCase().includes(needle) ||
    row.session.toLowerCase().includes(needle) ||
    (row.agent ?? '').toLowerCase().includes(needle) ||
    (row.model ?? '').toLowerCase().includes(needle) ||
    (row.key ?? '').toLowerCase().includes(needle)
  );
}

type Compare = (a: Row, b: Row) => number;

/** What is unknown goes last, whatever the direction of numbers. */
const large = (of: (row: Row) => number | null): Compare => {
  return (a, b) => (of(b) ?? -1) - (of(a) ?? -1);
};

function comparison(key: SortKey, nowMs: number): Compare {
  switch (key) {
    case 'attention': {
      const levels = new Map<Row, number>();
      const level = (row: Row): number => {
        const known = levels.get(row) ?? attention(row, nowMs).level;
        levels.set(row, known);
        return known;
      };
      return large(level);
    }
    case 'updated':
      return large((row) => row.updatedMs);
    case 'created':
      return large((row) => row.createdMs);
    case 'turns':
      return large((row) => row.turns);
    case 'tokens':
      return large((row) => row.tokens);
    case 'cost':
      return large((row) => row.cost);
    case 'score':
      // The lowest first: they are who is looked for.
      return (a, b) => (a.last?.score ?? 2) - (b.last?.score ?? 2);
    case 'task':
      return (a, b) => a.task.localeCompare(b.task);
    case 'agent':
      return (a, b) => (a.agent ?? '\uffff').localeCompare(b.agent ?? '\uffff');
  }
}

/** The rows to show, in order. Ties go to who was busy last, then by id, so that rows stay put. */
export function choose(rows: Iterable<Row>, choice: Choice, nowMs: number): Row[] {
  const needle = choice.text.trim().toLowerCase();
  const chosen: Row[] = [];
  for (const row of rows) if (isChosen(row, choice, needle)) chosen.push(row);
  const compare = comparison(choice.sort, nowMs);
  const sign = choice.reversed ? -1 : 1;
  return chosen.sort((a, b) => {
    const byKey = compare(a, b) * sign;
    if (byKey !== 0) return byKey;
    return b.updatedMs - a.updatedMs || (a.session < b.session ? -1 : 1);
  });
}

/** The values that a filter offers, each once, in order. */
export function valuesOf(rows: Iterable<Row>, of: (row: Row) => string | null): string[] {
  const values = new Set<string>();
  for (const row of rows) {
    const value = of(row);
    if (value !== null && value !== '') values.add(value);
  }
  return [...values].sort((a, b) => a.localeCompare(b));
}
