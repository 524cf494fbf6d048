import { setMaxListeners } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ClusterFollowItem,
  createClient,
  type FollowItem,
  type FollowQuery,
  type SearchItem,
} from '@porthole/client';
import { startCuttingProxy } from '@porthole/client/testing';
import { groupFamilies } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { IS_LONG_RUN, runs, tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Program } from './testing/program.ts';
import { Ledger, RotatedLogs } from './testing/rotated-logs.ts';

/** FOLLOW_TRACE, a directory, gets a file for each client with everything it got: for looking into a fault. */
const { FOLLOW_TRACE } = process.env;

function trace(client: string, item: FollowItem | ClusterFollowItem): void {
  if (FOLLOW_TRACE === undefined) return;
  const { type } = item;
  const shown = type === 'record' ? { file: item.file, offset: item.offset, lines: numbersIn(item.message) } : item;
  appendFileSync(join(FOLLOW_TRACE, client), `${performance.now().toFixed(0)} ${JSON.stringify(shown)}\n`);
}

function numbersIn(content: string): string {
  return Array.from(content.matchAll(/#(\d+)#/g), ([, digits]) => digits).join(',');
}

/** A client that follows some logs, and what it got of each. */
class FollowingClient {
  readonly name: string;
  readonly ledgers: ReadonlyMap<string, Ledger>;
  reconnects = 0;
  failure: unknown;
  readonly #names: readonly string[];

  constructor(name: string, names: readonly string[]) {
    this.name = name;
    this.#names = names;
    this.ledgers = new Map(names.map((each) => [each, new Ledger()]));
  }

  take(items: readonly (FollowItem | ClusterFollowItem)[]): void {
    for (const item of items) {
      trace(this.name, item);
      if (item.type === 'record') this.ledgerFor(item.file)?.take(item.message);
      else if (item.type === 'gap') this.report(item.family);
      else if (item.type === 'truncated') this.report(item.file);
      else if (item.type === 'reconnecting') this.lost();
    }
  }

  lost(): void {
    this.reconnects++;
  }

  /** An empty name stands for all logs. */
  report(name: string): void {
    if (name === '') for (const ledger of this.ledgers.values()) ledger.report();
    else this.ledgerFor(name)?.report();
  }

  ledgerFor(file: string): Ledger | undefined {
    const known = this.ledgers.get(file);
    if (known) return known;
    const [family] = groupFamilies([file, ...this.#names]).filter(({ files }) =>
      files.some(({ name }) => name === file),
    );
    return family && this.ledgers.get(family.name);
  }
}

interface Running {
  client: FollowingClient;
  signal: AbortSignal;
}

/** By the SDK, of one log or of all. `pause` is awaited with each batch. */
function followBySdk(
  url: string,
  query: FollowQuery,
  { client, signal, pause }: Running & { pause?: () => Promise<void> },
): Promise<void> {
  const node = createClient({ url, backoffMs: 50, maxBackoffMs: 500 });
  const run = async () => {
    for await (const items of node.follow(query, { signal })) {
      client.take(items);
      await pause?.();
    }
    if (!signal.aborted) throw new Error('the follow ended by itself');
  };
  return run().catch((error: unknown) => {
    client.failure = error;
  });
}

/** By server-sent events as the docs say: resumes after the ids it saw, loads gaps by search. */
async function followByEvents(url: string, { client, signal }: Running): Promise<void> {
  const ids = new Map<string, string>();
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = ids.size === 0 ? {} : { 'last-event-id': [...ids.values()].join('~') };
      const response = await fetch(`${url}api/v1/log/follow?time=0`, { headers, signal });
      if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
      let buffered = '';
      for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
        const frames = (buffered + part).split('\n\n');
        buffered = frames.pop() ?? '';
        for (const frame of frames) {
          const item = parseData<FollowItem>(frame);
          if (item?.type === 'gap' && item.reason === 'slow') await loadGap(url, item, { client, signal, ids });
          else if (item) client.take([item]);
          const id = /^id: (.*)$/m.exec(frame)?.[1];
          if (item?.type === 'record' && id !== undefined) {
            ids.delete(item.file);
            ids.set(item.file, id);
          }
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Error && /^4\d\d /.test(error.message)) {
        client.failure = error;
        return;
      }
    }
    client.lost();
    // pause: before it connects again
    await delay(100, undefined, { signal }).catch(() => {});
  }
}

async function loadGap(
  url: string,
  { family, after, until }: Extract<FollowItem, { type: 'gap' }>,
  { client, signal, ids }: Running & { ids: Map<string, string> },
): Promise<void> {
  for (let cursor = after; ; ) {
    const query = new URLSearchParams({ family, order: 'oldest', limit: '10000', ...(until && { until }) });
    if (cursor) query.set('cursor', cursor);
    const response = await fetch(`${url}api/v1/log/search?${query}`, { signal });
    if (!response.ok) return client.report(family);
    const items = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SearchItem);
    const end = items.at(-1);
    if (end?.type !== 'end') throw new Error('it broke off');
    if (end.problems.length > 0) client.report(family);
    const records = items.filter((item) => item.type === 'record');
    client.take(records);
    // It continues behind what was loaded, too.
    for (const { file, cursor: id } of records) {
      ids.delete(file);
      ids.set(file, id);
    }
    cursor = end.cursor;
    if (cursor === null) return;
  }
}

function parseData<T>(frame: string): T | undefined {
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  return data === undefined ? undefined : (JSON.parse(data) as T);
}

/** What a program printed so far is joined each time it is read, and nobody waits for these clients before the end. */
const READ_MS = 250;

/** By the CLI, in JSON: everything it says is an item. */
function followByCli(
  url: string,
  names: readonly string[],
  { client, cwd }: { client: FollowingClient; cwd: string },
): Program {
  const args = ['logs', '--follow', '--tail', 'all', '--output', 'json', '--url', url, ...names];
  const program = new Program(args, { cwd });
  let seen = 0;
  const read = () => {
    const end = program.stdout.lastIndexOf('\n') + 1;
    for (const line of program.stdout.slice(seen, end).split('\n'))
      if (line !== '') client.take([JSON.parse(line) as FollowItem]);
    seen = end;
  };
  const timer = setInterval(read, READ_MS);
  onTestFinished(() => clearInterval(timer));
  void program.end().then(({ code, stderr }) => {
    if (code !== null) client.failure = new Error(`the CLI ended with ${code}: ${stderr}`);
  });
  return program;
}

const ROUNDS = runs(6);
const ROUND_MS = 1200;

/** Lines a second, in each log. */
const RATE = 20;

/** After this much, the connection is cut, again and again. */
const CUT_BYTES = 1_000_000;

function serveLogs(cwd: string, port: number): Program {
  const flags = ['--http-port', String(port), '--grpc-port', '0', '--log-dir', 'logs', '--follow-buffer', '64KiB'];
  return new Program(['serve', ...flags], { cwd });
}

test('whatever logrotate does, every client gets every line that is on disk once, and a gap for others', async () => {
  const cwd = tempDir();
  const logs = new RotatedLogs(cwd);
  const [port = 0] = await freePorts(1);
  let node = serveLogs(cwd, port);
  const url = await node.ready();
  const proxy = await startCuttingProxy(port, () => CUT_BYTES);
  const stop = new AbortController();
  const { signal } = stop;
  setMaxListeners(100, signal);
  const clients: FollowingClient[] = [];
  const client = (name: string, names = logs.names) => {
    const made = new FollowingClient(name, names);
    clients.push(made);
    return made;
  };
  const start = { timeMs: 0 } as const;
  let isSlow = true;
  const running = [
    ...logs.names.map((name) =>
      followBySdk(url, { src: [name], start }, { client: client(`SDK ${name}`, [name]), signal }),
    ),
    followBySdk(proxy.url, { start }, { client: client('SDK all, cut'), signal }),
    followBySdk(
      url,
      { start },
      {
        client: client('SDK all, slow'),
        signal,
        pause: async () => {
          // pause: the slowness of a client
          if (isSlow) await delay(2000, undefined, { signal }).catch(() => {});
        },
      },
    ),
    followByEvents(url, { client: client('events'), signal }),
  ];
  const programs = [
    followByCli(url, [], { client: client('CLI all'), cwd }),
    // With rotated files: what a busy node has not read of the live file when it is truncated is only in the copy.
    followByCli(url, ['--rotated', ...logs.names], { client: client('CLI names'), cwd }),
  ];

  await logs.write(RATE);
  // What was never read before a file is truncated is no line that a follow lost.
  await eventually(() =>
    expect(clients.every(({ ledgers }) => [...ledgers.values()].every(({ last }) => last > 0))).toBe(true),
  );
  for (let round = 1; round <= ROUNDS; round++) {
    await delay(ROUND_MS); // pause: the interval of rotations
    if (round % 6 === 0) {
      node.kill('SIGTERM');
      await node.end();
      await logs.rotate();
      // The last file that the clients got is deleted, where one is kept, and the one after it is all that is left.
      await delay(ROUND_MS); // pause: the interval of rotations
      await logs.rotate();
      node = serveLogs(cwd, port);
      await node.ready();
    } else {
      await logs.rotate();
    }
    isSlow = round < ROUNDS - 3;
  }
  const written = await logs.stop();
  const isDone = ({ failure, ledgers }: FollowingClient) =>
    failure !== undefined || [...ledgers].every(([name, { last }]) => last === written[name]);
  // Whoever does not get there is reported below, with all others.
  await eventually(() => expect(clients.every(isDone)).toBe(true), { withinMs: 60_000 }).catch(() => {});
  stop.abort();
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(running);

  const faults: string[] = [];
  for (const each of clients) {
    if (each.failure !== undefined) faults.push(`${each.name}: ${String(each.failure)}`);
    for (const [name, ledger] of each.ledgers) {
      if (ledger.last !== written[name])
        faults.push(`${each.name}: ${name} ends at ${ledger.last} of ${written[name]}`);
      for (const fault of ledger.faults(logs.onDisk(name))) faults.push(`${each.name}: ${name} ${fault}`);
    }
  }
  const summary = clients.map((each) => {
    const all = [...each.ledgers.values()];
    const sum = (of: (ledger: (typeof all)[number]) => number) => all.reduce((total, ledger) => total + of(ledger), 0);
    const lost = sum(({ missing }) => missing.reduce((total, { from, to }) => total + to - from + 1, 0));
    return {
      client: each.name,
      lines: sum(({ count }) => count),
      lost,
      reports: sum(({ reports }) => reports),
      reconnects: each.reconnects,
    };
  });
  if (IS_LONG_RUN) console.table(summary);
  expect(faults, `${faults.length} faults after ${logs.rotations} rotations`).toEqual([]);
});
