import assert from 'node:assert/strict';
import { Agent, call, loop, mend } from '../agent.mjs';
import { eventually, test } from '../check.mjs';

test('session: turns, calls, tests and files are told, and grow', async ({ open, gateway }) => {
  const agent = new Agent(gateway, 'told', 'Mend the sign rule');
  await mend(agent, 6);
  const page = await open(`#/s/${agent.session}`);
  await page.waitForText('h1', 'Mend the sign rule');
  await page.waitForText('.turn h2', 'Turn 6');
  await page.waitForText('.call code', 'pytest -q');
  await page.waitForText('.results', '3 failed');
  await page.until(() => document.querySelectorAll('.chart canvas').length === 3);
  await agent.turn({ text: 'One more look.', calls: [call('read', 'src/sign.py', 'x')] });
  await page.waitForText('.turn h2', 'Turn 7');
  await page.click('[role=tab]', 'Files');
  await page.waitForText('td, th', 'src/parse.py');
  await page.click('[role=tab]', 'Tests');
  await page.waitForText('caption', 'failed at some time');
  await page.click('[role=tab]', 'Conversation');
  await page.waitForText('.bubble', 'An empty string is not handled.');
});

test('session: a decision has its reason, numbers and evidence, which leads to turns', async ({
  open,
  gateway,
}) => {
  const agent = new Agent(gateway, 'decided', 'Build the thing');
  await mend(agent, 1);
  await loop(agent, 7);
  const page = await open(`#/s/${agent.session}/decisions`);
  await page.waitForText('.decision .numbers', 'rule');
  const told = await page.run(() => {
    const first = document.querySelector('.decision');
    return {
      why: first.querySelector('strong').textContent,
      numbers: [...first.querySelectorAll('.numbers dt')].map((it) => it.textContent),
      links: [...first.querySelectorAll('.evidence .turn-link')].map((it) => it.textContent),
      said: first.querySelector('blockquote')?.textContent ?? '',
    };
  });
  assert.ok(told.why.length > 10, told.why);
  assert.ok(
    told.numbers.includes('count') && told.numbers.includes('threshold'),
    `${told.numbers}`,
  );
  assert.ok(told.links.length > 0);
  await page.click('.evidence .turn-link');
  const turn = told.links[0].replace('turn ', '');
  await page.until((it) => document.querySelector(`#turn-${it}.target`) !== null, turn);
  // What was said stands in the conversation, marked as not the model's.
  await page.click('[role=tab]', 'Conversation');
  await page.waitForText('.bubble.put .who', 'Steersman');
});

test('session: marks are kept and told in analytics', async ({ open, gateway }) => {
  const agent = new Agent(gateway, 'marked', 'Build it again');
  await mend(agent, 1);
  await loop(agent, 6);
  const page = await open(`#/s/${agent.session}/decisions`);
  await page.click('.marks button', 'Harmful');
  await page.waitForText('.marks button[aria-pressed=true]', 'Harmful');
  await page.type('.marks input', 'far too early');
  await page.key('Enter');
  await page.until(() => document.querySelector('.marks input')?.value === 'far too early');
  await eventually(
    () => gateway.api(`/api/sessions/${agent.session}/timeline`),
    ({ turns }) => {
      const marked = turns.flatMap((it) => it.decisions).find((it) => it.mark !== 'none');
      assert.deepEqual([marked?.mark, marked?.mark_note], ['harmful', 'far too early']);
    },
  );
  await page.send('Page.reload');
  await page.waitForText('.marks button[aria-pressed=true]', 'Harmful');
  const { judged } = await gateway.api('/api/analytics');
  assert.ok(
    judged.some((it) => it.harmful > 0),
    JSON.stringify(judged),
  );
});

test('session: one that is not there says so', async ({ open }) => {
  const page = await open('#/s/gw-0000000000000000');
  await page.waitForText('h2', 'There is no such session');
  // The browser itself notes the 404.
  page.problems = page.problems.filter((it) => !it.includes('404'));
});
