// Drives Debian's chromium over its debugging pipe: no library, no port.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long anything may take until it counts as failed. Milliseconds. */
const TIMEOUT_MS = 15_000;

const ARGUMENTS = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-sandbox',
  '--no-first-run',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--mute-audio',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

export class Chromium {
  #process;
  #folder;
  #next = 1;
  #waiting = new Map();
  #listeners = new Map();
  #rest = '';

  static async start() {
    const chromium = new Chromium();
    chromium.#folder = mkdtempSync(join(tmpdir(), 'steersman-browser-'));
    const profile = `--user-data-dir=${chromium.#folder}`;
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
    const path = process.env.CHROMIUM ?? 'chromium';
    chromium.#process = spawn(path, [...ARGUMENTS, profile, 'about:blank'], { stdio });
    chromium.#process.stdio[4].setEncoding('utf8');
    chromium.#process.stdio[4].on('data', (text) => chromium.#hear(text));
    chromium.#process.on('exit', () => chromium.#end(new Error('chromium has ended')));
    chromium.#process.on('error', (error) => chromium.#end(error));
    chromium.version = (await chromium.send('Browser.getVersion')).product;
    return chromium;
  }

  #end(error) {
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }

  #hear(text) {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) this.#take(JSON.parse(part));
  }

  #take(message) {
    if (message.id === undefined) {
      for (const tell of this.#listeners.get(message.sessionId) ?? []) {
        tell(message.method, message.params);
      }
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.fail(new Error(`${waiting.method}: ${message.error.message}`));
    else waiting?.done(message.result);
  }

  send(method, params = {}, sessionId) {
    const id = this.#next++;
    const text = JSON.stringify({ id, method, params, sessionId });
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${method}: no answer`)), TIMEOUT_MS * 4);
      const settle = (call) => (value) => {
        clearTimeout(timer);
        call(value);
      };
      this.#waiting.set(id, { method, done: settle(done), fail: settle(fail) });
      this.#process.stdio[3].write(`${text}\0`);
    });
  }

  listen(sessionId, tell) {
    const listeners = this.#listeners.get(sessionId) ?? [];
    this.#listeners.set(sessionId, [...listeners, tell]);
  }

  /** A page in a context of its own: nothing of other pages is stored there. */
  async page({ width = 1360, height = 850, dark = false } = {}) {
    const { browserContextId } = await this.send('Target.createBrowserContext');
    const { targetId } = await this.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
    });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, browserContextId);
    await page.begin({ width, height, dark });
    return page;
  }

  async close() {
    const ended = new Promise((done) => this.#process.once('exit', done));
    await this.send('Browser.close').catch(() => undefined);
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  /** What went wrong in the page: exceptions, console errors, refusals of its content policy. */
  problems = [];
  /** Requests that the page made. */
  requests = [];

  constructor(chromium, sessionId, contextId) {
    this.chromium = chromium;
    this.sessionId = sessionId;
    this.contextId = contextId;
    chromium.listen(sessionId, (method, params) => this.#hear(method, params));
  }

  send(method, params) {
    return this.chromium.send(method, params, this.sessionId);
  }

  async begin({ width, height, dark }) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    await this.resize(width, height);
    await this.emulate({ dark });
  }

  #hear(method, params) {
    if (method === 'Runtime.exceptionThrown') {
      const { text, exception } = params.exceptionDetails;
      this.problems.push(`exception: ${exception?.description ?? text}`);
    } else if (method === 'Log.entryAdded' && params.entry.level === 'error') {
      this.problems.push(`${params.entry.source}: ${params.entry.text}`);
    } else if (method === 'Runtime.consoleAPICalled' && params.type === 'error') {
      this.problems.push(
        `console: ${params.args.map((it) => it.value ?? it.description).join(' ')}`,
      );
    } else if (method === 'Page.javascriptDialogOpening') {
      this.problems.push(`dialog: ${params.message}`);
      void this.send('Page.handleJavaScriptDialog', { accept: false });
    } else if (method === 'Network.requestWillBeSent') {
      this.requests.push(params.request.url);
    }
  }

  async resize(width, height) {
    const mobile = width < 600;
    const scale = { deviceScaleFactor: 1, mobile };
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, ...scale });
  }

  async emulate({ dark = false, still = false }) {
    const features = [
      { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: still ? 'reduce' : 'no-preference' },
    ];
    await this.send('Emulation.setEmulatedMedia', { features });
  }

  async open(url) {
    await this.send('Page.navigate', { url });
    await this.until(() => document.readyState === 'complete');
  }

  /** Runs a function in the page with arguments that JSON can hold. */
  async run(what, ...given) {
    const expression = `(${what})(...${JSON.stringify(given)})`;
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      // What the page may not do, tests may not do in its place.
      allowUnsafeEvalBlockedByCSP: false,
      returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Waits until a function in the page gives something true, and gives it. */
  async until(what, ...given) {
    const begun = Date.now();
    for (;;) {
      const value = await this.run(what, ...given).catch((error) => {
        if (!String(error).includes('context')) throw error;
        return null;
      });
      if (value) return value;
      if (Date.now() - begun > TIMEOUT_MS) {
        const shown = await this.run(() => document.body?.innerText.slice(0, 1500));
        throw new Error(`waited in vain for ${what} ${JSON.stringify(given)}; shown:\n${shown}`);
      }
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  text(selector) {
    return this.run((it) => document.querySelector(it)?.textContent ?? null, selector);
  }

  async waitForText(selector, part) {
    return this.until(
      (at, wanted) =>
        [...document.querySelectorAll(at)].some((it) => it.textContent.includes(wanted)),
      selector,
      part,
    );
  }

  /** Clicks with the mouse in the middle of the first match whose text has this part. */
  async click(selector, part = '') {
    const place = await this.until(
      async (at, wanted) => {
        const found = [...document.querySelectorAll(at)].find((it) =>
          it.textContent.includes(wanted),
        );
        if (!found || found.disabled) return null;
        found.scrollIntoView({ block: 'center' });
        const place = () => {
          const box = found.getBoundingClientRect();
          return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        };
        const before = place();
        // The page may be moving to where an earlier click has led.
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
        const { x, y } = place();
        return x === before.x && y === before.y && found.isConnected ? before : null;
      },
      selector,
      part,
    );
    const button = { ...place, button: 'left', clickCount: 1 };
    await this.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...button });
    await this.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...button });
  }

  async key(key, code = key) {
    const text = key.length === 1 ? { text: key } : key === 'Enter' ? { text: '\r' } : {};
    const numbers = {
      Enter: 13,
      Tab: 9,
      ArrowDown: 40,
      ArrowUp: 38,
      End: 35,
      Home: 36,
      ArrowRight: 39,
    };
    const windowsVirtualKeyCode = numbers[key] ?? key.toUpperCase().charCodeAt(0);
    const event = { key, code, windowsVirtualKeyCode };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...text });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async type(selector, text) {
    await this.until((it) => document.querySelector(it) !== null, selector);
    await this.run((it) => document.querySelector(it).focus(), selector);
    await this.send('Input.insertText', { text });
  }

  async screenshot(path) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  async close() {
    await this.chromium.send('Target.disposeBrowserContext', { browserContextId: this.contextId });
  }
}
