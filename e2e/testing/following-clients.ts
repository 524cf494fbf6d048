import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type FollowItem, type FollowQuery, type SearchItem } from '@porthole/client';
import { groupFamilies } from '@porthole/logs';
import { onTestFinished } from 'vitest';
import { Program } from './program.ts';
import { Ledger } from './rotated-logs.ts';

/** FOLLOW_TRACE, a directory, gets a file for each client with everything it got: for looking into a fault. */
const { FOLLOW_TRACE } = process.env;

function trace(client: string, item: FollowItem): void {
  if (FOLLOW_TRACE === undefined) return;
  const { type } = item;
  const shown = type === 'record' ? { file: item.file, offset: item.offset, lines: numbersIn(item.message) } : item;
  appendFileSync(join(FOLLOW_TRACE, client), `${performance.now().toFixed(0)} ${JSON.stringify(shown)}\n`);
}

function numbersIn(content: string): string {
  return Array.from(content.matchAll(/#(\d+)#/g), ([, digits]) => digits).join(',');
}

/** A client that follows some logs, and what it got of each. */
export class FollowingClient {
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

  take(items: readonly FollowItem[]): void {
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
export function followBySdk(
  url: string,
  query: FollowQuery,
  { client, signal, pause }: Running & { pause?: () => Promise<void> },
): Promise<void> {
  const node = createClient({ url, backoffMs: 50, maxBackoffMs: 500 });
  const run = async () => {
    for await (const items of node.followLogs(query, { signal })) {
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
export async function followByEvents(url: string, { client, signal }: Running): Promise<void> {
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
export function followByCli(
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
