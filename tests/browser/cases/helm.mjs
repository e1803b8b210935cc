// Each control, and its effect on what the engine does next.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Agent, call, loop, mend } from '../agent.mjs';
import { eventually, test } from '../check.mjs';

const STEP = { text: 'On.', calls: [call('read', 'src/parse.py', 'x')] };

async function working(gateway, name) {
  const agent = new Agent(gateway, name, `The task of ${name}`);
  await mend(agent, 3);
  return agent;
}

/** What the model was told last in the words of a request. */
function lastAsked(model) {
  return JSON.stringify(model.asked.at(-1).messages);
}

test('helm: a pause holds the next request until it is resumed', async ({ open, gateway }) => {
  const agent = await working(gateway, 'paused');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.helm button', 'Pause');
  await page.waitForText('.said', 'Paused');
  let isAnswered = false;
  const held = agent.turn(STEP).then(() => (isAnswered = true));
  await page.waitForText('.note', 'Held');
  assert.equal(isAnswered, false);
  await page.click('.helm button', 'Resume');
  await held;
  await page.waitForText('.turn h2', 'Turn 4');
});

test('helm: a note is in the next request', async ({ open, gateway, model }) => {
  const agent = await working(gateway, 'noted');
  const page = await open(`#/s/${agent.session}`);
  await page.type('.note-form textarea', 'Look at the <lexer> first.');
  await page.click('.note-form button', 'Send note');
  await page.waitForText('.said', 'next request');
  await agent.turn(STEP);
  assert.match(lastAsked(model), /Look at the <lexer> first\./);
  await page.click('[role=tab]', 'Conversation');
  await page.waitForText('.bubble.put', 'Look at the <lexer> first.');
});

test('helm: re-evaluate is said with the next request', async ({ open, gateway, model }) => {
  const agent = await working(gateway, 're-evaluated');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.helm button', 'Re-evaluate');
  await page.waitForText('.said', 'Re-evaluate');
  await agent.turn(STEP);
  assert.match(lastAsked(model), /stop and think again/);
});

test('helm: a forced answer takes the tools away', async ({ open, gateway, model }) => {
  const agent = await working(gateway, 'forced');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.helm button', 'Force answer');
  await page.click('.confirm button', 'Yes');
  await page.waitForText('.said', 'Force answer');
  await agent.turn({ text: 'This is my answer.' });
  const asked = model.asked.at(-1);
  assert.ok(
    asked.tool_choice === 'none' || !asked.tools?.length,
    JSON.stringify(asked.tool_choice),
  );
  await page.waitForText('.title .badge', 'forced');
});

test('helm: a stop ends it, after it was asked twice', async ({ open, gateway, model }) => {
  const agent = await working(gateway, 'stopped');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.helm button', 'Stop');
  await page.click('.confirm button', 'Cancel');
  await page.click('.helm button', 'Stop');
  await page.click('.confirm button', 'Yes');
  await page.waitForText('.said', 'Stop');
  const before = model.asked.length;
  const body = await agent.turn(STEP);
  assert.equal(model.asked.length, before, 'the model was asked');
  assert.match(body.choices[0].message.content, /\[capped\]/);
  await page.waitForText('.title .badge', 'capped');
});

test('helm: without continuation nothing is said, with it again', async ({
  open,
  gateway,
  model,
}) => {
  const agent = await working(gateway, 'left-alone');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.toggle input');
  await page.waitForText('.said', 'only watched');
  const before = await loop(agent, 5);
  assert.doesNotMatch(JSON.stringify(before.choices[0].message), /\[capped\]/);
  const texts = await eventually(
    () => gateway.api(`/api/sessions/${agent.session}/timeline`),
    ({ turns }) => {
      const put = turns.flatMap((it) => it.decisions).map((it) => it.put?.text ?? '');
      assert.ok(
        put.some((text) => text.length > 20),
        JSON.stringify(put),
      );
      return put.filter((text) => text !== '');
    },
  );
  const asked = () => JSON.stringify(model.asked.at(-1).messages);
  for (const text of texts) assert.ok(!asked().includes(JSON.stringify(text).slice(1, -1)), text);
  await page.until(() => !document.querySelector('.toggle input').checked);
  await page.click('.toggle input');
  await page.waitForText('.said', 'is done');
  // The engine's next decision is to stop, and now the client is told.
  const body = await loop(agent, 1);
  assert.match(JSON.stringify(body.choices[0].message), /\[capped\]/);
});

test('helm: the slider shows its effect before it is applied', async ({ open, gateway }) => {
  const agent = await working(gateway, 'slid');
  const page = await open(`#/s/${agent.session}`);
  await page.until(() => document.querySelector('.aggressiveness input[type=range]') !== null);
  await page.run(() => {
    const slider = document.querySelector('.aggressiveness input[type=range]');
    slider.value = '2';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await page.waitForText('.effect summary', 'Changes');
  const changed = await page.run(() =>
    [...document.querySelectorAll('.effect tr.changed')].map((it) => it.textContent),
  );
  assert.ok(changed.length >= 2, JSON.stringify(changed));
  await page.click('.aggressiveness button', 'Apply aggressive');
  await page.waitForText('.aggressiveness b', 'aggressive');
  await agent.turn(STEP);
  // Its numbers hold now: the engine decides by them.
  await eventually(
    () => gateway.api(`/api/sessions/${agent.session}/timeline`),
    ({ whole }) => {
      assert.equal(whole.standing.preset, 'aggressive');
      const stuck = whole.thresholds[0].values.find((it) => it.name === 'tests.stuck_after');
      assert.equal(stuck.value, 2);
    },
  );
});

test('helm: a limit that is used up forces the answer, and raising it frees it', async ({
  open,
  gateway,
  model,
}) => {
  const agent = await working(gateway, 'limited');
  const page = await open(`#/s/${agent.session}`);
  const field = '.budgets input[aria-label^="New limit of turns"]';
  await page.type(field, '3');
  await page.key('Enter');
  await page.waitForText('.said', 'Limit of turns changed');
  await agent.turn(STEP);
  const why = agent.lastHeaders.get('x-steersman-reason');
  assert.match(why, /budget/);
  assert.equal(model.asked.at(-1).tool_choice, 'none');
  await page.type(field, '50');
  await page.key('Enter');
  await page.waitForText('.budgets .told', 'of 50');
  await agent.turn(STEP);
  assert.notEqual(model.asked.at(-1).tool_choice, 'none');
});

test('helm: every control stands in the journal with who took it', async ({ open, gateway }) => {
  const agent = await working(gateway, 'signed');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.settings summary');
  await page.type('.sheet input[type=text]', 'anna');
  await page.run(() => document.activeElement.blur());
  await page.click('.helm button', 'Pause');
  await page.waitForText('.said', 'Paused');
  await page.click('.helm button', 'Resume');
  await agent.turn(STEP);
  await eventually(
    () => gateway.api(`/api/sessions/${agent.session}/entries?limit=1000`),
    ({ entries }) => {
      const taken = entries.filter((it) => it.kind === 'controlled');
      const told = taken.map((it) => [it.entry.who, it.entry.control.control]);
      assert.deepEqual(told, [
        ['anna', 'pause'],
        ['anna', 'resume'],
      ]);
    },
  );
  await page.waitForText('.note.control', 'anna');
});

test('helm: whoever acts is told by name, in any script', async ({ open, gateway }) => {
  const agent = await working(gateway, 'signed');
  const page = await open(`#/s/${agent.session}`);
  await page.click('.settings summary');
  await page.type('.sheet input[type=text]', 'Jörg 船長 100 %');
  await page.click('.helm button', 'Pause');
  await page.waitForText('.turns, .before', 'Jörg 船長 100 %');
  await page.waitForText('.turns, .before', 'paused');
  await page.click('.helm button', 'Resume');
});

test('helm: a session that is deleted stays deleted', async ({ open, gateway, binary }) => {
  const agent = await working(gateway, 'deleted');
  const page = await open(`#/s/${agent.session}`);
  await page.waitForText('.turn', 'read');
  const args = ['sessions', 'delete', agent.session, '--yes', '--state', gateway.state];
  execFileSync(binary, args);
  await page.click('.helm button', 'Pause');
  await page.waitForText('h1, h2', 'no such session');
  const { sessions } = await gateway.api('/api/sessions?limit=500');
  assert.ok(!sessions.some((it) => it.session === agent.session));
  page.problems = page.problems.filter((it) => !it.includes('404'));
});

test('helm: marks reach every page that is open', async ({ open, gateway }) => {
  const agent = await working(gateway, 'marked-twice');
  await loop(agent, 4);
  const pages = [];
  for (const _ of [1, 2]) pages.push(await open(`#/s/${agent.session}/decisions`));
  const [one, two] = pages;
  await two.waitForText('.decision', 'Was this right?');
  await agent.turn({ text: 'I go on.', calls: [{ name: 'read', returns: 'new' }] });
  await agent.turn({ text: 'And on.', calls: [{ name: 'read', returns: 'newer' }] });
  await one.click('.decision button', 'Helpful');
  await two.until(() => document.querySelector('.decision button[aria-pressed=true]') !== null);
});
