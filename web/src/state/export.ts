// Tables as files. Pure.

import type { Analytics } from '../client';

export type Cell = string | number | boolean | null;

/** A cell that a spreadsheet takes for text, whatever it begins with. */
export function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  // Names of agents come from outside: none of them may be read as a formula.
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

type Column<T> = [name: string, of: (row: T) => Cell];

function table<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const head = columns.map(([name]) => name);
  return csv(
    head,
    rows.map((row) => columns.map(([, of]) => of(row))),
  );
}

/** A moment as spreadsheets read it. */
const iso = (ms: number): string => new Date(ms).toISOString();

/** What can be had as CSV, by its name in the file's name. */
export function csvTables(analytics: Analytics): Record<string, string> {
  const actions = [...new Set(analytics.buckets.flatMap((it) => Object.keys(it.decisions)))].sort();
  type Bucket = Analytics['buckets'][number];
  const bucketColumns: Column<Bucket>[] = [
    ['from', (it) => iso(it.from_ms)],
    ['requests', (it) => it.requests],
    ['replies', (it) => it.replies],
    ['rescues', (it) => it.rescues],
    ['failed_calls', (it) => it.failed_calls],
    ['input_tokens', (it) => it.input_tokens],
    ['output_tokens', (it) => it.output_tokens],
    ['cost_nanodollars', (it) => it.cost_nanodollars],
    ...actions.map((name): Column<Bucket> => [name, (it) => it.decisions[name] ?? 0]),
  ];
  return {
    'over-time': table(bucketColumns, analytics.buckets),
    decisions: table(
      [
        ['action', (it) => it.action],
        ['reason', (it) => it.reason],
        ['shadow', (it) => it.shadow],
        ['count', (it) => it.count],
      ],
      analytics.decisions,
    ),
    followed: table(
      [
        ['action', (it) => it.action],
        ['shadow', (it) => it.shadow],
        ['went_on', (it) => it.went_on],
        ['again', (it) => it.again],
        ['answered', (it) => it.answered],
        ['broke_off', (it) => it.broke_off],
        ['nothing', (it) => it.nothing],
      ],
      analytics.followed,
    ),
    groups: table(
      [
        ['kind', (it) => it.kind],
        ['agent', (it) => it.agent],
        ['model', (it) => it.model],
        ['sessions', (it) => it.sessions],
        ['judged', (it) => it.judged],
        ['solved', (it) => it.solved],
        ['turns_median', (it) => (it.turns.count > 0 ? it.turns.median : null)],
        ['turns_p90', (it) => (it.turns.count > 0 ? it.turns.p90 : null)],
        ['at_limit', (it) => it.at_limit],
        ['start_overs', (it) => it.start_overs],
        ['interventions', (it) => it.interventions],
        ['tokens', (it) => it.tokens],
        ['cost_nanodollars', (it) => it.cost_nanodollars],
      ],
      analytics.groups,
    ),
    marks: table(
      [
        ['action', (it) => it.action],
        ['reason', (it) => it.reason],
        ['template', (it) => it.template],
        ['helpful', (it) => it.helpful],
        ['harmful', (it) => it.harmful],
      ],
      analytics.judged,
    ),
  };
}
