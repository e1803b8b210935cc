// Which rows of a long list have to be there. Pure.

/** Rows above and below what is seen, so that fast scrolling shows no gaps. */
const OVERSCAN = 6;

export interface Window {
  first: number;
  /** One behind the last. */
  end: number;
}

export function visible(top: number, height: number, rowHeight: number, rows: number): Window {
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  // An even beginning keeps stripes and recycled rows where they are.
  return { first: Math.min(first - (first % 2), Math.max(0, end - 1)), end };
}

/** Which row each of the elements shows. An element keeps its row while that is seen, and takes
 * another one after: so scrolling changes texts and makes no elements. */
export function slots(seen: Window, previous: number): { size: number; rows: (number | null)[] } {
  const wanted = seen.end - seen.first;
  // With another number of elements every row would move, so it only grows, in steps.
  const size = Math.max(previous, Math.ceil(wanted / 8) * 8);
  const rows: (number | null)[] = Array.from({ length: size }, () => null);
  for (let row = seen.first; row < seen.end; row += 1) rows[row % size] = row;
  return { size, rows };
}

/** Where to scroll so that a row is seen whole; the same place if it is. */
export function scrollFor(top: number, height: number, rowHeight: number, row: number): number {
  const begins = row * rowHeight;
  if (begins < top) return begins;
  if (begins + rowHeight > top + height) return begins + rowHeight - height;
  return top;
}

/** The row a key leads to; null for keys that lead nowhere. */
export function rowAfterKey(key: string, row: number, rows: number, page: number): number | null {
  const last = rows - 1;
  if (last < 0) return null;
  const clamp = (to: number): number => Math.min(last, Math.max(0, to));
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return clamp(row + 1);
    case 'ArrowUp':
    case 'k':
      return clamp(row - 1);
    case 'PageDown':
      return clamp(row + page);
    case 'PageUp':
      return clamp(row - page);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
