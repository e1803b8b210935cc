// Cases one after the other, each with the same gateway unless it starts its own.

import assert from 'node:assert/strict';

const cases = [];

/** Asks until the answer is as it should be: journals are written a moment after the answer. */
export async function eventually(ask, check) {
  for (let tries = 0; ; tries += 1) {
    try {
      return check(await ask());
    } catch (error) {
      if (tries >= 100) throw error;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

export function test(name, run) {
  cases.push({ name, run });
}

/** Runs the cases whose names have one of these words in them, and gives the number of failures. */
export async function runAll(stage, words) {
  const chosen = cases.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  let failed = 0;
  for (const { name, run } of chosen) {
    const begun = Date.now();
    const pages = [];
    const open = async (path = '', options = {}) => {
      const page = await stage.chromium.page(options);
      pages.push(page);
      await page.open(`${(options.gateway ?? stage.gateway).page}${path}`);
      return page;
    };
    try {
      await run({ ...stage, open });
      for (const page of pages) assert.deepEqual(page.problems, [], 'the page has problems');
      console.log(`ok      ${name} (${Date.now() - begun} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
    for (const page of pages) await page.close().catch(() => undefined);
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  return failed;
}
