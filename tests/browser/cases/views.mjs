import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Agent, loop, mend } from '../agent.mjs';
import { test } from '../check.mjs';
import { Gateway } from '../gateway.mjs';

const TRACE = fileURLToPath(
  new URL('../../../testdata/sessions/codex/same-failing-command.jsonl', import.meta.url),
);

async function choose(page, path) {
  const { root } = await page.send('DOM.getDocument');
  const { nodeId } = await page.send('DOM.querySelector', {
    nodeId: root.nodeId,
    selector: 'input[type=file]',
  });
  await page.send('DOM.setFileInputFiles', { nodeId, files: [path] });
}

test('views: a recorded run is told as a session is', async ({ open }) => {
  const page = await open('#/replay');
  await page.waitForText('h1', 'Replay a recorded run');
  await choose(page, TRACE);
  await page.waitForText('.turn h2', 'Turn 1');
  await page.waitForText('.drop', 'Codex');
  await page.until(() => document.querySelectorAll('.chart canvas').length === 3);
  await page.click('[role=tab]', 'Decisions');
  await page.click('.decision .turn-link');
  await page.until(() => document.querySelector('.turn.target') !== null);
  assert.equal(await page.run(() => document.querySelector('.helm')), null);
});

test('views: a file that is no trace is refused in words', async ({ open }) => {
  const page = await open('#/replay');
  await choose(page, fileURLToPath(import.meta.url));
  await page.until(() => document.querySelector('.failed, .problems') !== null);
  page.problems = page.problems.filter((it) => !/status of 4\d\d/.test(it));
});

test('views: analytics sum up what happened, and can be taken along', async ({
  open,
  gateway,
  chromium,
}) => {
  const agent = new Agent(gateway, 'summed', 'Sum it up');
  await mend(agent, 2);
  await loop(agent, 8);
  const page = await open('#/analytics');
  await page.waitForText('h2', 'Decisions over time');
  await page.waitForText('.sheet-table td', 'repeated');
  await page.waitForText('.bars dt', 'answered');
  assert.match(
    await saved(chromium, page, () => page.click('.export button', 'JSON')),
    /^steersman-[\d-]+\.json$/,
  );
  // A browser asks before a page saves a second file, so this is another page.
  const other = await open('#/analytics');
  await other.until(() => document.querySelector('.export select') !== null);
  const choosing = () =>
    other.run(() => {
      const select = document.querySelector('.export select');
      select.value = 'decisions';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
  assert.match(await saved(chromium, other, choosing), /^steersman-decisions-[\d-]+\.csv$/);
});

test('views: analytics tell what shadow mode let run on', async ({ open, binary, model }) => {
  const gateway = await new Gateway(binary, model.url, 'mode: shadow\n').start();
  try {
    const client = 'claude-cli/2.1';
    await loop(new Agent(gateway, 'watched', 'Watch it', { client }), 14);
    const page = await open('#/analytics', { gateway });
    await page.waitForText('.tiles .fact', 'tokens that shadow mode let run on');
    const told = () =>
      [...document.querySelectorAll('.tiles .fact')].at(-1).querySelector('dd').textContent;
    assert.match(await page.run(told), /^[\d.]+k$/);
  } finally {
    await gateway.close();
  }
});

/** The name of the file that the page saves. */
async function saved(chromium, page, act) {
  const name = new Promise((done) => {
    chromium.listen(page.sessionId, (method, params) => {
      if (method === 'Page.downloadWillBegin') done(params.suggestedFilename);
    });
  });
  await act();
  return name;
}

test('views: the theme is kept', async ({ open }) => {
  const page = await open();
  await page.click('.settings summary');
  await page.click('.sheet input[value=dark]');
  const dark = () =>
    document.body && getComputedStyle(document.body).backgroundColor === 'rgb(14, 21, 24)';
  await page.until(dark);
  await page.send('Page.reload');
  await page.until(dark);
});
