// Tests of the dashboard in a real browser with a real gateway behind it.
//
// usage: node main.mjs STEERSMAN [WORD]...   runs the cases whose names have one of the words

import { Chromium } from './chromium.mjs';
import { Gateway } from './gateway.mjs';
import { runAll } from './check.mjs';
import { startModel } from './model.mjs';
import './cases/fleet.mjs';
import './cases/session.mjs';
import './cases/helm.mjs';
import './cases/runs.mjs';
import './cases/line.mjs';
import './cases/safety.mjs';
import './cases/access.mjs';
import './cases/views.mjs';
import './cases/speed.mjs';

const [binary, ...words] = process.argv.slice(2);
// A machine that does other things as well is slow: only who asks for speed is told of too little.
const isTimed = words.includes('speed');
const model = await startModel();
const gateway = await new Gateway(binary, model.url).start();
const chromium = await Chromium.start();
let failed = 1;
try {
  failed = await runAll({ binary, model, gateway, chromium, isTimed }, words);
} finally {
  await chromium.close();
  await gateway.close();
  await model.close();
}
process.exit(failed > 0 ? 1 : 0);
