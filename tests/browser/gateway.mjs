// A real `steersman serve` over loopback, which can be ended and started again at the same place.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long a start may take. Milliseconds. */
const START_MS = 20_000;

export class Gateway {
  #process = null;

  constructor(binary, upstream, settings = '') {
    this.binary = binary;
    this.folder = mkdtempSync(join(tmpdir(), 'steersman-dashboard-'));
    this.state = join(this.folder, 'state');
    this.config = join(this.folder, 'gateway.yaml');
    this.listen = '127.0.0.1:0';
    writeFileSync(
      this.config,
      `state_dir: ${this.state}\nunknown_clients: govern\n` +
        `upstreams:\n  - {base_url: "${upstream}", formats: [openai_chat]}\n${settings}`,
    );
  }

  get page() {
    return `${this.url}/dashboard/`;
  }

  async start(env = {}) {
    this.#process = spawn(
      this.binary,
      ['serve', '--config', this.config, '--listen', this.listen],
      {
        cwd: this.folder,
        env: { ...process.env, XDG_CONFIG_HOME: this.folder, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let said = '';
    const address = await new Promise((done, fail) => {
      const timer = setTimeout(
        () => fail(new Error(`the gateway did not start: ${said}`)),
        START_MS,
      );
      const hear = (text) => {
        said += text;
        const found = /listening on (?:http:\/\/)?([\d.]+:\d+)/.exec(said);
        if (found) {
          clearTimeout(timer);
          done(found[1]);
        }
      };
      this.#process.stdout.setEncoding('utf8').on('data', hear);
      this.#process.stderr.setEncoding('utf8').on('data', hear);
      this.#process.once('exit', () => fail(new Error(`the gateway ended: ${said}`)));
    });
    // After a restart the page looks for it where it was.
    this.listen = address;
    this.url = `http://${address}`;
    return this;
  }

  async stop(signal = 'SIGTERM') {
    const ended = new Promise((done) => this.#process.once('exit', done));
    this.#process.kill(signal);
    await ended;
  }

  async api(path, init) {
    const response = await fetch(`${this.url}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async close() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
