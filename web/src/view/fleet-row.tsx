// One session in the fleet.

import { nowMs, rowOf, version } from '../live';
import { moment, money, short, span, words } from '../format';
import { hrefOf } from '../route';
import { attention, type SortKey } from '../state/choice';
import type { Row } from '../state/fleet';
import { ActionBadge, Spark, StateBadge } from './marks';

export interface Column {
  name: string;
  class: string;
  sort: SortKey | null;
}

export const COLUMNS: readonly Column[] = [
  { name: 'Needs', class: 'needs', sort: 'attention' },
  { name: 'Task', class: 'task', sort: 'task' },
  { name: 'State', class: 'state', sort: null },
  { name: 'Turn', class: 'turns num', sort: 'turns' },
  { name: 'Score', class: 'score', sort: 'score' },
  { name: 'Last decision', class: 'last', sort: null },
  { name: 'Tokens', class: 'tokens num', sort: 'tokens' },
  { name: 'Cost', class: 'cost num', sort: 'cost' },
  { name: 'Active', class: 'age num', sort: 'updated' },
];

const LEVELS = ['', 'look', 'soon', 'now'] as const;

/** Clocks of two programs: what was just now may be a moment ahead. */
function ago(ms: number): string {
  return ms < 1_000 ? 'now' : span(ms);
}

interface Place {
  session: string;
  at: number;
  top: number;
  isActive: boolean;
}

export function FleetRow({ session, at, top, isActive }: Place) {
  void version.value;
  const row = rowOf(session);
  if (row === undefined) return null;
  const href = hrefOf({ view: 'session', id: session, tab: 'timeline', turn: null });
  return (
    <div
      id={`row-${at}`}
      class={`row ${isActive ? 'active' : ''}`}
      role="row"
      aria-rowindex={at + 2}
      aria-selected={isActive}
      data-session={session}
      data-entries={row.entries}
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (event.target instanceof HTMLAnchorElement) return;
        location.hash = href;
      }}
    >
      <Needs row={row} />
      <div class="cell task" role="gridcell">
        <a href={href} tabIndex={-1} title={row.task}>
          {row.task || <em>no task told</em>}
        </a>
        <small>{origin(row)}</small>
      </div>
      <Cells row={row} />
    </div>
  );
}

function origin(row: Row): string {
  const parts = [row.agent ?? 'unknown client', row.model, row.key, row.session];
  return parts.filter((part) => part !== null && part !== '').join(' · ');
}

function Needs({ row }: { row: Row }) {
  const { level, why } = attention(row, nowMs.value);
  return (
    <div class={`cell needs ${LEVELS[level]}`} role="gridcell" title={why}>
      {level > 0 && (
        <>
          <i aria-hidden="true">{level === 3 ? '!' : level === 2 ? '▲' : '○'}</i>
          <span class="hidden">{why}</span>
        </>
      )}
    </div>
  );
}

function Cells({ row }: { row: Row }) {
  const { last } = row;
  return (
    <>
      <div class="cell state" role="gridcell">
        <StateBadge state={row.state} />
      </div>
      <div class="cell turns num" role="gridcell">
        {row.turns}
      </div>
      <div class="cell score" role="gridcell">
        <Spark scores={row.scores} />
      </div>
      <div class="cell last" role="gridcell">
        {last === null ? (
          <span class="soft">{row.score === null ? 'none yet' : 'goes on'}</span>
        ) : (
          <>
            <ActionBadge action={last.action} shadow={last.shadow} isOver={last.is_over} />
            <small>{`${words(last.reason)} · turn ${last.turn}`}</small>
          </>
        )}
      </div>
      <div class="cell tokens num" role="gridcell">
        {row.tokens === null ? <span class="soft">–</span> : short(row.tokens)}
      </div>
      <div class="cell cost num" role="gridcell">
        {row.cost_nanodollars === null ? <span class="soft">–</span> : money(row.cost_nanodollars)}
      </div>
      <div class="cell age num" role="gridcell" title={`began ${moment(row.created_ms)}`}>
        {ago(nowMs.value - row.updated_ms)}
      </div>
    </>
  );
}
