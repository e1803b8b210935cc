// Follows what happens over WebSocket: comes back by itself where it was, tells how the line is,
// and hands messages on in batches, so that thousands a second cost one rendering a frame.

import type { SessionLine } from './client';

export interface EntryEvent {
  type: 'entry';
  session: string;
  seq: number;
  at_ms: number;
  kind: string;
  entry: unknown;
}

export interface MissedEvent {
  type: 'missed';
  session: string;
  entries: number;
}

/** How a session stands now. */
export interface SessionEvent {
  type: 'session';
  session: string;
  line: SessionLine;
}

export type FeedEvent = EntryEvent | MissedEvent | SessionEvent;

/** How the line is. `refused`: the gateway wants a token, or another one. */
export type FeedStatus = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'refused';

/** What of a WebSocket is used. */
export interface Line {
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((closed: { code: number }) => void) | null;
  close(): void;
}

/** Everything that is not pure, so that tests bring their own. */
export interface FeedSeams {
  /** Opens a line that begins where the page stands. */
  connect(): Line;
  /** Whether a refused connection is for want of a token. */
  isRefused(): Promise<boolean>;
  /** Calls back before the next picture, or soon where nothing is shown. */
  soon(call: () => void): void;
  later(call: () => void, ms: number): () => void;
  random(): number;
}

export interface FeedTells {
  /** What happened, in order. */
  events(batch: FeedEvent[]): void;
  status(status: FeedStatus, retryMs: number | null): void;
  /** The line is there again, or for the first time. */
  joined(again: boolean): void;
}

/** First and longest wait before the next try. Milliseconds. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
/** A line that says no hello for that long is given up. Milliseconds. */
const HELLO_TIMEOUT_MS = 10_000;
/** Messages that wait for a picture; with more they are handed on at once. */
export const MAX_WAITING = 20_000;

export function waitBefore(attempt: number, random: number): number {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));
  return Math.round(most * (0.5 + random / 2));
}

/** A message, or null for one that is none of those this page knows. */
export function readEvent(data: unknown): FeedEvent | { type: 'hello' } | null {
  if (typeof data !== 'string') return null;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { type, session, seq, at_ms, kind, entries } = value as Partial<EntryEvent & MissedEvent>;
  if ((type as string) === 'hello') return { type: 'hello' };
  if (typeof session !== 'string') return null;
  if ((type as string) === 'session') return readLine(value, session);
  if (type === 'missed' && typeof entries === 'number') return { type, session, entries };
  const isEntry = typeof seq === 'number' && typeof at_ms === 'number' && typeof kind === 'string';
  if (type !== 'entry' || !isEntry) return null;
  return { type, session, seq, at_ms, kind, entry: (value as EntryEvent).entry };
}

/** A line without what rows are ordered by would break the list, so it is none. */
function readLine(value: object, session: string): SessionEvent | null {
  const line = value as SessionLine;
  const isLine = typeof line.entries === 'number' && typeof line.updated_ms === 'number';
  return isLine ? { type: 'session', session, line } : null;
}

export class Feed {
  readonly #seams: FeedSeams;
  readonly #tells: FeedTells;
  #line: Line | null = null;
  #waiting: FeedEvent[] = [];
  #isScheduled = false;
  #attempt = 0;
  #wasLive = false;
  #cancel: (() => void) | null = null;
  #isOpen = false;

  constructor(seams: FeedSeams, tells: FeedTells) {
    this.#seams = seams;
    this.#tells = tells;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#connect();
  }

  close(): void {
    this.#isOpen = false;
    this.#hangUp();
    this.#flush();
    this.#tells.status('idle', null);
  }

  /** Tries at once instead of waiting on: the machine woke up, or a person asks. */
  retryNow(): void {
    if (!this.#isOpen || this.#line !== null) return;
    this.#cancel?.();
    this.#attempt = 0;
    this.#connect();
  }

  #hangUp(): void {
    this.#cancel?.();
    this.#cancel = null;
    const line = this.#line;
    this.#line = null;
    if (line === null) return;
    line.onmessage = null;
    line.onclose = null;
    line.close();
  }

  #connect(): void {
    this.#tells.status(this.#wasLive ? 'reconnecting' : 'connecting', null);
    // What waits counts for where the line begins.
    this.#flush();
    const line = this.#seams.connect();
    this.#line = line;
    line.onmessage = ({ data }) => this.#hear(data);
    line.onclose = () => void this.#lost();
    this.#cancel = this.#seams.later(() => {
      this.#hangUp();
      void this.#lost();
    }, HELLO_TIMEOUT_MS);
  }

  #hear(data: unknown): void {
    const event = readEvent(data);
    if (event === null) return;
    if (event.type === 'hello') {
      this.#cancel?.();
      this.#cancel = null;
      this.#attempt = 0;
      const again = this.#wasLive;
      this.#wasLive = true;
      this.#tells.status('live', null);
      this.#tells.joined(again);
      return;
    }
    this.#waiting.push(event);
    if (this.#waiting.length >= MAX_WAITING) this.#flush();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#seams.soon(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#tells.events(batch);
  }

  async #lost(): Promise<void> {
    const heardHello = this.#cancel === null;
    this.#hangUp();
    this.#flush();
    if (!this.#isOpen) return;
    const refused = !heardHello && (await this.#seams.isRefused());
    if (!this.#isOpen || this.#line !== null) return;
    if (refused) {
      this.#isOpen = false;
      this.#tells.status('refused', null);
      return;
    }
    const wait = waitBefore(this.#attempt, this.#seams.random());
    this.#attempt += 1;
    this.#tells.status(this.#wasLive ? 'reconnecting' : 'connecting', wait);
    this.#cancel = this.#seams.later(() => this.#connect(), wait);
  }
}
