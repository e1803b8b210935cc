// A rehearsed run of `steersman run`, seen and steered from the page.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, test } from '../check.mjs';
import { startModel } from '../model.mjs';

const REHEARSAL = fileURLToPath(new URL('../rehearsal.yaml', import.meta.url));

function begin(binary, gateway, more = [], what = ['--rehearsal', REHEARSAL], folder = null) {
  const run = spawn(binary, ['run', ...what, '--state', gateway.state, ...more], {
    cwd: folder ?? gateway.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  run.said = '';
  for (const stream of [run.stdout, run.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (run.said += text));
  }
  run.ended = new Promise((done) => run.once('exit', done));
  return run;
}

/** Begins a rehearsal in the gateway's folder of sessions and waits until it is listed. */
async function rehearse(binary, gateway) {
  const before = new Set(
    (await gateway.api('/api/sessions?limit=500')).sessions.map((it) => it.session),
  );
  const run = begin(binary, gateway);
  for (let tries = 0; tries < 400; tries += 1) {
    const { sessions } = await gateway.api('/api/sessions?limit=500');
    const found = sessions.find((it) => it.kind === 'run' && !before.has(it.session));
    if (found !== undefined && found.turns > 0) return { run, id: found.session };
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`the rehearsal does not begin: ${run.said}`);
}

test('runs: a rehearsal is told live and obeys every control', async ({
  open,
  binary,
  gateway,
}) => {
  const { run, id } = await rehearse(binary, gateway);
  try {
    const page = await open(`#/s/${id}`);
    await page.waitForText('h1', '<b>quickly</b>');
    await page.waitForText('.turn .words', 'Step 3 of attempt 1.');
    const controls = await page.run(() =>
      [...document.querySelectorAll('.helm button')].map((it) => it.textContent),
    );
    assert.ok(controls.includes('Start over') && controls.includes('Stop'), `${controls}`);

    await page.type('.note-form textarea', 'Mind the apples.');
    await page.click('.note-form button', 'Send note');
    await page.waitForText('.turns', 'Mind the apples.');

    await page.click('.helm button', 'Re-evaluate');
    await page.waitForText('.decision header', 're-evaluate');

    await page.click('.helm button', 'Pause');
    await page.click('.helm button', 'Resume');
    const turn = await page.run(() => Number(document.querySelector('.turn').dataset.turn));
    await page.until(
      (known) => Number(document.querySelector('.turn').dataset.turn) > known + 1,
      turn,
    );

    await page.click('.helm button', 'Start over');
    await page.click('.confirm button', 'Yes');
    await page.waitForText('.turn .words', 'of attempt 2.');
    await page.click('[role=tab]', 'Attempts');
    await page.waitForText('.attempt h2', 'Attempt 1');
    await page.waitForText('.attempt dd', 'kept/attempt-1');
    await page.waitForText('.diff .added', '+step');

    await page.click('.helm button', 'Stop');
    await page.click('.confirm button', 'Yes');
    await run.ended;
    await page.waitForText('.title', 'stopped');
  } finally {
    run.kill('SIGTERM');
    await run.ended;
  }
});

test('runs: one that listens shows itself, and how it ended', async ({ open, binary, gateway }) => {
  const run = begin(binary, gateway, ['--listen', '127.0.0.1:0']);
  try {
    const address = await eventually(
      () => /the dashboard is at (http:\S+)/.exec(run.said),
      (found) => found?.[1] ?? assert.fail(`no dashboard: ${run.said}`),
    );
    const page = await open('', { gateway: { page: address } });
    await page.waitForText('.turn .words', 'Step 2 of attempt 1.');
    await page.click('.helm button', 'Stop');
    await page.click('.confirm button', 'Yes');
    await page.waitForText('.title', 'stopped');
    await run.ended;
    await page.waitForText('[role=alert]', 'The line to Steersman is gone');
    await page.waitForText('.title', 'stopped');
    page.problems.length = 0;
  } finally {
    run.kill('SIGTERM');
    await run.ended;
  }
});

/** Two agents of one project, who write to each other. */
const TEAM = [
  {
    text: 'I say how far I am.',
    calls: [
      {
        name: 'report_progress',
        arguments: {
          status: 'continue',
          reason: 'the first of three steps is done',
          progress: { current_step: 1, total_steps: 3, completion_percentage: 33 },
        },
      },
    ],
  },
  {
    text: 'I ask for a second pair of eyes.',
    calls: [
      {
        name: 'send_mail',
        arguments: { to: 'reviewer', subject: 'The <i>sign</i>', text: 'Is -1 handled?' },
      },
    ],
  },
  {
    text: 'It is yours.',
    calls: [{ name: 'hand_over', arguments: { to: 'reviewer', note: 'Look.' } }],
  },
  { text: 'I read my mail.', calls: [{ name: 'read_mail', arguments: {} }] },
  { text: 'I answer.', calls: [{ name: 'reply_mail', arguments: { id: 1, text: 'It is.' } }] },
  { text: 'Done.', calls: [{ name: 'finish', arguments: { summary: 'The sign is handled.' } }] },
];

test('runs: what agents claim, write and hand over', async ({ open, binary, gateway }) => {
  const model = await startModel(TEAM);
  const folder = join(gateway.folder, 'team');
  mkdirSync(folder);
  const agent = (more) =>
    `{model: {provider: openai, name: m-1, base_url: "${model.url}/v1"}, ` +
    `features: {mailbox_protocol: true}, check: none${more}}`;
  writeFileSync(
    join(folder, 'agents.yaml'),
    `agents:\n  coder: ${agent(', may_hand_over_to: [reviewer]')}\n  reviewer: ${agent('')}\n`,
  );
  const what = ['--agent', 'coder', '--no-stream', 'Handle signs.'];
  const run = begin(binary, gateway, [], what, folder);
  await run.ended;
  await model.close();
  const { sessions } = await gateway.api('/api/sessions?text=Handle%20signs');
  const [session] = sessions;
  assert.equal(sessions.length, 1, run.said);
  const page = await open(`#/s/${session.session}/mail`);
  await page.waitForText('.letter h2', 'The <i>sign</i>');
  const letters = await page.run(() =>
    [...document.querySelectorAll('.letter')].map((it) => it.textContent),
  );
  assert.equal(letters.length, 2);
  assert.match(letters[0], /from coder to reviewer, .*, read/);
  assert.match(letters[1], /from reviewer to coder, .*, in reply to #1, not read yet/);
  await page.waitForText('.title', 'claimed');
  await page.click('[role=tab]', 'Timeline');
  await page.waitForText('.turn', 'step 1/3');
  await page.waitForText('.turn', 'coder to reviewer: Look.');
});

test('runs: one that is killed is told as interrupted', async ({ open, binary, gateway }) => {
  const { run, id } = await rehearse(binary, gateway);
  const page = await open(`#/s/${id}`);
  await page.waitForText('.title .badge', 'running');
  run.kill('SIGKILL');
  await run.ended;
  await page.waitForText('.title .badge', 'interrupted');
  await page.waitForText('.helm', 'no process drives');
});
