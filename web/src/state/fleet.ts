// The rows of the fleet, as a fold of what the API lists and what the feed tells. Pure.

import type { SessionLine } from '../client';
import type { FeedEvent } from '../feed';

/** Sessions that are kept; beyond them the ones that were quiet for longest are forgotten. */
export const MAX_ROWS = 20_000;

export type Row = SessionLine;

export interface Fleet {
  rows: Map<string, Row>;
  /** The time of the latest change: where the feed goes on after a break. */
  lastMs: number;
  /** Sessions that have changed in a way that was not told: they have to be asked for. */
  stale: Set<string>;
}

export function emptyFleet(): Fleet {
  return { rows: new Map(), lastMs: 0, stale: new Set() };
}

/** Takes in a session as it says it is, unless more is known of it already. */
export function foldLine(fleet: Fleet, line: Row): void {
  const known = fleet.rows.get(line.session);
  fleet.lastMs = Math.max(fleet.lastMs, line.updated_ms);
  if (known !== undefined && known.entries > line.entries) return;
  fleet.stale.delete(line.session);
  fleet.rows.set(line.session, line);
}

/** Takes in a batch of the feed. The fleet is changed in place; rows are not. */
export function foldBatch(fleet: Fleet, batch: readonly FeedEvent[]): void {
  for (const event of batch) {
    if (event.type === 'session') {
      foldLine(fleet, event.line);
      continue;
    }
    if (event.type === 'entry') {
      fleet.lastMs = Math.max(fleet.lastMs, event.at_ms);
      if ((fleet.rows.get(event.session)?.entries ?? 0) >= event.seq) continue;
    }
    fleet.stale.add(event.session);
  }
  forgetQuiet(fleet);
}

/** Takes in a page of the list. */
export function foldLines(fleet: Fleet, lines: readonly Row[]): void {
  for (const line of lines) foldLine(fleet, line);
  forgetQuiet(fleet);
}

/** A tenth goes at once, so that not every new session costs a sort. */
function forgetQuiet(fleet: Fleet): void {
  if (fleet.rows.size <= MAX_ROWS) return;
  const rows = [...fleet.rows.values()].sort((a, b) => a.updated_ms - b.updated_ms);
  const over = fleet.rows.size - MAX_ROWS + MAX_ROWS / 10;
  for (const row of rows.slice(0, over)) fleet.rows.delete(row.session);
}
