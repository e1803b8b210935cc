// Nothing that models, tools or people write is more than text.

import assert from 'node:assert/strict';
import { Agent, call } from '../agent.mjs';
import { test } from '../check.mjs';

const HOSTILE = [
  '<img src=x onerror="window.owned=1">',
  '<script>window.owned=1</script>',
  '"><svg onload=window.owned=1>',
  "javascript:window.owned=1//'",
  '{{constructor.constructor("window.owned=1")()}}',
  '\u202Egnp.exe\u0000\u2028',
].join(' ');

test('safety: hostile words are inert wherever they stand', async ({ open, gateway }) => {
  const agent = new Agent(gateway, 'hostile', `Task ${HOSTILE}`, { model: '<b>model</b>' });
  const tools = [
    {
      type: 'function',
      function: { name: 'x<img src=x onerror=window.owned=1>', parameters: { type: 'object' } },
    },
  ];
  const calls = [
    { name: 'x<img src=x onerror=window.owned=1>', arguments: { path: HOSTILE }, returns: HOSTILE },
    call('bash', HOSTILE, HOSTILE),
  ];
  for (let turn = 0; turn < 7; turn += 1)
    await agent.turn({ text: `Says ${HOSTILE}`, calls, tools });
  const { session } = agent;
  const page = await open();
  await page.waitForText('.cell.task a', '<script>window.owned=1</script>');
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
    await page.run((hash) => (location.hash = hash), `#/s/${session}/${tab}`);
    await page.until((it) => document.querySelector(`#tab-${it}[aria-selected=true]`), tab);
    await page.run(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const found = await page.run(() => ({
      owned: window.owned ?? null,
      scripts: document.querySelectorAll('main script, main img, main svg[onload]').length,
      odd: [...document.querySelectorAll('main a')].filter((it) => it.protocol === 'javascript:')
        .length,
    }));
    assert.deepEqual(found, { owned: null, scripts: 0, odd: 0 }, tab);
  }
  await page.run(() => (location.hash = '#/analytics'));
  await page.waitForText('td', '<b>model</b>');
  assert.equal(await page.run(() => window.owned ?? null), null);
});

test('safety: the page asks nobody but its gateway, under a strict policy', async ({
  open,
  gateway,
}) => {
  const page = await open();
  await page.until(() => document.querySelector('[data-status="live"]') !== null);
  const elsewhere = page.requests.filter(
    (url) => !url.startsWith(gateway.url.replace('http', '')) && !url.includes(gateway.listen),
  );
  assert.deepEqual(
    elsewhere.filter((url) => url !== 'about:blank'),
    [],
  );
  const { headers } = await fetch(gateway.page);
  const policy = headers.get('content-security-policy');
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]) {
    assert.ok(policy.includes(part), policy);
  }
  assert.doesNotMatch(policy, /unsafe/);
  const blocked = await page.run(() => {
    try {
      return new Function('return 1')();
    } catch {
      return 'refused';
    }
  });
  assert.equal(blocked, 'refused');
  page.problems = page.problems.filter((it) => !it.includes('Content Security Policy'));
});
