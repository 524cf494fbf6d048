import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type EventKind, parseJson } from '@porthole/contract';
import { type PartialSettings, startNode } from '@porthole/server';

const MINUTE_MS = 60_000;

/** A record is due in this time, so that the last one is from before the end. */
const LAST_MS = 6000;

/** The incident that a demo cluster has behind it, so that there is something to find out. */
export interface DemoIncident {
  /** The node on which a setting was changed, and one that suffered from it. */
  origin: string;
  reached: string;
  /** Since when the node ran that was killed. */
  startedMs: number;
  changedMs: number;
  failsMs: number;
  spreadsMs: number;
  killedMs: number;
  backMs: number;
}

export function demoIncident(nodes: readonly { id: string }[], nowMs: number): DemoIncident | undefined {
  const [, origin, reached] = nodes;
  if (!origin) return undefined;
  const killedMs = nowMs - 14 * MINUTE_MS;
  return {
    origin: origin.id,
    reached: (reached ?? nodes[0] ?? origin).id,
    startedMs: killedMs - 300 * MINUTE_MS,
    changedMs: killedMs - 8 * MINUTE_MS,
    failsMs: killedMs - 6 * MINUTE_MS,
    spreadsMs: killedMs - 3 * MINUTE_MS,
    killedMs,
    backMs: killedMs + 90_000,
  };
}

/** What a node logs of it at some time: with this probability, a record of this kind. */
export function incidentRecord(
  { origin, reached, failsMs, spreadsMs, killedMs, backMs }: DemoIncident,
  { id, timeMs }: { id: string; timeMs: number },
): { likely: number; kind: 'append-failed' | 'replica-failed' | 'down' } | undefined {
  if (id === origin && timeMs >= killedMs - LAST_MS && timeMs < backMs) return { likely: 1, kind: 'down' };
  if (id === origin && timeMs >= failsMs) return { likely: timeMs < killedMs ? 0.8 : 0.02, kind: 'append-failed' };
  if (id === reached && timeMs >= spreadsMs && timeMs < backMs) return { likely: 0.4, kind: 'replica-failed' };
  return undefined;
}

interface PastNode {
  id: string;
  /** The log that has its errors. */
  log: string;
  /** As it is started later, and its configuration before and after the change. */
  settings: PartialSettings;
  configFile: string;
  before: string;
  after: string;
}

interface OtherNode extends Pick<PastNode, 'id' | 'log'> {
  /** The file of its events. */
  events: string;
}

/**
 * Writes the events of the incident. Its node runs twice for a moment, with the old and the new configuration, so that both are
 * in its history; then the times are set back.
 */
export async function writePast(node: PastNode, others: readonly OtherNode[], incident: DemoIncident): Promise<void> {
  const { changedMs, failsMs, killedMs, backMs } = incident;
  for (const config of [node.before, node.after]) {
    writeFileSync(node.configFile, config);
    const running = await startNode({ settings: node.settings, flags: { 'http.port': '0', 'grpc.port': '0' } });
    await running.stop();
  }
  const path = eventsFile(node.settings);
  const written = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => (parseJson(line) as WrittenEvent) ?? []);
  const of = (kind: EventKind, timeMs: number, more: object = {}) =>
    written
      .filter((event) => event.kind === kind)
      .slice(0, 1)
      .map((event) => ({ ...event, time: iso(timeMs), ...more }));
  const last = written.findLast(({ kind }) => kind === 'started');
  const events = [
    ...of('started', incident.startedMs),
    ...of('config-changed', changedMs, {
      how: 'edit',
      message: 'the configuration of the service changed: storage.wal.volume',
    }),
    ...writeErrors(node.log, { fromMs: failsMs, isBurst: true }),
    {
      ...{ time: iso(killedMs), level: 'ERROR', kind: 'killed', uncertaintyMs: 2000, run: incident.startedMs },
      message: 'the node ended without stopping: the process was killed or crashed',
    },
    { ...last, time: iso(backMs) },
  ];
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  for (const other of others) writeSeen(other.events, node.id, incident);
  const reached = others.find(({ id }) => id === incident.reached);
  if (reached) append(reached.events, writeErrors(reached.log, { fromMs: incident.spreadsMs, isBurst: false }));
}

/** A line of the log of a demo node: time, level, source, tags and message, context. */
const ERROR_LINE = /^(\S+ \S+)\t(ERROR|FATAL)\t((?:wal|replica\/follower)\S*)\t[^:]*: ([^\t]*)/;

/** What a node notes of errors that its log had not before: each of them, and that there are many. */
function writeErrors(path: string, { fromMs, isBurst }: { fromMs: number; isBurst: boolean }): object[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const errors = lines.flatMap((line) => {
    const [, time = '', level = '', source = '', message = ''] = ERROR_LINE.exec(line) ?? [];
    const timeMs = Date.parse(time.replace(' ', 'T'));
    return timeMs >= fromMs ? [{ timeMs, level, source, message }] : [];
  });
  const log = basename(path);
  const firsts = errors.filter(({ source }, at) => errors.findIndex((error) => error.source === source) === at);
  const events: object[] = firsts.map(({ timeMs, level, source, message }) => ({
    ...{ time: iso(timeMs), level: 'WARN', kind: 'new-pattern', message: `a new error in ${log}: ${message}` },
    ...{ log, pattern: { level, source }, count: 1, record: { file: log, timeMs, message } },
  }));
  const [first] = errors;
  if (!first || !isBurst) return events;
  const { timeMs, message } = first;
  const count = errors.filter((error) => error.timeMs < timeMs + MINUTE_MS).length;
  const burst = {
    ...{ time: iso(timeMs), level: 'ERROR', kind: 'log-burst', log, errors: count, usualPerMinute: 0 },
    ...{ message: `${count} errors in ${log} within a minute: ${message}`, record: { file: log, timeMs, message } },
  };
  return [burst, ...events];
}

function append(path: string, events: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

interface WrittenEvent {
  kind: EventKind;
}

/** What another node has seen of it. */
function writeSeen(path: string, member: string, { startedMs, killedMs, backMs }: DemoIncident): void {
  const lost = { member, run: startedMs, lastSignMs: killedMs, firstFailureMs: killedMs + 400, uncertaintyMs: 400 };
  const seen = [
    {
      ...{ time: iso(killedMs + 400), level: 'ERROR', kind: 'member-lost', ...lost },
      message: `${member} was lost: the connection was closed`,
    },
    {
      time: iso(backMs + 900),
      level: 'INFO',
      message: `${member} is back: it was restarted`,
      kind: 'member-back',
      member,
      run: backMs,
      isRestarted: true,
      awayMs: backMs + 900 - killedMs,
    },
  ];
  append(path, seen);
}

/** Where a node with these settings keeps its events. */
export function eventsFile({ logging }: PartialSettings): string {
  const dir = logging?.dir ?? '';
  return join(dirname(dir), 'events', dir.slice(dirname(dir).length + 1), 'events.log');
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
