// owner: its errors and its end are waited for; bounded in time, with all that it has started
import { spawn } from 'node:child_process';
import {
  canonicalValue,
  errorMessage,
  PortholeError,
  type RunningSettings,
  type SettingJson,
} from '@porthole/contract';
import { Shared, unneeded } from '@porthole/logs/shared';
import type { ConfigThread } from './config-thread.ts';
import type { ConfigFile, FlattenedConfig } from './config-view.ts';

const TIMEOUT_MS = 10_000;

/** Pages and checks ask often; the command may connect to the service each time. */
const KEEP_MS = 2000;

/** Checks of health come every few seconds, for ever, and only name what a request for the settings shows. */
const CHECK_KEEP_MS = 60_000;

/** What a service says it runs with: the output of a command, which is started without a shell. */
export class RunningConfig {
  readonly #command: readonly string[];
  readonly #maxBytes: number;
  readonly #output = new Shared<string>({ keepMs: KEEP_MS, keepFailureMs: KEEP_MS });
  #last: RunningSettings | undefined;
  #nextCheckMs = 0;

  constructor(command: readonly string[], { maxBytes }: { maxBytes: number }) {
    this.#command = command;
    this.#maxBytes = maxBytes;
  }

  /** The last comparison, while the next one is made: a health check cannot wait for a command. */
  lastWith(onDisk: FlattenedConfig, thread: ConfigThread): RunningSettings | undefined {
    if (performance.now() >= this.#nextCheckMs) void unneeded(this.compareWith(onDisk, thread)); // a request reports it
    return this.#last;
  }

  /** Compares the keys that both have, by what their values mean. A command that fails is a part of the answer. */
  async compareWith(onDisk: FlattenedConfig, thread: ConfigThread): Promise<RunningSettings> {
    this.#nextCheckMs = performance.now() + CHECK_KEEP_MS;
    this.#last = await this.#compareWith(onDisk, thread);
    return this.#last;
  }

  async #compareWith(onDisk: FlattenedConfig, thread: ConfigThread): Promise<RunningSettings> {
    try {
      const { file, ...rows } = parseOutput(await this.#output.run(() => this.#run()));
      const { settings } = await thread.run('view', [file]);
      return compare(onDisk, settings, rows);
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      return { state: 'failed', detail: errorMessage(error), comparedKeys: 0, differences: [] };
    }
  }

  /**
   * Its output may have secrets in it, so no part of it is in an error. Ends with what it has started: it is a group of
   * processes of its own.
   */
  async #run(): Promise<string> {
    const [program = '', ...args] = this.#command;
    const env = { ...process.env, LC_ALL: 'C' };
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    const kill = () => child.pid !== undefined && killGroup(child.pid);
    let failure: string | undefined;
    const fail = (reason: string) => {
      failure ??= reason;
      kill();
    };
    const timer = setTimeout(() => fail(`did not end within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > this.#maxBytes) fail('prints more than config.max-bytes');
    });
    child.once('exit', kill);
    try {
      await new Promise<void>((resolve) => {
        child.once('error', (error: NodeJS.ErrnoException) => {
          failure ??= error.code === 'ENOENT' ? 'was not found' : `failed with ${error.code}`;
          resolve();
        });
        child.once('close', (code, signal) => {
          if (code !== 0) failure ??= signal ? `was ended by ${signal}` : `failed with ${code}`;
          resolve();
        });
      });
    } finally {
      clearTimeout(timer);
    }
    if (failure === undefined) return Buffer.concat(chunks).toString('utf8');
    throw new PortholeError('CONFIG_UNAVAILABLE', `service.config-command: ${program} ${failure}`);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // All of them have ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

interface Output {
  file: ConfigFile;
  /** Values without their unit, by key: 16384 of `shared_buffers`, which are blocks of 8 kB. */
  unitless: ReadonlyMap<string, string>;
  /** Keys that the service says it has from its files, which ours need not all be: PostgreSQL's `source` of a setting. */
  fromFiles: ReadonlySet<string>;
}

/**
 * Rows of a name, a value and perhaps a unit, parted by tabs or bars; names and values on lines of their own, in turn;
 * or a configuration in any other format.
 */
function parseOutput(output: string): Output {
  const unitless = new Map<string, string>();
  const fromFiles = new Set<string>();
  const lines = output.split(/\r?\n/);
  const separator = ['\t', '|'].find((sign) => lines.filter((line) => line.includes(sign)).length > lines.length / 2);
  let rows: (readonly [name: string, value: string])[] = [];
  if (separator !== undefined) {
    rows = lines.flatMap((line) => {
      const [name = '', value, unit = '', source] = line.split(separator).map((cell) => cell.trim());
      if (value === undefined) return [];
      if (source === 'configuration file') fromFiles.add(plainName(name));
      const [, factor, of] = /^\d+$/.test(value) ? (UNIT.exec(unit) ?? []) : [];
      if (of === undefined) return [[name, value]];
      unitless.set(plainName(name), value);
      return [[name, `${Number(value) * Number(factor || 1)}${of}`]];
    });
  } else if (lines.every((line, index) => index % 2 === 1 || /^[\w.-]*$/.test(line))) {
    rows = lines.flatMap((name, index) => (index % 2 === 0 && name !== '' ? [[name, lines[index + 1] ?? '']] : []));
  }
  if (rows.length === 0) return { file: { path: 'running', text: output }, unitless, fromFiles };
  const quoted = (value: string) => (/^[\w.-]+$/.test(value) ? value : JSON.stringify(value));
  const text = rows.map(([name, value]) => `${name} = ${quoted(value)}\n`).join('');
  return { file: { path: 'running', text, format: 'ini' }, unitless, fromFiles };
}

const UNIT = /^(\d*)([kMGT]?B|us|ms|s|min|h|d)$/;

function compare(
  onDisk: FlattenedConfig,
  running: FlattenedConfig,
  { unitless, fromFiles }: Omit<Output, 'file'>,
): RunningSettings {
  const clear = (config: FlattenedConfig) => new Map(config.clear);
  const [diskClear, runningClear] = [clear(onDisk), clear(running)];
  const byName = new Map(running.flat.map((setting) => [plainName(setting.key), setting]));
  const differences: RunningSettings['differences'] = [];
  const missing = new Set(fromFiles);
  let comparedKeys = 0;
  for (const { key, value, secret } of onDisk.flat) {
    const found = byName.get(plainName(key)) ?? byName.get(plainName(key.slice(key.lastIndexOf('.') + 1)));
    if (!found) continue;
    comparedKeys++;
    missing.delete(plainName(found.key));
    const [left, right] = [diskClear.get(key) ?? value, runningClear.get(found.key) ?? found.value];
    const others = [right, unitless.get(plainName(found.key)) ?? right];
    const isSame = secret ? String(left) === String(right) : others.some((other) => meansSame(left, other));
    if (!isSame) differences.push({ key, onDisk: value, running: found.value });
  }
  for (const { key, value } of running.flat)
    if (missing.has(plainName(key))) differences.push({ key, onDisk: null, running: value });
  return { state: differences.length > 0 ? 'differs' : 'same', detail: null, comparedKeys, differences };
}

/** Options of MySQL are written with dashes or underscores, those of PostgreSQL in any case. */
function plainName(key: string): string {
  return key.replaceAll('"', '').replaceAll('-', '_').toLowerCase();
}

const SIZES: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };

/** In doubt the same: only a value that has no reading in common with the other one is reported. */
function meansSame(onDisk: SettingJson, running: SettingJson): boolean {
  const [left, right] = [readings(onDisk), readings(running)];
  return [...left].some((reading) => right.has(reading));
}

function readings(value: SettingJson): Set<string> {
  // Rows are printed without the blanks around a value, such as the one that ends Debian's log_line_prefix.
  const text = (Array.isArray(value) ? value.join(' ') : String(value)).trim();
  const found = new Set([canonicalValue(text), text.replace(/\/$/, '').replace(/\s+/g, ' ').toLowerCase()]);
  const [, amount, letter = '', bytes] = /^(\d+)([kmgt])(b?)$/i.exec(text) ?? [];
  if (amount !== undefined)
    for (const base of bytes === '' ? [1024, 1000] : [1024])
      found.add(`number ${Number(amount) * base ** (SIZES[letter.toLowerCase()] ?? 0)}`);
  if (/^(?:true|on|yes|1)$/i.test(text)) found.add('switch on');
  if (/^(?:false|off|no|0)$/i.test(text)) found.add('switch off');
  return found;
}
