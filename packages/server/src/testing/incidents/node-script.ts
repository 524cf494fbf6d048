import { createHash } from 'node:crypto';
import { EVENT_LEVELS, type EventKind, type SettingJson } from '@porthole/contract';
import type { Level } from '@porthole/logs';
import type { GeneratedConfig, GeneratedNode } from './incident.ts';
import { fill, type Words } from './words.ts';

/** A pattern is new only if so much of the past is known. */
const LEARN_MS = 600_000;

/** Errors within a minute that are a burst, and for how long there is no second one. */
const BURST_ERRORS = 8;
const BURST_PAUSE_MS = 1_800_000;

export type LogFormat = 'zap' | 'json' | 'plain' | 'logback';

export type SettingValues = Readonly<Record<string, SettingJson>>;

export interface NodeScriptOptions {
  id: string;
  format: LogFormat;
  logName: string;
  version: string;
  settings: SettingValues;
  words: Words;
}

interface Line {
  timeMs: number;
  level: Level;
  source: string;
  /** The text it was made of. */
  pattern: string;
  message: string;
  fields: Readonly<Record<string, string>>;
  trace: readonly string[];
}

export interface LineText {
  level: Level;
  source: string;
  /** A text with placeholders; what stands after ` | ` are fields: `flushed | shard={shard} took={ms:8}`. */
  text: string;
  /** Lines of a stack trace. */
  trace?: readonly string[];
}

/** What one node writes, in any order. */
export class NodeScript {
  readonly id: string;
  readonly #options: NodeScriptOptions;
  readonly #lines: Line[] = [];
  readonly #events: { timeMs: number; text: string }[] = [];
  readonly #configs: GeneratedConfig[] = [];
  readonly #down: { fromMs: number; toMs: number }[] = [];
  readonly #steps: { atMs: number; byMs: number }[] = [];
  readonly #rates: { fromMs: number; toMs: number; factor: number }[] = [];
  #settings: SettingValues;
  #configVersion = '';
  #version: string;
  #pid: number;
  #startedMs = 0;
  #isStopped = false;
  #rotations: number[] = [];

  constructor(options: NodeScriptOptions) {
    this.#options = options;
    this.id = options.id;
    this.#settings = options.settings;
    this.#version = options.version;
    this.#pid = 800 + Math.floor(options.words.random() * 30_000);
  }

  /** The start of its current run identifies it. */
  get run(): number {
    return this.#startedMs;
  }

  get words(): Words {
    return this.#options.words;
  }

  line(timeMs: number, { level, source, text, trace = [] }: LineText, known: Readonly<Record<string, string>> = {}) {
    const [message = '', fields = ''] = fill(text, this.words, known).split(' | ');
    const pairs = fields === '' ? [] : fields.split(/ (?=\w+=)/).map((pair) => splitPair(pair));
    this.#lines.push({ timeMs, level, source, pattern: text, message, fields: Object.fromEntries(pairs), trace });
  }

  /** How much of the usual traffic there is at this time; 0 while the node is down. */
  rateAt(timeMs: number): number {
    if (this.isDownAt(timeMs)) return 0;
    return this.#rates.reduce((rate, { fromMs, toMs, factor }) => {
      return timeMs >= fromMs && timeMs < toMs ? rate * factor : rate;
    }, 1);
  }

  isDownAt(timeMs: number): boolean {
    return this.#down.some(({ fromMs, toMs }) => timeMs >= fromMs && timeMs < toMs);
  }

  setRate(fromMs: number, toMs: number, factor: number): void {
    this.#rates.push({ fromMs, toMs, factor });
  }

  /** Its first start, usually long before what is known of it. */
  begin(timeMs: number): void {
    this.#startedMs = timeMs;
    this.#down.push({ fromMs: Number.NEGATIVE_INFINITY, toMs: timeMs });
    this.#applyConfig(this.#settings);
    this.#writeStarted(timeMs);
  }

  event(timeMs: number, kind: EventKind, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const time = new Date(this.#clock(timeMs)).toISOString();
    const text = JSON.stringify({ time, level: EVENT_LEVELS[kind], message, kind, ...fields });
    this.#events.push({ timeMs, text: `${text}\n` });
  }

  /** The file of the service was edited while it ran; a node compares every five seconds. */
  changeConfig(timeMs: number, changes: SettingValues): void {
    const before = this.#configVersion;
    this.#applyConfig({ ...this.#settings, ...changes });
    this.#writeConfigChanged(timeMs, { changes, before, how: 'edit' });
  }

  stop(timeMs: number): void {
    this.event(timeMs, 'stopped', 'the node stopped');
    this.#isStopped = true;
    this.#down.push({ fromMs: timeMs, toMs: Number.POSITIVE_INFINITY });
  }

  /** It ends without a word; the next start reports it. */
  kill(timeMs: number): void {
    this.#down.push({ fromMs: timeMs, toMs: Number.POSITIVE_INFINITY });
  }

  start(
    timeMs: number,
    {
      version = this.#version,
      changes,
      isReboot = false,
    }: { version?: string; changes?: SettingValues; isReboot?: boolean } = {},
  ): void {
    const last = this.#down.at(-1);
    if (!last) throw new Error(`${this.id} is not down`);
    last.toMs = timeMs;
    const aliveMs = last.fromMs - Math.floor(this.words.random() * 2000);
    if (!this.#isStopped)
      this.event(
        aliveMs,
        'killed',
        `the node ended without stopping: ${isReboot ? 'the machine was restarted' : 'the process was killed or crashed'}`,
        {
          pid: this.#pid,
          startedMs: this.#startedMs,
          uncertaintyMs: 2000,
          isReboot,
          cause: `killed ${this.#startedMs} ${this.#pid}`,
        },
      );
    this.#isStopped = false;
    this.#pid += 1 + Math.floor(this.words.random() * 900);
    this.#startedMs = timeMs;
    if (version !== this.#version)
      this.event(timeMs, 'version-changed', `the version changed from ${this.#version} to ${version}`, {
        before: this.#version,
        version,
      });
    this.#version = version;
    const before = this.#configVersion;
    this.#applyConfig({ ...this.#settings, ...changes });
    if (changes) this.#writeConfigChanged(timeMs, { changes, before, how: 'restart' });
    this.#writeStarted(timeMs + 20);
  }

  /** From then on the clock of the node is wrong by this much more. */
  stepClock(timeMs: number, byMs: number): void {
    this.#steps.push({ atMs: timeMs, byMs });
    const seconds = Math.abs(byMs) / 1000;
    this.event(timeMs + 1000, 'clock-stepped', `the clock was set ${byMs > 0 ? 'forward' : 'back'} by ${seconds} s`, {
      stepMs: byMs,
      beforeMs: timeMs + 1000,
    });
  }

  /** The log is rotated at this time. */
  rotate(timeMs: number): void {
    this.#rotations.push(timeMs);
  }

  /** Adds the events of a node that watches its logs, about the errors written since then. */
  watchErrors(sinceMs: number): void {
    const { logName: log } = this.#options;
    const errors = this.#lines.filter(({ level, timeMs }) => level === 'ERROR' && !this.isDownAt(timeMs));
    errors.sort((a, b) => a.timeMs - b.timeMs);
    const known = new Set<string>();
    let burstMs = 0;
    for (const [index, { timeMs, source, pattern, message }] of errors.entries()) {
      const isNew = !known.has(pattern);
      known.add(pattern);
      if (timeMs < sinceMs + LEARN_MS) continue;
      const record = { cursor: this.words.hex(24), file: log, timeMs: this.#clock(timeMs), message };
      const since = new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ');
      if (isNew)
        this.event(timeMs, 'new-pattern', `a new error in ${log}, not seen since ${since} UTC: ${message}`, {
          ...{ log, pattern: { level: 'ERROR', source }, count: 1, knownSinceMs: sinceMs, record },
          cause: `pattern ERROR ${source}`,
        });
      const count = errors.slice(index).findIndex((later) => later.timeMs > timeMs + 60_000);
      if (count < BURST_ERRORS || timeMs < burstMs) continue;
      burstMs = timeMs + BURST_PAUSE_MS;
      const usual = { usualPerMinute: 0.4, mostPerMinute: 3, knownMinutes: Math.floor((timeMs - sinceMs) / 60_000) };
      const text = `${count} errors in ${log} within a minute, usually 0.4, at most 3: ${message}`;
      this.event(timeMs, 'log-burst', text, {
        ...{ log, errors: count, ...usual, record },
        cause: `burst ${log} ${record.cursor}`,
      });
    }
  }

  finish(): GeneratedNode {
    const { id, format, logName } = this.#options;
    const kept = this.#lines.filter(({ timeMs }) => !this.isDownAt(timeMs)).sort((a, b) => a.timeMs - b.timeMs);
    const logs: Record<string, string> = {};
    let fromMs = Number.NEGATIVE_INFINITY;
    const ends = [...this.#rotations.sort((a, b) => a - b), Number.POSITIVE_INFINITY];
    for (const [index, toMs] of ends.entries()) {
      const part = kept.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);
      const age = ends.length - 1 - index;
      const name = age === 0 ? logName : `${logName}.${age}`;
      logs[name] = part.map((line) => LINES[format]({ ...line, timeMs: this.#clock(line.timeMs) })).join('');
      fromMs = toMs;
    }
    const isDown = this.#down.some(({ toMs }) => toMs === Number.POSITIVE_INFINITY);
    const events = this.#events.sort((a, b) => a.timeMs - b.timeMs).map(({ text }) => text);
    return { id, logs, events: events.join(''), configs: this.#configs, isDown };
  }

  #clock(timeMs: number): number {
    return this.#steps.reduce((ms, { atMs, byMs }) => (timeMs >= atMs ? ms + byMs : ms), Math.round(timeMs));
  }

  #applyConfig(settings: SettingValues): void {
    this.#settings = settings;
    const config = toToml(settings);
    const stored = { config, settings: Object.entries(settings).map(([key, value]) => ({ key, value })) };
    this.#configVersion = createHash('sha256').update(JSON.stringify(stored)).digest('hex').slice(0, 16);
    if (!this.#configs.some((known) => known.config === config)) this.#configs.push(stored);
  }

  #writeConfigChanged(
    timeMs: number,
    { changes, before, how }: { changes: SettingValues; before: string; how: 'edit' | 'restart' },
  ): void {
    const keys = Object.keys(changes);
    const more = keys.length - 3;
    const named = `${keys.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const since = how === 'restart' ? ' while the node was down' : '';
    this.event(timeMs, 'config-changed', `the configuration of the service changed${since}: ${named}`, {
      config: this.#configVersion,
      before,
      how,
      keys: keys.slice(0, 20),
      changed: keys.length,
    });
  }

  #writeStarted(timeMs: number): void {
    this.event(timeMs, 'started', `the node started, version ${this.#version}`, {
      version: this.#version,
      pid: this.#pid,
      config: this.#configVersion,
    });
  }
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

const LINES: Readonly<Record<LogFormat, (line: Line) => string>> = {
  zap({ timeMs, level, source, message, fields, trace }) {
    const context =
      Object.keys(fields).length === 0 ? '' : `\t${JSON.stringify(toJson(fields)).replaceAll('":', '": ')}`;
    return `${new Date(timeMs).toISOString()}\t${level}\t${source}\t${message}${context}\n${traceText(trace)}`;
  },
  json({ timeMs, level, source, message, fields, trace }) {
    const stack = trace.length > 0 ? { stack: trace.join('\n') } : {};
    const ts = new Date(timeMs).toISOString();
    return `${JSON.stringify({ ts, level: level.toLowerCase(), logger: source, msg: message, ...toJson(fields), ...stack })}\n`;
  },
  plain({ timeMs, level, source, message, fields, trace }) {
    const time = new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');
    return `${time} ${level.padEnd(5)} [${source}] ${message}${pairsText(fields)}\n${traceText(trace)}`;
  },
  logback({ timeMs, level, source, message, fields, trace }) {
    const time = new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '').replace('.', ',');
    const thread = `exec-${timeMs % 16}`;
    return `${time} ${level.padEnd(5)} [${thread}] ${source} - ${message}${pairsText(fields)}\n${traceText(trace)}`;
  },
};

function pairsText(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${/[\s"]/.test(value) ? JSON.stringify(value) : value}`)
    .join('');
}

function toJson(fields: Readonly<Record<string, string>>): Record<string, string | number> {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    /^\d{1,9}$/.test(value) ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function traceText(trace: readonly string[]): string {
  return trace.map((line) => `${line}\n`).join('');
}

function toToml(settings: SettingValues): string {
  const tables = new Map<string, string[]>();
  for (const [key, value] of Object.entries(settings)) {
    const at = key.lastIndexOf('.');
    const table = key.slice(0, Math.max(0, at));
    tables.set(table, [...(tables.get(table) ?? []), `${key.slice(at + 1)} = ${JSON.stringify(value)}`]);
  }
  return [...tables].map(([table, lines]) => `${table === '' ? '' : `[${table}]\n`}${lines.join('\n')}\n`).join('\n');
}
