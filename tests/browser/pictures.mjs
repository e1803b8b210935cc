// Makes the pictures of the manual: a fleet of rehearsed sessions, seen in the page.
//
// usage: node pictures.mjs STEERSMAN FOLDER [LOOK...]   looks: light, dark, narrow; default: light

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, call, loop, mend } from './agent.mjs';
import { Chromium } from './chromium.mjs';
import { Gateway } from './gateway.mjs';
import { startModel } from './model.mjs';

const [binary, folder, ...given] = process.argv.slice(2);
const TRACE = fileURLToPath(
  new URL('../../testdata/sessions/codex/same-failing-command.jsonl', import.meta.url),
);
const WIDE = { width: 1160, height: 700 };
const LOOKS = {
  light: WIDE,
  dark: { ...WIDE, dark: true },
  narrow: { width: 390, height: 844 },
};
const looks = given.length > 0 ? given : ['light'];
const CLIENTS = ['claude-cli/2.1', 'codex_cli_rs/0.169', 'opencode/1.18', 'QwenCode/0.24'];
const MODELS = ['claude-sonnet-4-5', 'gpt-5-codex', 'qwen3-coder', 'qwen3-coder'];
const TASKS = [
  'Mend the three failing tests of the parser',
  'Port the importer to the new API and keep the old one working',
  'Explain why the nightly job times out',
  'Add a --json flag to the report command',
  'Upgrade the TLS library and mend what breaks',
  'Write the migration for invoices',
  'Find the memory leak in the worker pool',
  'Make retries of uploads idempotent',
  'Review the change to the scheduler',
  'Build the release for Windows',
  'Describe the wire format in docs/wire.md',
  'Sort the report by month',
];

async function fleet(gateway) {
  const agents = TASKS.map((task, at) => {
    const client = CLIENTS[at % CLIENTS.length];
    return new Agent(gateway, `picture-${at}`, task, { client, model: MODELS[at % MODELS.length] });
  });
  for (const [at, agent] of agents.entries()) {
    if (at === 0) continue;
    await explore(agent, 2 + ((at * 5) % 9));
    if (at % 4 === 1) await loop(agent, 3 + (at % 3));
    if (at % 4 === 2) await mend(agent, 9);
  }
  await story(agents[0]);
  await gateway.api(`/api/sessions/${agents[4].session}/control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-steersman-who': 'anna' },
    body: '{"control":"pause"}',
  });
  return agents[0].session;
}

/** New files, one after the other. */
async function explore(agent, turns) {
  for (let turn = 0; turn < turns; turn += 1) {
    const path = `src/part_${agent.name.slice(8)}_${turn}.py`;
    const input = 4_000 + turn * 2_500;
    await agent.turn({ text: `I read ${path}.`, input, calls: [call('read', path, `# ${path}`)] });
  }
}

/** A run that goes well, gets stuck, is told so, and finds its way. */
async function story(agent) {
  await explore(agent, 3);
  await mend(agent, 6);
  await loop(agent, 3);
  await agent.turn({
    text: 'The Makefile has no such target. I look at what there is.',
    calls: [
      call('read', 'Makefile', 'test:\n\tpytest -q'),
      call('grep', 'test:', 'Makefile:1: test:'),
    ],
  });
  await explore(agent, 4);
}

/** The built-in rehearsal: it gets stuck, starts over and mends what it broke. */
async function rehearse(gateway) {
  const run = spawn(binary, ['run', '--plain', '--state', gateway.state], {
    cwd: gateway.folder,
    stdio: 'ignore',
  });
  await new Promise((done) => run.once('exit', done));
  const { sessions } = await gateway.api('/api/sessions?limit=500');
  return sessions.find((it) => it.kind === 'run').session;
}

async function drop(page, path) {
  const { root } = await page.send('DOM.getDocument');
  const selector = 'input[type=file]';
  const { nodeId } = await page.send('DOM.querySelector', { nodeId: root.nodeId, selector });
  await page.send('DOM.setFileInputFiles', { nodeId, files: [path] });
  await page.waitForText('.turn h2', 'Turn 1');
}

async function draw(page, gateway, { session, run }, look) {
  const name = (view) => join(folder, `dashboard-${view}${look === 'light' ? '' : `-${look}`}.png`);
  const views = {
    fleet: '#/',
    session: `#/s/${session}`,
    decisions: `#/s/${session}/decisions`,
    conversation: `#/s/${session}/conversation`,
    files: `#/s/${session}/files`,
    tests: `#/s/${session}/tests`,
    journal: `#/s/${session}/journal`,
    analytics: '#/analytics',
    run: `#/s/${run}`,
    attempts: `#/s/${run}/attempts`,
    'run-tests': `#/s/${run}/tests`,
    replay: '#/replay',
  };
  for (const [view, hash] of Object.entries(views)) {
    const { width, height } = { ...WIDE, ...LOOKS[look] };
    // Twelve rows are fewer than a page has room for, and pictures in a repository are small.
    await page.resize(width, view === 'fleet' ? Math.min(height, 560) : height);
    await page.open(`${gateway.page}${hash}`);
    await page.until(() => document.querySelector('[data-status="live"]') !== null);
    if (view === 'replay') await drop(page, TRACE);
    if (view === 'attempts') await page.click('.diff summary');
    await page.run(() => new Promise((done) => setTimeout(done, 500)));
    await page.screenshot(name(view));
  }
}

const model = await startModel();
const prices = 'prices:\n  - {model: "*", input: 3, output: 15}\n';
const gateway = await new Gateway(binary, model.url, prices).start();
const chromium = await Chromium.start();
try {
  const run = await rehearse(gateway);
  const session = await fleet(gateway);
  for (const look of looks) {
    const page = await chromium.page(LOOKS[look]);
    await draw(page, gateway, { session, run }, look);
    await page.close();
  }
} finally {
  await chromium.close();
  await gateway.close();
  await model.close();
}
