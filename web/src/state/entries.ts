// The latest entries of a journal. Pure.

import type { EntryEvent } from '../feed';

/** Entries of the journal that are kept for its tab, the latest. */
export const MAX_ENTRIES = 1_000;

/** Entries in order without repeats, the latest of them. */
export function appendEntries(
  known: readonly EntryEvent[],
  fresh: readonly EntryEvent[],
): EntryEvent[] {
  const last = known.at(-1)?.seq ?? 0;
  const added = fresh.filter((entry) => entry.seq > last);
  return [...known, ...added].slice(-MAX_ENTRIES);
}
