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
const { status } = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' });
process.exit(status ?? 1);
