import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64Url, withQuery } from '../src/client';
import { money, short, span, words } from '../src/format';
import { readPreferences } from '../src/preferences';
import { hrefOf, readRoute } from '../src/route';
import { csv, csvCell, type Cell } from '../src/state/export';
import { rowAfterKey, scrollFor, slots, visible } from '../src/view/virtual';

test('numbers are written short', () => {
  const check = (value: number, expected: string): void => assert.equal(short(value), expected);
  check(0, '0');
  check(999, '999');
  check(1_234, '1.2k');
  check(34_567, '35k');
  check(999_499, '999k');
  check(999_500, '1.0M');
  check(5_600_000, '5.6M');
  check(2e9, '2.0G');
});

test('money is written with the digits it needs', () => {
  const check = (nano: number, expected: string): void => assert.equal(money(nano), expected);
  check(0, '$0');
  check(123_000, '$0.0001');
  check(1_234_000_000, '$1.23');
  check(1.5e12, '$1.5k');
});

test('times are written with one unit', () => {
  const check = (ms: number, expected: string): void => assert.equal(span(ms), expected);
  check(-5, '0s');
  check(250, '0.3s');
  check(4_999, '4s');
  check(60_000, '1m');
  check(3 * 3_600_000, '3h');
  check(50 * 3_600_000, '2d');
});

test('names are read as words', () => {
  assert.equal(words('nudge_synthesis'), 'nudge synthesis');
  assert.equal(words('re_evaluate'), 're-evaluate');
});

test('addresses lead to views and back', () => {
  const check = (hash: string, expected: object): void =>
    assert.deepEqual(readRoute(hash), expected, hash);
  const session = { view: 'session', id: 'gw-1', tab: 'timeline', turn: null };
  check('', { view: 'fleet' });
  check('#/', { view: 'fleet' });
  check('#/nowhere', { view: 'fleet' });
  check('#/analytics', { view: 'analytics' });
  check('#/replay', { view: 'replay' });
  check('#/s/', { view: 'fleet' });
  check('#/s/gw-1', session);
  check('#/s/gw-1/nothing', session);
  check('#/s/gw-1/files', { ...session, tab: 'files' });
  check('#/s/gw-1?turn=12', { ...session, turn: 12 });
  check('#/s/gw-1?turn=x', session);
  check('#/s/gw-1/journal?after=0', { ...session, tab: 'journal', after: 0 });
  check('#/s/%E0%A4%A', { ...session, id: '%E0%A4%A' });
  for (const hash of ['#/', '#/analytics', '#/s/a%2Fb', '#/s/gw-1/tests?turn=3']) {
    assert.equal(hrefOf(readRoute(hash)), hash);
  }
});

test('what was kept is read, and what is odd is left out', () => {
  const usual = readPreferences(null);
  assert.equal(usual.theme, 'system');
  assert.deepEqual(readPreferences('nonsense'), usual);
  assert.deepEqual(readPreferences({ theme: 1, choice: [], hidden: 'x', hours: 5 }), usual);
  const kept = { theme: 'dark', who: 'anna', choice: { sort: 'cost', reversed: true }, hours: 168 };
  const read = readPreferences(kept);
  assert.deepEqual(
    [read.theme, read.who, read.choice.sort, read.choice.reversed, read.hours],
    ['dark', 'anna', 'cost', true, 168],
  );
});

test('requests are asked with what is known', () => {
  assert.equal(withQuery('/a', { b: 0, c: null, d: '', e: 'x y' }), '/a?b=0&e=x+y');
  assert.equal(withQuery('/a'), '/a');
  assert.equal(base64Url('a?>ü'), 'YT8-w7w');
});

test('cells of CSV stay one cell, and no cell is a formula', () => {
  const check = (cell: Cell, expected: string): void => assert.equal(csvCell(cell), expected);
  check('plain', 'plain');
  check('a,b', '"a,b"');
  check('say "no"', '"say ""no"""');
  check('two\nlines', '"two\nlines"');
  check('=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"');
  check('@cmd', "'@cmd");
  check(-3, '-3');
  check(true, 'true');
  check(null, '');
  assert.equal(csv(['a', 'b'], [[1, null]]), 'a,b\r\n1,\r\n');
});

test('only rows that are seen are there', () => {
  const check = (top: number, rows: number, first: number, end: number): void =>
    assert.deepEqual(visible(top, 400, 40, rows), { first, end });
  check(0, 5_000, 0, 16);
  check(4_000, 5_000, 94, 116);
  check(199_600, 5_000, 4_984, 5_000);
  check(0, 3, 0, 3);
  check(0, 0, 0, 0);
});

test('elements keep their rows while these are seen', () => {
  const before = slots({ first: 0, end: 14 }, 0);
  assert.equal(before.size, 16);
  const after = slots({ first: 4, end: 18 }, before.size);
  const kept = before.rows.filter((row, at) => row !== null && after.rows[at] === row);
  assert.deepEqual(kept, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  assert.deepEqual(
    [...after.rows].filter((row) => row !== null).sort((a, b) => a - b),
    [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
  );
});

test('keys lead through the list', () => {
  const check = (key: string, at: number, expected: number | null): void =>
    assert.equal(rowAfterKey(key, at, 100, 10), expected, key);
  check('ArrowDown', 0, 1);
  check('k', 0, 0);
  check('PageDown', 95, 99);
  check('End', 3, 99);
  check('Home', 3, 0);
  check('x', 3, null);
  assert.equal(rowAfterKey('End', 0, 0, 10), null);
  assert.equal(scrollFor(0, 400, 40, 20), 440);
  assert.equal(scrollFor(500, 400, 40, 2), 80);
  assert.equal(scrollFor(0, 400, 40, 3), 0);
});
