// All sessions, live: what needs attention first.

import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { begin, chosenRows, isCut, listing, listingError, size } from '../live';
import { plural } from '../format';
import { hrefOf } from '../route';
import { NO_CHOICE } from '../state/choice';
import { prefer, preferences } from '../preferences';
import { Filters } from './filters';
import { COLUMNS, FleetRow } from './fleet-row';
import { Empty, Failed, Loading } from './marks';
import { rowAfterKey, scrollFor, slots, visible, type Window } from './virtual';

/** Heights of a row, as in the styles. Pixels. */
const ROW = 46;
const NARROW_ROW = 84;
const NARROW = '(max-width: 760px)';

/** Where the list was left, to come back to. */
const place = { top: 0, session: '' };
const isNarrow = signal(false);

export function watchWidth(): void {
  const query = window.matchMedia(NARROW);
  isNarrow.value = query.matches;
  query.addEventListener('change', () => (isNarrow.value = query.matches));
}

export function Fleet() {
  const number = size.value;
  if (listing.value === 'loading' && number === 0) return <Loading what="sessions" />;
  if (listing.value === 'failed' && number === 0) {
    return (
      <Failed what="No sessions to show" why={listingError.value} retry={() => void begin()} />
    );
  }
  if (number === 0) return <NoSessions />;
  const chosen = chosenRows.value;
  return (
    <section class="fleet" aria-labelledby="fleet-title">
      <div class="bar">
        <h1 id="fleet-title">Fleet</h1>
        <Filters />
        <p class="tally" role="status">
          {chosen.length === number
            ? plural(number, 'session')
            : `${chosen.length} of ${plural(number, 'session')}`}
          {isCut.value && ' (the latest)'}
        </p>
      </div>
      {chosen.length === 0 ? (
        <Empty title="Nothing matches">
          <button
            type="button"
            class="button"
            onClick={() =>
              prefer({ choice: { ...NO_CHOICE, sort: preferences.value.choice.sort } })
            }
          >
            Show all sessions
          </button>
        </Empty>
      ) : (
        <Grid sessions={chosen} />
      )}
    </section>
  );
}

function NoSessions() {
  return (
    <Empty title="No sessions yet">
      <p>Point an agent at this gateway, and it appears here with its first request.</p>
      <pre>ANTHROPIC_BASE_URL={location.origin} claude</pre>
      <pre>OPENAI_BASE_URL={location.origin}/v1 …</pre>
      <p>
        Or <a href={hrefOf({ view: 'replay' })}>look at a recorded run</a>.
      </p>
    </Empty>
  );
}

function Grid({ sessions }: { sessions: string[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(place.top);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(place.session);
  const rowHeight = isNarrow.value ? NARROW_ROW : ROW;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    element.scrollTop = place.top;
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    place.top = top;
    place.session = active;
  }, [top, active]);

  const at = Math.max(0, sessions.indexOf(active));
  const go = (row: number): void => {
    setActive(sessions[row] ?? '');
    const element = box.current;
    if (element !== null)
      element.scrollTop = scrollFor(element.scrollTop, height - 34, rowHeight, row);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = sessions[at];
    if (event.key === 'Enter' && id !== undefined) {
      event.preventDefault();
      location.hash = hrefOf({ view: 'session', id, tab: 'timeline', turn: null });
      return;
    }
    const to = rowAfterKey(event.key, at, sessions.length, Math.floor(height / rowHeight) - 1);
    if (to === null) return;
    event.preventDefault();
    go(to);
  };
  const seen = visible(top, height, rowHeight, sessions.length);
  return (
    <div
      class="grid"
      role="grid"
      ref={box}
      tabIndex={0}
      aria-label="Sessions"
      aria-rowcount={sessions.length + 1}
      aria-activedescendant={at >= seen.first && at < seen.end ? `row-${at}` : undefined}
      onKeyDown={onKey}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <Head />
      <div class="rows" role="rowgroup" style={{ height: `${sessions.length * rowHeight}px` }}>
        <Rows sessions={sessions} seen={seen} rowHeight={rowHeight} active={at} />
      </div>
    </div>
  );
}

interface RowsProps {
  sessions: readonly string[];
  seen: Window;
  rowHeight: number;
  /** The row that keys have led to. */
  active: number;
}

function Rows({ sessions, seen, rowHeight, active }: RowsProps) {
  const elements = useRef(0);
  const placed = slots(seen, elements.current);
  elements.current = placed.size;
  return (
    <>
      {placed.rows.map((row, slot) => {
        const session = row === null ? undefined : sessions[row];
        if (row === null || session === undefined) return null;
        const top = row * rowHeight;
        return (
          <FleetRow key={slot} session={session} at={row} top={top} isActive={row === active} />
        );
      })}
    </>
  );
}

function Head() {
  const { sort, reversed } = preferences.value.choice;
  return (
    <div class="head" role="rowgroup">
      <div class="row" role="row" aria-rowindex={1}>
        {COLUMNS.map((column) => {
          const key = column.sort;
          const isSorted = key !== null && key === sort;
          const order = reversed ? 'ascending' : 'descending';
          return (
            <div
              key={column.name}
              class={`cell ${column.class}`}
              role="columnheader"
              {...(isSorted ? { 'aria-sort': order } : {})}
            >
              {key === null ? (
                column.name
              ) : (
                <button
                  type="button"
                  tabIndex={-1}
                  onClick={() =>
                    prefer({
                      choice: {
                        ...preferences.value.choice,
                        sort: key,
                        reversed: isSorted && !reversed,
                      },
                    })
                  }
                >
                  {column.name}
                </button>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
