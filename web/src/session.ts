// One session that is looked at: read turn by turn, followed while it goes on, steered.

import { batch, signal, type Signal } from '@preact/signals';
import { ApiError, api, type Control, type Decided, type Timeline } from './client';
import type { EntryEvent, Feed, FeedStatus } from './feed';
import { endFeed, makeFeed } from './live';
import { preferences } from './preferences';
import { appendEntries } from './state/entries';
import { askAfter, mergeTimeline, withMark } from './state/timeline';

/** Entries that are told of what was before the page was opened. */
const PAST_ENTRIES = 400;
/** How long to wait for more before the turns are read again. Milliseconds. */
const GATHER_MS = 120;
/** How long to wait where the gateway cannot be reached. Milliseconds. */
const RETRY_MS = 1_000;
/** Pages of turns that are read at once at most. */
const MAX_PAGES = 20;

export type Reading = 'loading' | 'ready' | 'failed' | 'unknown';

export interface OpenSession {
  readonly id: string;
  readonly timeline: Signal<Timeline | null>;
  readonly reading: Signal<Reading>;
  readonly error: Signal<string>;
  readonly status: Signal<FeedStatus>;
  /** The latest entries of its journal. */
  readonly entries: Signal<readonly EntryEvent[]>;
  /** Entries that were told, repeated ones not counted. */
  readonly told: Signal<number>;
  steer(control: Control): Promise<void>;
  mark(seq: number, mark: Decided['mark'], note: string | null): Promise<void>;
  reload(): void;
  close(): void;
}

/** Opens a session; its journal is told after an entry, or its latest ones. */
export function openSession(id: string, after: number | null): OpenSession {
  return new Opened(id, after);
}

class Opened implements OpenSession {
  readonly id: string;
  readonly timeline = signal<Timeline | null>(null);
  readonly reading = signal<Reading>('loading');
  readonly error = signal('');
  readonly status = signal<FeedStatus>('idle');
  readonly entries = signal<readonly EntryEvent[]>([]);
  readonly told = signal(0);
  readonly #feed: Feed;
  /** The last entry that was told; null before it is known where to begin. */
  #seq: number | null;
  #timer: number | null = null;
  #isReading = false;
  #isAgain = false;
  #isClosed = false;
  /** Something changed in a turn that was told long ago: all are read again. */
  #isWhole = false;

  constructor(id: string, after: number | null) {
    this.id = id;
    this.#seq = after;
    this.#feed = makeFeed(() => ({ session: id, after: this.#seq ?? 0 }), {
      events: (events) => {
        this.#take(events.filter((event) => event.type === 'entry'));
      },
      status: (status) => {
        this.status.value = status;
      },
      joined: (again) => {
        if (again) this.#gather();
      },
    });
    void this.#read();
  }

  #take(events: readonly EntryEvent[]): void {
    const seq = this.#seq ?? 0;
    const fresh = events.filter((event) => event.seq > seq);
    const last = fresh.at(-1);
    if (last === undefined) return;
    this.#seq = last.seq;
    batch(() => {
      this.entries.value = appendEntries(this.entries.value, fresh);
      this.told.value += fresh.length;
    });
    if (last.seq <= (this.timeline.value?.seq ?? 0)) return;
    this.#isWhole ||= fresh.some((event) => event.kind === 'marked');
    this.#gather();
  }

  /** Many entries come together; the turns are read once for them. */
  #gather(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, GATHER_MS);
  }

  async #read(): Promise<void> {
    if (this.#isReading) {
      this.#isAgain = true;
      return;
    }
    this.#isReading = true;
    try {
      let after: number | null = this.#isWhole ? 0 : askAfter(this.timeline.value);
      this.#isWhole = false;
      for (let page = 0; page < MAX_PAGES && after !== null && !this.#isClosed; page += 1) {
        const fresh: Timeline = await api.timeline(this.id, after);
        this.timeline.value = mergeTimeline(this.timeline.value, fresh);
        this.reading.value = 'ready';
        after = fresh.next;
      }
      this.#follow();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isReading = false;
      if (this.#isAgain) {
        this.#isAgain = false;
        this.#gather();
      }
    }
  }

  #follow(): void {
    if (this.#isClosed) return;
    this.#seq ??= Math.max(0, (this.timeline.value?.seq ?? 0) - PAST_ENTRIES);
    this.#feed.open();
  }

  #fail(error: unknown): void {
    this.error.value = error instanceof Error ? error.message : String(error);
    const isUnknown = error instanceof ApiError && error.status === 404;
    if (isUnknown) this.timeline.value = null;
    if (this.timeline.value !== null) {
      // What is shown stays; the feed says that the gateway is gone, and it is read again after.
      if (error instanceof ApiError && error.status === 0) this.#retry();
      return;
    }
    this.reading.value = isUnknown ? 'unknown' : 'failed';
    if (error instanceof ApiError && error.status === 0) this.#retry();
  }

  #retry(): void {
    if (!this.#isClosed) window.setTimeout(() => this.#gather(), RETRY_MS);
  }

  async steer(control: Control): Promise<void> {
    try {
      await api.control(this.id, control, preferences.value.who);
    } finally {
      // Also where it was refused: then the session is not what it was taken for.
      this.#gather();
    }
  }

  async mark(seq: number, mark: Decided['mark'], note: string | null): Promise<void> {
    await api.mark(this.id, { seq, mark, note }, preferences.value.who);
    const known = this.timeline.value;
    if (known !== null) this.timeline.value = withMark(known, seq, mark, note);
    this.#gather();
  }

  reload(): void {
    this.reading.value = this.timeline.value === null ? 'loading' : this.reading.value;
    void this.#read();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) window.clearTimeout(this.#timer);
    endFeed(this.#feed);
  }
}
