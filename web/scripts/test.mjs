// Bundles every test (Node 18 reads no TypeScript) and hands them to Node's own runner.

import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../', import.meta.url));
const out = join(folder, 'node_modules', '.tests');
rmSync(out, { recursive: true, force: true });
const names = readdirSync(join(folder, 'tests')).filter((name) => name.endsWith('.test.ts'));
await build({
  entryPoints: names.map((name) => join(folder, 'tests', name)),
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  logLevel: 'warning',
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, '.mjs')));
const told = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files], {
  encoding: 'utf8',
});
const number = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(told.stdout)?.[1] ?? 0);
const failed = number('fail') + number('cancelled');
if (failed > 0 || told.status !== 0) process.stdout.write(told.stdout + told.stderr);
console.log(`${number('pass')} passed, ${failed} failed`);
process.exit(told.status ?? 1);
