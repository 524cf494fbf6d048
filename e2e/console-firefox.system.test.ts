import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { countedLines, line, startCluster } from './testing/console-cluster.ts';
import { Program } from './testing/program.ts';

/* Debian's Firefox, driven by Marionette, its own protocol. Playwright drives only builds of its own, or newer ones. */

/** Any free port, which it writes into its profile; no pages and downloads of its own. */
const PREFERENCES = [
  ['marionette.port', 0],
  ['browser.startup.page', 0],
  ['datareporting.policy.dataSubmissionEnabled', false],
  ['app.update.disabledForTesting', true],
  ['layout.css.prefers-color-scheme.content-override', 1],
] as const;

type Answer = [type: 1, id: number, error: { message: string } | null, value: { value?: unknown } | null];

/** One window of a Firefox with a profile of its own; closed when the test ends. */
class Firefox {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #lastId = 0;
  readonly #waiting = new Map<number, (answer: Answer) => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (part) => {
      this.#received = Buffer.concat([this.#received, part]);
      this.#take();
    });
  }

  static async start(): Promise<Firefox> {
    const command = ensurePrograms(['firefox-esr']).get('firefox-esr') ?? '';
    const profile = mkdtempSync(join(tmpdir(), 'porthole-firefox-'));
    onTestFinished(() => rmSync(profile, { recursive: true, force: true, maxRetries: 10 }));
    const lines = PREFERENCES.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(profile, 'user.js'), lines.join('\n'));
    const args = ['--headless', '--marionette', '--no-remote', '--profile', profile];
    new Program(args, { cwd: profile, command, env: { HOME: profile } });
    const portFile = join(profile, 'MarionetteActivePort');
    await eventually(() => expect(existsSync(portFile) && readFileSync(portFile, 'utf8')).toMatch(/^\d+/));
    const socket = connect(Number(readFileSync(portFile, 'utf8')), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const firefox = new Firefox(socket);
    await firefox.#send('WebDriver:NewSession', {});
    return firefox;
  }

  async open(url: string): Promise<void> {
    await this.#send('WebDriver:Navigate', { url });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#send('WebDriver:SetWindowRect', { width, height });
  }

  /** The value of an expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const answer = await this.#send('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] });
    return answer?.value as Value;
  }

  /** Types text, or keys by their code points, into what has the focus. */
  async press(key: string): Promise<void> {
    const actions = ['keyDown', 'keyUp'].map((type) => ({ type, value: key }));
    await this.#send('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions }] });
  }

  #send(name: string, parameters: object): Promise<Answer[3]> {
    const id = ++this.#lastId;
    const text = JSON.stringify([0, id, name, parameters]);
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ([, , error, value]) => {
        if (error) reject(new Error(`${name}: ${error.message}`));
        else resolve(value);
      });
    });
  }

  /** Messages are `LENGTH:JSON`; the first one greets. */
  #take(): void {
    for (;;) {
      const colon = this.#received.indexOf(':');
      const length = Number(this.#received.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || this.#received.length < colon + 1 + length) return;
      const message: unknown = JSON.parse(this.#received.subarray(colon + 1, colon + 1 + length).toString());
      this.#received = this.#received.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue;
      const answer = message as Answer;
      this.#waiting.get(answer[1])?.(answer);
      this.#waiting.delete(answer[1]);
    }
  }
}

const ESCAPE = '\uE00C';

/** Every page, and a text that shows that it is there. */
const PAGES = [
  ['/', 'All 2 nodes are up'],
  ['/logs', 'line 7'],
  ['/incidents', 'incident'],
  ['/incidents?from=1h&to=now', 'Before, during, after'],
  ['/config', 'limit'],
  ['/nodes', 'n2'],
  ['/nodes/n1', 'n1'],
] as const;

it('Firefox shows every page, in both widths and themes, and takes keys', async () => {
  const config = (limit: number) => `[query]\nlimit = ${limit}\n`;
  const [{ url }] = await startCluster([
    { files: { 'a.log': countedLines(9) + line(0, 'broken', 'ERROR') }, config: config(100) },
    { files: { 'b.log': countedLines(9) }, config: config(200) },
  ]);
  const firefox = await Firefox.start();
  const colour = (name: string) =>
    firefox.evaluate<string>(`(() => { const own = document.createElement('i'); own.style.color = 'var(--${name})';
      document.body.append(own); const { color } = getComputedStyle(own); own.remove(); return color; })()`);
  for (const [width, theme] of [
    [1280, 'light'],
    [500, 'dark'], // the narrowest window that it has
  ] as const) {
    await firefox.resize(width, 900);
    for (const [path, text] of PAGES) {
      await firefox.open(`${url}${path}`);
      await firefox.evaluate(`localStorage.setItem('porthole.theme', '${theme}')`);
      await eventually(async () => {
        const shown = await firefox.evaluate<string>('document.querySelector("main")?.innerText ?? ""');
        expect(shown, path).toContain(text);
      });
      const [needed, room] = await firefox.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect(needed, path).toBeLessThanOrEqual(room);
      expect(await firefox.evaluate('document.fonts.check("13px Inter")')).toBe(true);
    }
  }
  expect(await colour('bg')).toBe('rgb(13, 17, 23)');
  await firefox.open(`${url}/logs`);
  await eventually(async () =>
    expect(await firefox.evaluate('document.querySelectorAll("#log-rows .row").length')).toBeGreaterThan(5),
  );
  await firefox.press('?');
  await eventually(async () =>
    expect(await firefox.evaluate('document.querySelector("dialog[open] h2")?.innerText')).toBe('Keys'),
  );
  await firefox.press(ESCAPE);
  await eventually(async () => expect(await firefox.evaluate('document.querySelector("dialog[open]")')).toBe(null));
});
