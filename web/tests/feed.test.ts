import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Feed,
  MAX_WAITING,
  readEvent,
  waitBefore,
  type FeedEvent,
  type FeedSeams,
  type Line,
} from '../src/feed';

/** A network and a clock that do what a case says. */
class Stage {
  lines: Line[] = [];
  timers: { call: () => void; ms: number }[] = [];
  pictures: (() => void)[] = [];
  told: string[] = [];
  events: FeedEvent[][] = [];
  refused = false;

  seams: FeedSeams = {
    connect: () => {
      const line: Line = { onmessage: null, onclose: null, close: () => undefined };
      this.lines.push(line);
      return line;
    },
    isRefused: () => Promise.resolve(this.refused),
    soon: (call) => void this.pictures.push(call),
    later: (call, ms) => {
      const timer = { call, ms };
      this.timers.push(timer);
      return () => {
        this.timers = this.timers.filter((other) => other !== timer);
      };
    },
    random: () => 1,
  };

  feed = new Feed(this.seams, {
    events: (batch) => void this.events.push(batch),
    status: (status, ms) => void this.told.push(ms === null ? status : `${status} in ${ms}`),
    joined: (again) => void this.told.push(again ? 'again' : 'joined'),
  });

  say(value: unknown): void {
    this.lines.at(-1)?.onmessage?.({ data: JSON.stringify(value) });
  }

  async break(): Promise<void> {
    this.lines.at(-1)?.onclose?.({ code: 1006 });
    await new Promise((done) => setImmediate(done));
  }

  fire(): void {
    this.timers.shift()?.call();
  }

  draw(): void {
    for (const picture of this.pictures.splice(0)) picture();
  }
}

const HELLO = { type: 'hello', version: 1, session: null };
const entry = (seq: number): object => ({
  type: 'entry',
  session: 's',
  seq,
  at_ms: seq,
  kind: 'asked',
  entry: {},
});

test('messages are what they should be, or nothing', () => {
  const check = (text: unknown, expected: string | null): void =>
    assert.equal(readEvent(text)?.type ?? null, expected, String(text));
  check(JSON.stringify(HELLO), 'hello');
  check(JSON.stringify(entry(1)), 'entry');
  check('{"type":"missed","session":"s","entries":3}', 'missed');
  check('{"type":"session","session":"s","entries":3,"updated_ms":1}', 'session');
  check('{"type":"session","session":"s","entries":"3"}', null);
  check('{"type":"entry","session":"s","seq":"1"}', null);
  check('{"type":"of_later","session":"s"}', null);
  check('{"type":"entry"', null);
  check('null', null);
  check(new Uint8Array(3), null);
});

test('messages are handed on in one batch a picture', () => {
  const stage = new Stage();
  stage.feed.open();
  stage.say(HELLO);
  stage.say(entry(1));
  stage.say(entry(2));
  assert.equal(stage.events.length, 0);
  stage.draw();
  stage.say(entry(3));
  stage.draw();
  assert.deepEqual(
    stage.events.map((batch) => batch.length),
    [2, 1],
  );
});

test('more than may wait is handed on at once', () => {
  const stage = new Stage();
  stage.feed.open();
  stage.say(HELLO);
  for (let seq = 1; seq <= MAX_WAITING; seq += 1) stage.say(entry(seq));
  assert.equal(stage.events[0]?.length, MAX_WAITING);
});

test('a line that breaks comes back, waiting longer each time', async () => {
  const stage = new Stage();
  stage.feed.open();
  stage.say(HELLO);
  stage.say(entry(1));
  await stage.break();
  // What was told before the break is taken in before the next line begins after it.
  assert.equal(stage.events.length, 1);
  stage.fire();
  await stage.break();
  stage.fire();
  stage.say(HELLO);
  assert.deepEqual(stage.told, [
    'connecting',
    'live',
    'joined',
    'reconnecting in 250',
    'reconnecting',
    'reconnecting in 500',
    'reconnecting',
    'live',
    'again',
  ]);
});

test('a line that says nothing is given up', async () => {
  const stage = new Stage();
  stage.feed.open();
  stage.fire();
  await new Promise((done) => setImmediate(done));
  assert.equal(stage.told.at(-1), 'connecting in 250');
});

test('without a token there is no trying on', async () => {
  const stage = new Stage();
  stage.refused = true;
  stage.feed.open();
  await stage.break();
  assert.equal(stage.told.at(-1), 'refused');
  assert.equal(stage.timers.length, 0);
  stage.refused = false;
  stage.feed.open();
  assert.equal(stage.lines.length, 2);
});

test('a person need not wait', async () => {
  const stage = new Stage();
  stage.feed.open();
  stage.say(HELLO);
  await stage.break();
  stage.feed.retryNow();
  assert.equal(stage.lines.length, 2);
  stage.feed.retryNow();
  assert.equal(stage.lines.length, 2);
});

test('a closed feed tells nothing more', async () => {
  const stage = new Stage();
  stage.feed.open();
  stage.say(HELLO);
  const line = stage.lines[0];
  stage.feed.close();
  assert.equal(line?.onmessage, null);
  await stage.break();
  assert.equal(stage.told.at(-1), 'idle');
});

test('waits grow up to a bound', () => {
  const check = (attempt: number, random: number, expected: number): void =>
    assert.equal(waitBefore(attempt, random), expected);
  check(0, 1, 250);
  check(0, 0, 125);
  check(3, 1, 2_000);
  check(5, 1, 8_000);
  check(1_000, 1, 8_000);
});
