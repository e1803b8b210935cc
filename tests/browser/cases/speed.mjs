// How fast it is; with `speed` on the command line, held to the numbers that are promised.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Agent, call } from '../agent.mjs';
import { test } from '../check.mjs';
import { Gateway } from '../gateway.mjs';

const SESSIONS = 5_000;
const MIN_FRAMES = 50;
/** How far a picture is from the one before: 12,000 pixels a second, faster than any wheel. */
const STEP = 200;
const MAX_PAGE_BYTES = 200 * 1024;
const MAX_PAINT_MS = 1_000;
const MIN_EVENTS = 2_000;
const ENTRIES = 20_000;

test('speed: the page weighs at most 200 KB compressed and is painted within a second', async ({
  open,
  gateway,
  isTimed,
}) => {
  const page = await open();
  await page.until(() => document.querySelector('.grid, .blank') !== null);
  const names = await page.run(() => [
    location.pathname,
    ...performance.getEntriesByType('resource').map((it) => new URL(it.name).pathname),
  ]);
  let bytes = 0;
  for (const name of names.filter((it) => it.startsWith('/dashboard/'))) {
    const body = Buffer.from(await (await fetch(`${gateway.url}${name}`)).arrayBuffer());
    bytes += gzipSync(body, { level: 6 }).length;
  }
  const paint = await page.run(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity,
  );
  console.log(`        ${bytes} bytes compressed, first paint after ${Math.round(paint)} ms`);
  assert.ok(bytes <= MAX_PAGE_BYTES, `${bytes} bytes`);
  if (isTimed) assert.ok(paint < MAX_PAINT_MS, `${paint} ms`);
});

/** Sessions of one turn each, some at a time. */
async function crowd(gateway, number) {
  let next = 0;
  const one = async () => {
    while (next < number) {
      const at = next++;
      const agent = new Agent(gateway, `crowd-${at}`, `Task ${at} of a crowd`, {
        model: `m-${at % 7}`,
      });
      await agent.turn({ text: 'I look.', calls: [call('read', 'a.py', 'x')] });
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

test('speed: 5,000 sessions scroll at 50 frames a second', async ({
  binary,
  chromium,
  model,
  isTimed,
}) => {
  const gateway = await new Gateway(binary, model.url).start();
  const page = await chromium.page();
  try {
    await crowd(gateway, SESSIONS);
    await page.open(gateway.page);
    await page.waitForText('.tally', '5,000 sessions');
    const told = await page.run(async (step) => {
      const grid = document.querySelector('.grid');
      const begun = performance.now();
      let frames = 0;
      let longest = 0;
      let last = begun;
      while (performance.now() - begun < 3_000) {
        await new Promise((done) => requestAnimationFrame(done));
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        frames += 1;
        grid.scrollTop += step;
        if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight) grid.scrollTop = 0;
      }
      const blank = document.elementFromPoint(600, 500)?.closest('.row') === null;
      const rows = document.querySelectorAll('.rows .row').length;
      return { frames: (frames * 1_000) / (last - begun), longest, rows, blank };
    }, STEP);
    console.log(
      `        ${told.frames.toFixed(1)} frames/s, longest ${told.longest.toFixed(0)} ms`,
    );
    if (isTimed) assert.ok(told.frames >= MIN_FRAMES, `${told.frames} frames a second`);
    assert.ok(told.rows < 100, `${told.rows} rows are there`);
    assert.equal(told.blank, false, 'rows are missing while scrolling');
  } finally {
    await page.close();
    await gateway.close();
  }
});

/** A session's journal with many entries, as `steersman sessions export` writes it. */
function longJournal() {
  const at = Date.now() - ENTRIES;
  const head = {
    state: 'open',
    title: 'A long one.',
    agent: 'codex',
    model: 'm-1',
    turns: 1,
    tool_calls: 1,
    extra: '{"kind":"gateway"}',
  };
  const first = {
    format: 'steersman-journal',
    version: 1,
    id: 'gw-00000000000long',
    created_ms: at,
    last_seq: ENTRIES,
    head,
  };
  const opened = {
    seq: 1,
    at_ms: at,
    kind: 'opened',
    body: { entry: 'opened', client: 'codex', mode: 'govern', task: 'A long one.' },
  };
  const lines = [first, opened];
  for (let seq = 2; seq <= ENTRIES; seq += 1) {
    const entry = seq % 2 === 0 ? { entry: 'asked', items: seq, resent: false } : { entry: 'held' };
    lines.push({ seq, at_ms: at + seq, kind: entry.entry, body: entry });
  }
  return lines.map((it) => `${JSON.stringify(it)}\n`).join('');
}

test('speed: the feed carries 2,000 events a second to the page', async ({
  binary,
  chromium,
  model,
  isTimed,
}) => {
  const gateway = new Gateway(binary, model.url);
  const file = join(gateway.folder, 'long.jsonl');
  writeFileSync(file, longJournal());
  const status = await new Promise((done) => {
    const import_ = spawn(binary, ['sessions', 'import', file, '--state', gateway.state]);
    import_.once('exit', done);
  });
  assert.equal(status, 0, 'the journal was not taken');
  await gateway.start();
  const page = await chromium.page();
  try {
    await page.open(`${gateway.page}#/s/gw-00000000000long/journal?after=0`);
    // The page's own feed, with its batches, its fold and what it draws.
    const told = await page.run(async (entries) => {
      const now = () => Number(document.querySelector('.journal')?.dataset.told ?? 0);
      while (now() === 0) await new Promise(requestAnimationFrame);
      const first = now();
      const begun = performance.now();
      while (now() < entries) await new Promise(requestAnimationFrame);
      const last = document.querySelector('.journal').dataset.last;
      return { count: entries - first, ms: performance.now() - begun, last: Number(last) };
    }, ENTRIES);
    assert.equal(told.last, ENTRIES);
    const rate = Math.round((told.count * 1_000) / told.ms);
    console.log(`        ${rate} events/s from the journal to the page`);
    if (isTimed) assert.ok(rate >= MIN_EVENTS, `${rate} events a second`);
  } finally {
    await page.close();
    await gateway.close();
  }
});
