// What axe-core finds in every view, light and dark, wide and narrow.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, loop, mend } from '../agent.mjs';
import { test } from '../check.mjs';

const AXE = readFileSync(
  new URL('../../../web/node_modules/axe-core/axe.min.js', import.meta.url),
  'utf8',
);

async function findings(page) {
  await page.send('Runtime.evaluate', { expression: AXE });
  return page.run(async () => {
    const options = {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    };
    const { violations } = await window.axe.run(document, options);
    return violations
      .filter((it) => it.impact === 'serious' || it.impact === 'critical')
      .map(
        (it) =>
          `${it.id}: ${it.nodes
            .slice(0, 3)
            .map((node) => node.target + ' ' + node.failureSummary)
            .join(' | ')}`,
      );
  });
}

const LOOKS = [{}, { dark: true }, { width: 390, height: 800 }];

for (const look of LOOKS) {
  const name = look.dark ? 'dark' : look.width ? 'narrow' : 'light';
  test(`access: axe finds nothing serious, ${name}`, async ({ open, gateway }) => {
    const agent = new Agent(gateway, `axe-${name}`, `Look at it, ${name}\nand at this line`);
    await mend(agent, 5);
    await loop(agent, 6);
    const page = await open('', look);
    await page.waitForText('.cell.task a', `Look at it, ${name}`);
    assert.deepEqual(await findings(page), [], 'fleet');
    const tabs = [
      'timeline',
      'conversation',
      'decisions',
      'files',
      'tests',
      'attempts',
      'mail',
      'journal',
    ];
    for (const tab of tabs) {
      await page.run((hash) => (location.hash = hash), `#/s/${agent.session}/${tab}`);
      await page.until((it) => document.querySelector(`#tab-${it}[aria-selected=true]`), tab);
      assert.deepEqual(await findings(page), [], tab);
    }
    await page.run(() => (location.hash = '#/analytics'));
    await page.until(() => document.querySelector('.sheets .chart canvas') !== null);
    assert.deepEqual(await findings(page), [], 'analytics');
    await page.run(() => (location.hash = '#/replay'));
    await page.waitForText('h1', 'Replay a recorded run');
    await page.click('.settings summary');
    assert.deepEqual(await findings(page), [], 'replay and settings');
  });
}

test('access: everything can be reached with the keyboard', async ({ open, gateway }) => {
  const agent = new Agent(gateway, 'keys', 'Reach everything');
  await mend(agent, 4);
  const page = await open(`#/s/${agent.session}`);
  await page.waitForText('.turn h2', 'Turn 4');
  const reached = new Set();
  for (let presses = 0; presses < 60; presses += 1) {
    await page.key('Tab');
    reached.add(
      await page.run(() => {
        const at = document.activeElement;
        return (
          (at.getAttribute('aria-label') ?? at.textContent ?? '').trim().slice(0, 40) || at.tagName
        );
      }),
    );
  }
  for (const name of ['Fleet', 'Analytics', 'Replay', 'Timeline', 'Pause', 'Re-evaluate', 'Stop']) {
    assert.ok(
      [...reached].some((it) => it.startsWith(name)),
      `${name} not in ${[...reached]}`,
    );
  }
  await page.run(() => document.querySelector('#tab-timeline').focus());
  await page.key('ArrowRight');
  await page.until(() => document.querySelector('#tab-conversation[aria-selected=true]') !== null);
});

test('access: nothing moves where people want it still', async ({ open }) => {
  const page = await open();
  await page.emulate({ still: true });
  const durations = await page.run(() =>
    [...document.querySelectorAll('*')].map((it) =>
      Number.parseFloat(getComputedStyle(it).animationDuration),
    ),
  );
  assert.ok(durations.every((seconds) => seconds < 0.01));
});

test('access: on a narrow screen the helm is one step away', async ({ open, gateway }) => {
  const agent = new Agent(gateway, 'narrow', 'Steer it from a telephone');
  await mend(agent, 8);
  const page = await open(`#/s/${agent.session}`, { width: 390, height: 844 });
  await page.click('.to-helm');
  await page.until(() => {
    const helm = document.querySelector('.helm').getBoundingClientRect();
    return helm.top > 0 && helm.top < 300 && document.activeElement.textContent === 'Pause';
  });
});
