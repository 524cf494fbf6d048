import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { ensurePrograms } from '../../scripts/programs.mjs';

/** How a log is rotated by logrotate, and how its writer takes it. */
interface Variant {
  directives: readonly string[];
  /** Its writer opens it with O_APPEND. */
  appends?: boolean;
  lateMs?: number;
}

const KEPT = 'rotate 500';
const HUP = 'HUP';

/** Names have a second in them: more than one rotation in a second would find its file taken. */
const DATED = ['dateext', 'dateformat -%Y%m%d-%s'];

/** By renaming, and everything stays on disk: nothing may be missing. */
const LOSSLESS: Readonly<Record<string, Variant>> = {
  'create.log': { directives: [KEPT, 'create', HUP] },
  'dateext.log': { directives: [KEPT, 'create', ...DATED, HUP] },
  'compress.log': { directives: [KEPT, 'create', 'compress', HUP] },
  'delaycompress.log': { directives: [KEPT, 'create', 'compress', 'delaycompress', HUP] },
  'dated-compress.log': { directives: [KEPT, 'create', 'compress', ...DATED, HUP] },
  'shared.log': { directives: [KEPT, 'create', 'sharedscripts', HUP] },
  'late.log': { directives: [KEPT, 'create', HUP], lateMs: 300 },
};

/** What is on disk is deleted, moved away or truncated while it is read: what is missing then must be reported. */
const LOSSY: Readonly<Record<string, Variant>> = {
  'one.log': { directives: ['rotate 1', 'create', HUP] },
  'olddir.log': { directives: [KEPT, 'create', 'olddir old', HUP] },
  'copytruncate.log': { directives: [KEPT, 'copytruncate'] },
  'copytruncate-compress.log': { directives: [KEPT, 'copytruncate', 'compress'] },
  'copytruncate-one.log': { directives: ['rotate 1', 'copytruncate'] },
  'no-append.log': { directives: [KEPT, 'copytruncate'], appends: false },
};

/** FOLLOW_VARIANTS, a regular expression, chooses among them by their names. */
const VARIANTS = Object.fromEntries(
  Object.entries({ ...LOSSLESS, ...LOSSY }).filter(([name]) =>
    new RegExp(process.env.FOLLOW_VARIANTS ?? '').test(name),
  ),
);

/** A directory of logs that a process writes and logrotate rotates. */
export class RotatedLogs {
  readonly dir: string;
  readonly names = Object.keys(VARIANTS);
  readonly #config: string;
  readonly #state: string;
  readonly #logrotate: string;
  #writer: ReturnType<typeof spawn> | undefined;
  rotations = 0;

  constructor(cwd: string) {
    this.dir = join(cwd, 'logs');
    this.#config = join(cwd, 'logrotate.conf');
    this.#state = join(cwd, 'logrotate.state');
    this.#logrotate = ensurePrograms(['logrotate']).get('logrotate') ?? 'logrotate';
    mkdirSync(join(this.dir, 'old'), { recursive: true, mode: 0o700 });
    for (const name of this.names) writeFileSync(join(this.dir, name), '', { mode: 0o600 });
  }

  /** The process that writes so many lines a second into each. */
  async write(rate: number): Promise<void> {
    const specs = Object.entries(VARIANTS).map(([name, { appends = true, lateMs = 0 }]) => ({ name, appends, lateMs }));
    const script = join(import.meta.dirname, 'rotation-writer.mjs');
    const args = [script, this.dir, String(rate), JSON.stringify(specs)];
    const writer = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => {
      writer.kill('SIGKILL');
    });
    this.#writer = writer;
    await once(writer.stdout, 'data');
    writeFileSync(this.#config, this.#configText(writer.pid ?? 0), { mode: 0o600 });
  }

  async rotate(): Promise<void> {
    await promisify(execFile)(this.#logrotate, ['--force', '--state', this.#state, this.#config]);
    this.rotations++;
  }

  /** Ends the writing; how many lines each log got. */
  async stop(): Promise<Readonly<Record<string, number>>> {
    const writer = this.#writer;
    if (!writer?.stdout) throw new Error('nothing is written');
    writer.stdin?.end();
    return JSON.parse(await text(writer.stdout)) as Record<string, number>;
  }

  /** Numbers of the lines of a log that can be read in the directory, in whatever file. */
  onDisk(name: string): ReadonlySet<number> {
    const numbers = new Set<number>();
    for (const file of readdirSync(this.dir)) {
      if (!file.startsWith(name)) continue;
      const bytes = readFileSync(join(this.dir, file));
      const content = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
      for (const [, digits] of content.matchAll(/#(\d+)#/g)) numbers.add(Number(digits));
    }
    return numbers;
  }

  #configText(pid: number): string {
    const reopened = join(this.dir, 'old', 'reopened');
    const hup = `rm -f ${reopened}; kill -HUP ${pid}; until [ -e ${reopened} ]; do sleep 0.01; done`;
    const logs = Object.entries(VARIANTS).map(([name, { directives }]) => {
      const lines = directives.map((each) => (each === HUP ? `postrotate\n${hup}\nendscript` : each));
      return `"${join(this.dir, name)}" {\nmissingok\n${lines.join('\n')}\n}`;
    });
    return `${logs.join('\n')}\n`;
  }
}

/** What one client got of one log, by the numbers of its lines. */
export class Ledger {
  last = 0;
  count = 0;
  reports = 0;
  readonly twice: string[] = [];
  readonly missing: { from: number; to: number; isReported: boolean }[] = [];
  #isReported = false;

  /** Something said that lines may be missing here. */
  report(): void {
    this.reports++;
    this.#isReported = true;
  }

  take(content: string): void {
    for (const [, digits] of content.matchAll(/#(\d+)#/g)) this.#number(Number(digits));
  }

  #number(number: number): void {
    if (number <= this.last) {
      this.twice.push(`${number} after ${this.last}`);
      return;
    }
    this.count++;
    if (number > this.last + 1) {
      // What was removed before the follow came to the log was never there for it.
      const isReported = this.#isReported || this.last === 0;
      this.missing.push({ from: this.last + 1, to: number - 1, isReported });
    }
    this.#isReported = false;
    this.last = number;
  }

  /** Lines that are missing although they can be read, or without a word. */
  faults(onDisk: ReadonlySet<number>): string[] {
    const [first] = this.twice;
    const faults = first === undefined ? [] : [`twice: ${first} and ${this.twice.length - 1} more`];
    for (const { from, to, isReported } of this.missing) {
      const kept = numbers(from, to).filter((number) => onDisk.has(number));
      if (kept.length > 0) faults.push(`lost ${from}-${to}: ${kept.length} of them are on disk (${kept[0]}...)`);
      else if (!isReported) faults.push(`lost ${from}-${to} without a word`);
    }
    return faults;
  }
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
