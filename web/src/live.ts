// What the page knows of the fleet and how its lines to the gateway are. The only module that
// joins the pure states with the network.

import { batch, computed, signal } from '@preact/signals';
import { ApiError, api, socketProtocols, socketUrl, type Query } from './client';
import { Feed, type FeedSeams, type FeedStatus, type FeedTells, type Line } from './feed';
import { emptyFleet, foldBatch, foldLines, type Row } from './state/fleet';
import { attention, choose, valuesOf } from './state/choice';
import { preferences } from './preferences';

/** Sessions of a page of the list, and how many are read at most when the page is opened. */
const PAGE = 500;
const MAX_LISTED = 10_000;
/** Sessions that are asked for one by one at a time, where the latest are not enough. */
const MAX_SINGLE = 20;
/** How often rows are sorted anew while things happen, and lists put right. Milliseconds. */
const SORT_EVERY_MS = 1_000;
const REFRESH_EVERY_MS = 1_000;
/** Entries this much older than the last one are asked for again after a break. Milliseconds. */
const MARGIN_MS = 5_000;
/** How often a gateway that cannot be asked for the list is asked again. Milliseconds. */
const RELIST_MS = 2_000;

export type Listing = 'loading' | 'ready' | 'failed' | 'locked';

const fleet = emptyFleet();
/** Counts up with every change of the fleet. */
export const version = signal(0);
/** Sessions that are known. */
export const size = signal(0);
/** Counts up when rows have to be put into order again. */
const order = signal(0);
export const listing = signal<Listing>('loading');
export const listingError = signal('');
export const feedStatus = signal<FeedStatus>('idle');
export const retryMs = signal<number | null>(null);
export const nowMs = signal(Date.now());
/** Whether the fleet has more sessions than were read. */
export const isCut = signal(false);

export const chosenRows = computed<string[]>(() => {
  void order.value;
  return choose(fleet.rows.values(), preferences.value.choice, Date.now()).map(
    (row) => row.session,
  );
});

export function rowOf(session: string): Row | undefined {
  return fleet.rows.get(session);
}

/** The values that filters offer. */
export const offered = computed(() => {
  void order.value;
  const of = (what: (row: Row) => string | null): string[] => valuesOf(fleet.rows.values(), what);
  return {
    state: of((row) => row.state),
    agent: of((row) => row.agent),
    model: of((row) => row.model),
  };
});

/** Sessions that want a person now. */
export const wanting = computed(() => {
  void order.value;
  let number = 0;
  for (const row of fleet.rows.values()) if (attention(row, Date.now()).level === 3) number += 1;
  return number;
});

let sortTimer: number | null = null;

function changed(): void {
  batch(() => {
    version.value += 1;
    size.value = fleet.rows.size;
  });
  if (sortTimer !== null) return;
  sortTimer = window.setTimeout(() => {
    sortTimer = null;
    order.value += 1;
  }, SORT_EVERY_MS);
}

/** Opens a WebSocket as a line. */
export function openLine(query: Query): Line {
  const protocols = socketProtocols();
  const socket = new WebSocket(socketUrl(query), protocols);
  const line: Line = { onmessage: null, onclose: null, close: () => socket.close() };
  socket.onmessage = (message: MessageEvent<unknown>) => line.onmessage?.({ data: message.data });
  socket.onclose = (closed) => line.onclose?.({ code: closed.code });
  return line;
}

async function isRefused(): Promise<boolean> {
  try {
    await api.sessions({ limit: 1 });
    return false;
  } catch (error) {
    return error instanceof ApiError && error.status === 401;
  }
}

/** A picture's time where the page is shown; hidden pages get none. */
function soon(call: () => void): void {
  if (document.hidden) window.setTimeout(call, 250);
  else requestAnimationFrame(call);
}

function later(call: () => void, ms: number): () => void {
  const timer = window.setTimeout(call, ms);
  return () => window.clearTimeout(timer);
}

/** Every feed that is open or will be: one that waits is tried again with the others. */
const feeds = new Set<Feed>();

export function endFeed(ended: Feed): void {
  ended.close();
  feeds.delete(ended);
}

export function makeFeed(query: () => Query, tells: FeedTells): Feed {
  const seams: FeedSeams = {
    connect: () => openLine(query()),
    isRefused,
    soon,
    later,
    random: Math.random,
  };
  const made = new Feed(seams, tells);
  feeds.add(made);
  return made;
}

const feed = makeFeed(
  () => ({ tell: 'sessions', since_ms: Math.max(0, fleet.lastMs - MARGIN_MS) }),
  {
    events(events) {
      foldBatch(fleet, events);
      changed();
    },
    status(status, wait) {
      batch(() => {
        feedStatus.value = status;
        retryMs.value = wait;
        if (status === 'refused') listing.value = 'locked';
      });
    },
    joined(again) {
      // More may have happened meanwhile than the feed tells of at once.
      isBehind = again;
    },
  },
);

/** Whether the list has to be read again. */
let isBehind = false;
let isRefreshing = false;

/** Puts right what was not told: one request for the latest sessions, then some one by one. */
async function refresh(): Promise<void> {
  const isNeeded = isBehind || fleet.stale.size > 0;
  if (!isNeeded || isRefreshing || listing.value !== 'ready') return;
  if (document.hidden || feedStatus.value !== 'live') return;
  isRefreshing = true;
  isBehind = false;
  try {
    const { sessions } = await api.sessions({ limit: PAGE });
    foldLines(fleet, sessions);
    for (const id of [...fleet.stale].slice(0, MAX_SINGLE)) {
      fleet.stale.delete(id);
      // One that was deleted meanwhile is no failure.
      const detail = await api.session(id).catch(() => null);
      if (detail !== null) foldLines(fleet, [detail]);
    }
    changed();
  } catch {
    isBehind = true;
  } finally {
    isRefreshing = false;
  }
}

/** Reads the list. The first page is shown as soon as it is there. */
async function readList(): Promise<void> {
  let cursor: string | null = null;
  let read = 0;
  do {
    const page: Awaited<ReturnType<typeof api.sessions>> = await api.sessions({
      limit: PAGE,
      cursor,
    });
    foldLines(fleet, page.sessions);
    read += page.sessions.length;
    cursor = page.next;
    batch(() => {
      listing.value = 'ready';
      version.value += 1;
      order.value += 1;
      size.value = fleet.rows.size;
    });
    feed.open();
  } while (cursor !== null && read < MAX_LISTED);
  isCut.value = cursor !== null;
}

export async function begin(): Promise<void> {
  listing.value = 'loading';
  try {
    await readList();
  } catch (error) {
    const locked = error instanceof ApiError && error.status === 401;
    batch(() => {
      listing.value = locked ? 'locked' : 'failed';
      listingError.value = error instanceof Error ? error.message : String(error);
    });
    if (!locked) window.setTimeout(() => void begin(), RELIST_MS);
  }
}

/** With a token, or another one, everything begins again. */
export function beginAgain(): void {
  feed.close();
  void begin();
}

export function retryNow(): void {
  for (const waiting of feeds) waiting.retryNow();
}

export function watchTime(): void {
  window.setInterval(() => {
    if (!document.hidden) nowMs.value = Date.now();
  }, 1_000);
  window.setInterval(() => void refresh(), REFRESH_EVERY_MS);
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    nowMs.value = Date.now();
    retryNow();
  });
  window.addEventListener('online', retryNow);
}
