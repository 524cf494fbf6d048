// owner: execFile calls back once, with the failure to start it too; bounded in time
import { execFile } from 'node:child_process';
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

/** What a service says it runs with: the output of a command, which is started without a shell. */
export class RunningConfig {
  readonly #command: readonly string[];
  readonly #maxBytes: number;
  readonly #output = new Shared<string>({ keepMs: KEEP_MS, keepFailureMs: KEEP_MS });
  #last: RunningSettings | undefined;

  constructor(command: readonly string[], { maxBytes }: { maxBytes: number }) {
    this.#command = command;
    this.#maxBytes = maxBytes;
  }

  /** The last comparison, while the next one is made: a health check cannot wait for a command. */
  lastWith(onDisk: FlattenedConfig, thread: ConfigThread): RunningSettings | undefined {
    void unneeded(this.compareWith(onDisk, thread)); // a request for the settings reports it
    return this.#last;
  }

  /** Compares the keys that both have, by what their values mean. A command that fails is a part of the answer. */
  async compareWith(onDisk: FlattenedConfig, thread: ConfigThread): Promise<RunningSettings> {
    this.#last = await this.#compareWith(onDisk, thread);
    return this.#last;
  }

  async #compareWith(onDisk: FlattenedConfig, thread: ConfigThread): Promise<RunningSettings> {
    try {
      const { file, unitless } = parseOutput(await this.#output.run(() => this.#run()));
      const { settings } = await thread.run('view', [file]);
      return compare(onDisk, settings, unitless);
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      return { state: 'failed', detail: errorMessage(error), comparedKeys: 0, differences: [] };
    }
  }

  /** Its output may have secrets in it, so no part of it is in an error. */
  #run(): Promise<string> {
    const [program = '', ...args] = this.#command;
    const env = { ...process.env, LC_ALL: 'C' };
    const limits = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: this.#maxBytes } as const;
    return new Promise((resolve, reject) => {
      const child = execFile(program, args, { ...limits, env, encoding: 'utf8' }, (error, stdout) => {
        if (!error) resolve(stdout);
        else reject(new PortholeError('CONFIG_UNAVAILABLE', `service.config-command: ${program} ${explain(error)}`));
      });
      child.stdin?.end();
    });
  }
}

function explain({ code, killed, signal }: { code?: unknown; killed?: boolean; signal?: string | null }): string {
  if (code === 'ENOENT') return 'was not found';
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'prints more than config.max-bytes';
  if (killed) return `did not end within ${TIMEOUT_MS} ms`;
  return signal ? `was ended by ${signal}` : `failed with ${code}`;
}

interface Output {
  file: ConfigFile;
  /** Values without their unit, by key: 16384 of `shared_buffers`, which are blocks of 8 kB. */
  unitless: ReadonlyMap<string, string>;
}

/**
 * Rows of a name, a value and perhaps a unit, parted by tabs or bars; names and values on lines of their own, in turn;
 * or a configuration in any other format.
 */
function parseOutput(output: string): Output {
  const unitless = new Map<string, string>();
  const lines = output.split(/\r?\n/);
  const separator = ['\t', '|'].find((sign) => lines.filter((line) => line.includes(sign)).length > lines.length / 2);
  let rows: (readonly [name: string, value: string])[] = [];
  if (separator !== undefined) {
    rows = lines.flatMap((line) => {
      const [name = '', value, unit = ''] = line.split(separator).map((cell) => cell.trim());
      if (value === undefined) return [];
      const [, factor, of] = /^\d+$/.test(value) ? (UNIT.exec(unit) ?? []) : [];
      if (of === undefined) return [[name, value]];
      unitless.set(plainName(name), value);
      return [[name, `${Number(value) * Number(factor || 1)}${of}`]];
    });
  } else if (lines.every((line, index) => index % 2 === 1 || /^[\w.-]*$/.test(line))) {
    rows = lines.flatMap((name, index) => (index % 2 === 0 && name !== '' ? [[name, lines[index + 1] ?? '']] : []));
  }
  if (rows.length === 0) return { file: { path: 'running', text: output }, unitless };
  const quoted = (value: string) => (/^[\w.-]+$/.test(value) ? value : JSON.stringify(value));
  const text = rows.map(([name, value]) => `${name} = ${quoted(value)}\n`).join('');
  return { file: { path: 'running', text, format: 'ini' }, unitless };
}

const UNIT = /^(\d*)([kMGT]?B|us|ms|s|min|h|d)$/;

function compare(onDisk: FlattenedConfig, running: FlattenedConfig, unitless: Output['unitless']): RunningSettings {
  const clear = (config: FlattenedConfig) => new Map(config.clear);
  const [diskClear, runningClear] = [clear(onDisk), clear(running)];
  const byName = new Map(running.flat.map((setting) => [plainName(setting.key), setting]));
  const differences: RunningSettings['differences'] = [];
  let comparedKeys = 0;
  for (const { key, value, secret } of onDisk.flat) {
    const found = byName.get(plainName(key)) ?? byName.get(plainName(key.slice(key.lastIndexOf('.') + 1)));
    if (!found) continue;
    comparedKeys++;
    const [left, right] = [diskClear.get(key) ?? value, runningClear.get(found.key) ?? found.value];
    const others = [right, unitless.get(plainName(found.key)) ?? right];
    const isSame = secret ? String(left) === String(right) : others.some((other) => meansSame(left, other));
    if (!isSame) differences.push({ key, onDisk: value, running: found.value });
  }
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
