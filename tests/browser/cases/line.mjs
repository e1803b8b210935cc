// The line to the gateway breaks, and nothing is lost.

import assert from 'node:assert/strict';
import { Agent, call } from '../agent.mjs';
import { eventually, test } from '../check.mjs';
import { Gateway } from '../gateway.mjs';

let files = 0;
/** A turn that brings something new, so that nobody has a reason to end it. */
const step = () => ({ text: 'On.', calls: [call('read', `file-${++files}.py`, `x = ${files}`)] });

/** The numbers of the entries that the journal's tab shows, ascending. */
const shown = () =>
  [...document.querySelectorAll('.journal li')].map((it) => Number(it.dataset.seq)).reverse();

test('line: a restart of the gateway loses no event', async ({ binary, chromium, model }) => {
  const gateway = await new Gateway(binary, model.url).start();
  const page = await chromium.page();
  try {
    const agent = new Agent(gateway, 'restarted', 'Survive a restart');
    for (let turn = 0; turn < 4; turn += 1) await agent.turn(step());
    await page.open(`${gateway.page}#/s/${agent.session}/journal`);
    await page.until(() => document.querySelectorAll('.journal li').length >= 12);
    const fleet = await chromium.page();
    await fleet.open(gateway.page);
    await fleet.waitForText('.cell.task a', 'Survive a restart');

    await agent.turn(step());
    await gateway.stop();
    await page.until(() => document.querySelector('[data-status="reconnecting"]') !== null);
    await page.waitForText('.notice', 'The line to Steersman is gone');
    await gateway.start();
    // These happen while the page waits for its next try, or right after it.
    for (let turn = 0; turn < 5; turn += 1) await agent.turn(step());
    await page.until(() => document.querySelector('[data-status="live"]') !== null);
    const { entries } = await eventually(
      () => gateway.api(`/api/sessions/${agent.session}/entries?limit=1000`),
      (told) => {
        assert.equal(told.entries.filter((it) => it.kind === 'replied').length, 10);
        return told;
      },
    );
    const last = entries.at(-1).seq;
    await page.until(
      (seq) => Number(document.querySelector('.journal')?.dataset.last) === seq,
      last,
    );
    assert.deepEqual(
      await page.run(shown),
      entries.map((it) => it.seq),
    );
    const row = `.row[data-session="${agent.session}"]`;
    await fleet.until(
      (at, seq) => Number(document.querySelector(at)?.dataset.entries) === seq,
      row,
      last,
    );
    await page.click('[role=tab]', 'Timeline');
    await page.waitForText('.turn h2', 'Turn 10');
    assert.equal(await page.run(() => document.querySelectorAll('.turn').length), 10);
    await fleet.close();
  } finally {
    await page.close();
    await gateway.close();
  }
});

test('line: a gateway that is not there is waited for', async ({ binary, chromium, model }) => {
  const gateway = await new Gateway(binary, model.url).start();
  const page = await chromium.page();
  try {
    await page.open(gateway.page);
    await page.waitForText('h2', 'No sessions yet');
    await gateway.stop('SIGKILL');
    await page.waitForText('.notice', 'The line to Steersman is gone');
    await gateway.start();
    await page.click('.notice button', 'Try now').catch(() => undefined);
    await page.until(() => document.querySelector('[data-status="live"]') !== null);
    const agent = new Agent(gateway, 'after', 'After the fall');
    await agent.turn(step());
    await page.waitForText('.cell.task a', 'After the fall');
  } finally {
    await page.close();
    await gateway.close();
  }
});

test('line: with an admin token it is asked for once and kept for the tab', async ({
  binary,
  chromium,
  model,
}) => {
  const settings = 'admin_token_env: DASHBOARD_TOKEN\n';
  const gateway = await new Gateway(binary, model.url, settings).start({
    DASHBOARD_TOKEN: 'geheim+/=',
  });
  const page = await chromium.page();
  try {
    await page.open(gateway.page);
    await page.waitForText('h1', 'admin token');
    await page.type('.locked input', 'wrong');
    await page.key('Enter');
    await page.waitForText('.locked p', 'not the right one');
    await page.run(() => (document.querySelector('.locked input').value = ''));
    await page.type('.locked input', 'geheim+/=');
    await page.key('Enter');
    await page.waitForText('h2', 'No sessions yet');
    await page.until(() => document.querySelector('[data-status="live"]') !== null);
    await page.send('Page.reload');
    await page.waitForText('h2', 'No sessions yet');
    const kept = await page.run(() => [sessionStorage.length, JSON.stringify({ ...localStorage })]);
    assert.equal(kept[0], 1);
    assert.doesNotMatch(kept[1], /geheim/);
    // The address holds no token either.
    assert.ok(page.requests.every((url) => !url.includes('geheim')));
  } finally {
    await page.close();
    await gateway.close();
  }
});
