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

/** What happened longer ago is history and calls nobody. Milliseconds. */
const HISTORY_MS = 24 * 3_600_000;

const NOBODY: Attention = { level: 0, why: '' };

/** Why a person should look, by the gateway's word for it. */
const WANTS: Record<string, Attention> = {
  waiting: { level: 3, why: 'Waits for its user' },
  paused: { level: 3, why: 'Paused: its requests wait' },
  interrupted: { level: 3, why: 'Interrupted: its process is gone' },
  failed: { level: 2, why: 'Its calls of the model fail' },
  refuted: { level: 2, why: 'Says it is done, and the check refutes it' },
  capped: { level: 2, why: 'Answered by Steersman' },
  stopped: { level: 1, why: 'Stopped' },
  left: { level: 1, why: 'Left: no process drives it' },
  warned: { level: 1, why: 'Its last decision was an intervention' },
};

export function attention(row: Row, nowMs: number): Attention {
  const word = row.attention ?? null;
  if (word === null || nowMs - row.updated_ms > HISTORY_MS) return NOBODY;
  return WANTS[word] ?? { level: 1, why: word.replaceAll('_', ' ') };
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
      return large((row) => row.updated_ms);
    case 'created':
      return large((row) => row.created_ms);
    case 'turns':
      return large((row) => row.turns);
    case 'tokens':
      return large((row) => row.tokens);
    case 'cost':
      return large((row) => row.cost_nanodollars);
    case 'score':
      // The lowest first: they are who is looked for.
      return (a, b) => (a.score ?? 2) - (b.score ?? 2);
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
    return b.updated_ms - a.updated_ms || (a.session < b.session ? -1 : 1);
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
