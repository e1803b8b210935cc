import assert from 'node:assert/strict';
import { Agent, call, loop, mend } from '../agent.mjs';
import { test } from '../check.mjs';

const row = (id) => `.row[data-session="${id}"]`;

test('fleet: an empty gateway says how to begin', async ({ open }) => {
  const page = await open();
  await page.waitForText('h2', 'No sessions yet');
  await page.until(() => document.querySelector('[data-status="live"]') !== null);
});

test('fleet: a session appears and moves without being asked for', async ({ open, gateway }) => {
  const page = await open();
  await page.until(() => document.querySelector('[data-status="live"]') !== null);
  const agent = new Agent(gateway, 'live-1', 'Mend the parser');
  await agent.turn({ text: 'I look.', calls: [call('read', 'a.py', 'x')] });
  await page.waitForText('.cell.task a', 'Mend the parser');
  const turns = `${row(agent.session)} .cell.turns`;
  await page.until((at) => document.querySelector(at)?.textContent === '1', turns);
  await agent.turn({ text: 'On.', calls: [call('read', 'b.py', 'y')] });
  await page.until((at) => document.querySelector(at)?.textContent === '2', turns);
});

test('fleet: what needs attention comes first', async ({ open, gateway }) => {
  const calm = new Agent(gateway, 'calm', 'A calm task');
  const stuck = new Agent(gateway, 'stuck', 'A stuck task');
  await mend(stuck, 1);
  await loop(stuck, 8);
  await mend(calm, 6);
  const page = await open();
  await page.waitForText('.cell.task a', 'A calm task');
  await page.waitForText(`${row(stuck.session)} .needs`, '');
  const order = await page.until(() => {
    const tasks = [...document.querySelectorAll('.rows .row')]
      .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
      .map((it) => it.querySelector('.task a').textContent);
    return tasks.indexOf('A stuck task') < tasks.indexOf('A calm task') ? tasks : null;
  });
  assert.ok(order.includes('A stuck task'));
  const decision = await page.text(`${row(stuck.session)} .cell.last`);
  assert.match(decision, /nudge|re-evaluate|force|stop/);
});

test('fleet: search, filters and order narrow it down and are kept', async ({ open, gateway }) => {
  await mend(new Agent(gateway, 'needle', 'Find the needle', { model: 'm-needle' }), 2);
  const page = await open();
  await page.waitForText('.cell.task a', 'Find the needle');
  await page.type('#search', 'NEEDLE');
  await page.until(() => document.querySelectorAll('.rows .row').length === 1);
  await page.run(() => {
    const search = document.querySelector('#search');
    search.value = '';
    search.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await page.until(() => document.querySelectorAll('.rows .row').length > 1);
  await page.run(() => {
    const pick = [...document.querySelectorAll('.pick')].find((it) =>
      it.textContent.includes('Model'),
    );
    const select = pick.querySelector('select');
    select.value = 'm-needle';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await page.until(() => document.querySelectorAll('.rows .row').length === 1);
  await page.send('Page.reload');
  await page.until(() => document.querySelectorAll('.rows .row').length === 1);
  assert.match(await page.text('.tally'), /^1 of /);
});

test('fleet: keys lead through the list and into a session', async ({ open }) => {
  const page = await open();
  await page.until(() => document.querySelectorAll('.rows .row').length > 2);
  await page.run(() => document.querySelector('.grid').focus());
  await page.key('ArrowDown');
  await page.key('ArrowDown');
  const active = await page.until(() => {
    const id = document.querySelector('.grid').getAttribute('aria-activedescendant');
    return document.querySelector(`#${id}.active`)?.dataset.session;
  });
  await page.key('Enter');
  await page.until((id) => location.hash.startsWith(`#/s/${id}`), active);
  await page.until(() => document.querySelector('.session') !== null);
});
