import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendEntries } from '../src/state/entries';
import {
  askAfter,
  callTone,
  chartData,
  goodness,
  mergeTimeline,
  ranges,
  thresholdEffect,
  withMark,
} from '../src/state/timeline';
import type { Decided, Timeline, Turn } from '../src/client';
import { timeline, turn } from './rows';

const numbers = (of: { turns: readonly Turn[] }): number[] => of.turns.map((it) => it.number);

test('a part is laid over what is known', () => {
  const check = (known: number[], fresh: number[], expected: number[]): void => {
    const merged = mergeTimeline(timeline(known), timeline(fresh, { seq: 11 }));
    assert.deepEqual(numbers(merged), expected);
  };
  check([1, 2], [2, 3], [1, 2, 3]);
  check([1, 2], [], [1, 2]);
  check([], [1], [1]);
  check([1, 2, 3], [1], [1]);
});

test('a turn that is told again is told anew', () => {
  const fresh = timeline([2], { seq: 12 });
  fresh.turns[0] = turn(2, { text: 'more' });
  const merged = mergeTimeline(timeline([1, 2]), fresh);
  assert.equal(merged.turns[1]?.text, 'more');
  assert.equal(merged.seq, 12);
});

test('what an attempt changed is told once', () => {
  const attempt = (number: number, diff: string | null): Timeline['whole']['attempts'][number] => ({
    number,
    seq: null,
    turns: 3,
    reason: 'stuck',
    tried: '',
    next: '',
    failed: null,
    passed: null,
    files: [],
    insertions: 1,
    deletions: 0,
    kept: '',
    diff,
  });
  const known = timeline([1, 2]);
  known.whole.attempts = [attempt(1, '+one'), attempt(2, null)];
  const fresh = timeline([3], { seq: 12 });
  fresh.whole.attempts = [attempt(1, null), attempt(2, '+two'), attempt(3, null)];
  const merged = mergeTimeline(known, fresh).whole.attempts.map((it) => it.diff);
  assert.deepEqual(merged, ['+one', '+two', null]);
});

test('what is older, or of another session, changes nothing or all', () => {
  const known = timeline([1, 2], { seq: 20 });
  assert.equal(mergeTimeline(known, timeline([1], { seq: 5 })), known);
  const other = timeline([1], { session: 'gw-2', seq: 5 });
  assert.equal(mergeTimeline(known, other), other);
  assert.equal(mergeTimeline(null, other), other);
});

test('the last turn is asked for again', () => {
  const check = (of: number[] | null, expected: number): void =>
    assert.equal(askAfter(of === null ? null : timeline(of)), expected);
  check(null, 0);
  check([], 0);
  check([1], 0);
  check([1, 2, 3], 2);
});

test('calls have the colour of their outcome', () => {
  const check = (
    outcome: 'ok' | 'error' | 'empty' | null,
    novel: boolean,
    expected: string,
  ): void => assert.equal(callTone({ outcome, novel } as Turn['calls'][number]), expected);
  check('ok', true, 'new');
  check('ok', false, 'again');
  check('error', true, 'error');
  check('empty', false, 'empty');
  check(null, false, 'open');
});

const SIGNALS = {
  progress_velocity: 0.5,
  novelty: 1,
  stuck_loop: 1,
  token_budget: 1,
  budget_left: 1,
  intervention_ratio: 1,
  complexity: 0.5,
  test_trend: 1,
  error_rate: 0.25,
};

test('charts hold the last values where a turn has none', () => {
  const turns = [turn(1), turn(2, { score: 0.8, signals: SIGNALS }), turn(3)];
  const data = chartData(turns);
  assert.deepEqual(data.turns, [1, 2, 3]);
  assert.deepEqual(data.scores, [null, 0.8, 0.8]);
  assert.deepEqual(data.signals[0], [null, 0.5, 0.5]);
  // One is best in every band.
  assert.equal(goodness(turn(1, { signals: SIGNALS }), 'error_rate'), 0.75);
});

test('a preset shows what it changes, the changes first', () => {
  const values = (stuck: number): { name: string; about: string; value: number | null }[] => [
    { name: 'same', about: '', value: 1 },
    { name: 'stuck', about: '', value: stuck },
  ];
  const told = timeline([]);
  told.whole.thresholds = [
    { preset: 'default', holds: true, values: values(3) },
    { preset: 'lenient', holds: false, values: values(4) },
  ];
  assert.deepEqual(
    thresholdEffect(told, 'lenient').map((it) => [it.name, it.now, it.then]),
    [
      ['stuck', 3, 4],
      ['same', 1, 1],
    ],
  );
  assert.deepEqual(thresholdEffect(timeline([]), 'lenient'), []);
});

test('a mark is shown where it was made and nowhere else', () => {
  const decided = { seq: 7, mark: 'none', mark_note: null } as Decided;
  const told = timeline([1, 2]);
  told.turns[1] = turn(2, { decisions: [decided, { ...decided, seq: 8 }] });
  const marked = withMark(told, 7, 'harmful', 'too early');
  assert.equal(marked.turns[0], told.turns[0]);
  const marks = marked.turns[1]?.decisions.map((it) => [it.mark, it.mark_note]);
  assert.deepEqual(marks, [
    ['harmful', 'too early'],
    ['none', null],
  ]);
});

test('turns are told as ranges', () => {
  const check = (turns: number[], expected: string): void => assert.equal(ranges(turns), expected);
  check([], '');
  check([3], '3');
  check([3, 4, 5, 9], '3–5, 9');
  check([1, 3, 5], '1, 3, 5');
});

test('entries come once and in order', () => {
  const entry = (seq: number) =>
    ({ type: 'entry', session: 's', seq, at_ms: 1, kind: 'asked', entry: {} }) as const;
  const seqs = (known: number[], fresh: number[]): number[] =>
    appendEntries(known.map(entry), fresh.map(entry)).map((it) => it.seq);
  assert.deepEqual(seqs([1, 2], [2, 3]), [1, 2, 3]);
  assert.deepEqual(seqs([], [5]), [5]);
});
