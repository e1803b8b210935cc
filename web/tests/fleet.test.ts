import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedEvent } from '../src/feed';
import { NO_CHOICE, attention, choose, valuesOf, type Choice } from '../src/state/choice';
import { MAX_ROWS, emptyFleet, foldBatch, foldLines, type Row } from '../src/state/fleet';
import { row } from './rows';

const told = (part: Partial<Row>): FeedEvent => {
  const line = row(part);
  return { type: 'session', session: line.session, line };
};
const entry = (session: string, seq: number): FeedEvent => ({
  type: 'entry',
  session,
  seq,
  at_ms: 9_000,
  kind: 'asked',
  entry: {},
});

test('a batch leaves the rows as the sessions say they are', () => {
  const check = (events: FeedEvent[], expected: Record<string, number>, stale: string[]): void => {
    const fleet = emptyFleet();
    foldLines(fleet, [row({ session: 'gw-1', entries: 4 })]);
    foldBatch(fleet, events);
    const entries = Object.fromEntries([...fleet.rows].map(([id, it]) => [id, it.entries]));
    assert.deepEqual([entries, [...fleet.stale]], [expected, stale]);
  };
  check([], { 'gw-1': 4 }, []);
  check([told({ entries: 5 })], { 'gw-1': 5 }, []);
  // What is older than what is known changes nothing; what is new to the page is added.
  check([told({ entries: 3 })], { 'gw-1': 4 }, []);
  check([told({ session: 'gw-2', entries: 1 })], { 'gw-1': 4, 'gw-2': 1 }, []);
  // Single entries do not say how a session stands: it is asked for, unless they are known.
  check([entry('gw-1', 5)], { 'gw-1': 4 }, ['gw-1']);
  check([entry('gw-1', 4)], { 'gw-1': 4 }, []);
  check([entry('gw-1', 5), told({ entries: 5 })], { 'gw-1': 5 }, []);
  check([{ type: 'missed', session: 'gw-3', entries: 9 }], { 'gw-1': 4 }, ['gw-3']);
});

test('the feed goes on from the latest time that was told', () => {
  const fleet = emptyFleet();
  foldBatch(fleet, [told({ updated_ms: 7_000 }), told({ session: 'gw-2', updated_ms: 5_000 })]);
  assert.equal(fleet.lastMs, 7_000);
});

test('the sessions that were quiet for longest are forgotten', () => {
  const fleet = emptyFleet();
  const lines = Array.from({ length: MAX_ROWS + 1 }, (_, at) =>
    row({ session: `gw-${at}`, updated_ms: at }),
  );
  foldLines(fleet, lines);
  assert.ok(fleet.rows.size <= MAX_ROWS);
  assert.equal(fleet.rows.has('gw-0'), false);
  assert.equal(fleet.rows.has(`gw-${MAX_ROWS}`), true);
});

test('attention is told in levels, and history calls nobody', () => {
  const now = 200_000_000;
  const check = (word: string | null, updated_ms: number, expected: number): void =>
    assert.equal(attention(row({ attention: word, updated_ms }), now).level, expected, `${word}`);
  check(null, now, 0);
  check('waiting', now, 3);
  check('paused', now, 3);
  check('capped', now, 2);
  check('warned', now, 1);
  check('of_later', now, 1);
  check('waiting', now - 25 * 3_600_000, 0);
});

test('rows are chosen and put into order', () => {
  const rows = [
    row({
      session: 'a',
      task: 'Fix the parser',
      turns: 3,
      tokens: null,
      score: 0.9,
      updated_ms: 5,
    }),
    row({
      session: 'b',
      task: 'Port it',
      agent: 'claude-code',
      turns: 9,
      score: 0.2,
      updated_ms: 4,
    }),
    row({ session: 'c', state: 'capped', attention: 'capped', score: null, updated_ms: 3 }),
    row({ session: 'd', state: 'paused', attention: 'paused', model: 'm-2', updated_ms: 2 }),
  ];
  const check = (choice: Partial<Choice>, expected: string): void => {
    const chosen = choose(rows, { ...NO_CHOICE, ...choice }, 10);
    assert.equal(chosen.map((it) => it.session).join(''), expected, JSON.stringify(choice));
  };
  check({}, 'dcab');
  check({ sort: 'updated' }, 'abcd');
  check({ sort: 'updated', reversed: true }, 'dcba');
  check({ sort: 'turns' }, 'bacd');
  check({ sort: 'score' }, 'bdac');
  check({ sort: 'tokens' }, 'bcda');
  check({ text: ' PARSER ' }, 'a');
  check({ text: 'claude' }, 'b');
  check({ state: 'paused' }, 'd');
  check({ agent: 'codex', model: 'm-1', sort: 'updated' }, 'ac');
  check({ text: 'nobody' }, '');
});

test('filters offer what there is', () => {
  const rows = [
    row({ model: 'b' }),
    row({ model: 'a' }),
    row({ model: null }),
    row({ model: 'b' }),
  ];
  assert.deepEqual(
    valuesOf(rows, (it) => it.model),
    ['a', 'b'],
  );
});
