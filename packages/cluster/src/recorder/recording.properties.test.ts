import { appendFileSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createZone, LogDir } from '@porthole/logs';
import { joinRecords, SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogDirNode } from '../testing/log-dir-node.ts';
import { RecordedNode } from './recorded-node.ts';
import { type RecordedItem, Recording } from './recording.ts';

const DAY_MS = Date.parse('2026-11-10T00:00:00Z');
const LOGS = ['app.log', 'access.log'] as const;

/** What happens to a member and to the one that records it. */
type Step =
  | { kind: 'write'; log: number; lines: number; text: string }
  | { kind: 'rotate'; log: number }
  /** The recorder gets what it does not have yet, and some of what it has. */
  | { kind: 'record'; again: number; each: number; joined: boolean }
  /** The recorder is killed while it writes. */
  | { kind: 'restart'; torn: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      log: fc.nat(1),
      lines: fc.integer({ min: 1, max: 12 }),
      text: fc.constantFrom('short', 'ümläut €', 'x'.repeat(300), 'two\n  lines', 'carriage\r'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), log: fc.nat(1) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      again: fc.nat(8),
      each: fc.integer({ min: 1, max: 10 }),
      joined: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      torn: fc.constantFrom('', '2026-11-1', 'half a line'),
    }),
  },
);

/** A node that writes logs, and a recording of it. */
class World {
  readonly node = new LogDirNode();
  readonly dir = tempDir();
  readonly #maxBytes: number;
  #rotations = 0;
  #lines = 0;
  /** How many of its records the recorder was sent. */
  #sent = new Map<string, number>();
  recording: Recording | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  async open(): Promise<Recording> {
    this.recording ??= await Recording.open(this.dir, { maxBytes: this.#maxBytes, maxMs: 3_600_000 });
    return this.recording;
  }

  async run(taken: Step): Promise<void> {
    if (taken.kind === 'write') this.#write(taken);
    else if (taken.kind === 'rotate') this.#rotate(LOGS[taken.log] ?? 'app.log');
    else if (taken.kind === 'restart') this.#kill(taken.torn);
    else for (const log of LOGS) await this.#record(log, taken);
  }

  /** The records of one log of the member, oldest first. */
  async records(log: string): Promise<FoundRecord[]> {
    const hasLog = readdirSync(this.node.dir).some((name) => name.startsWith(log));
    return hasLog ? (await collect(this.node.logs, { src: [log] })).records : [];
  }

  #write({ log, lines, text }: Extract<Step, { kind: 'write' }>): void {
    for (let line = 0; line < lines; line++) {
      const time = new Date(DAY_MS + 100 * this.#lines).toISOString().replace('T', ' ').replace('Z', '');
      this.node.append(LOGS[log] ?? 'app.log', `${time}\tINFO\tapp.go:1\t${this.#lines++} ${text}\n`);
    }
  }

  #rotate(log: string): void {
    if (!readdirSync(this.node.dir).includes(log)) return;
    const name = `${log}.2026-11-10-${String(++this.#rotations).padStart(4, '0')}`;
    renameSync(join(this.node.dir, log), join(this.node.dir, name));
  }

  async #record(log: string, { again, each, joined }: Extract<Step, { kind: 'record' }>): Promise<void> {
    const recording = await this.open();
    const all = await this.records(log);
    const from = Math.max(0, (this.#sent.get(log) ?? 0) - again);
    for (let at = from; at < all.length; at += each) {
      const records = all.slice(at, at + each);
      await recording.append(joined ? (joinRecords(records) as RecordedItem[]) : records);
    }
    this.#sent.set(log, all.length);
  }

  #kill(torn: string): void {
    const dir = join(this.dir, 'log');
    const names = this.recording ? readdirSync(dir) : [];
    for (const name of names)
      if (torn !== '' && statSync(join(dir, name)).isFile()) appendFileSync(join(dir, name), torn);
    this.recording = undefined;
  }
}

async function collect(
  logs: Pick<LogDir, 'search'>,
  query: Partial<SearchQuery>,
): Promise<{ records: FoundRecord[]; end: SearchEnd | undefined }> {
  const records: FoundRecord[] = [];
  let end: SearchEnd | undefined;
  const asked = { order: 'oldest', limit: 100_000, before: 0, after: 0, raw: true, ...query } as const;
  for await (const items of searchItems(logs, asked))
    for (const item of items) {
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  return { records, end };
}

async function withRecorded(world: World, act: (node: RecordedNode, recording: Recording) => Promise<void>) {
  const recording = await world.open();
  const logs = new LogDir(recording.logDir, { zone: createZone('UTC'), threads: SHARED_THREADS });
  try {
    await act(new RecordedNode({ id: 'n', recording, profile: undefined, logs, label: 'recorded' }), recording);
  } finally {
    await logs.close();
  }
}

const searchable = (node: RecordedNode) => ({ search: node.search.bind(node) }) as unknown as Pick<LogDir, 'search'>;

const short = ({ message, offset, raw }: FoundRecord) => ({ message, offset, raw });

describe('a recording', () => {
  it('has the newest records of each log, each once, whatever happens to the member and the recorder', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.constantFrom(3000, 1_000_000), async (steps, maxBytes) => {
        const world = new World(maxBytes);
        for (const taken of [...steps, { kind: 'record', again: 0, each: 5, joined: false } as const])
          await world.run(taken);
        const own = new Map<string, FoundRecord[]>();
        for (const log of LOGS) own.set(log, await world.records(log));
        await withRecorded(world, async (node, recording) => {
          expect(recording.bytes).toBeLessThan(maxBytes + 6000);
          for (const log of LOGS) {
            const all = own.get(log) ?? [];
            if (!recording.hasFamily(log)) {
              expect(maxBytes === 3000 || all.length === 0).toBe(true);
              continue;
            }
            const { records } = await collect(searchable(node), { src: [log] });
            expect(records.map(short)).toEqual(all.slice(all.length - records.length).map(short));
            if (maxBytes > 3000) expect(records.length).toBe(all.length);
          }
        });
      }),
      { numRuns: runs(20) },
    );
  });

  it('has the cursors of the member: either continues where the other has stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.constantFrom('newest' as const, 'oldest' as const),
        fc.nat(),
        async (steps, order, at) => {
          const world = new World(1_000_000);
          for (const taken of [...steps, { kind: 'record', again: 0, each: 5, joined: false } as const])
            await world.run(taken);
          const log = LOGS.find((name) => readdirSync(world.node.dir).some((file) => file.startsWith(name)));
          if (!log) return;
          const all = (await collect(world.node.logs, { src: [log], order })).records;
          await withRecorded(world, async (node) => {
            const first = await collect(searchable(node), { src: [log], order, limit: 1 + (at % all.length) });
            expect(first.records.map(short)).toEqual(all.slice(0, first.records.length).map(short));
            const rest = all.slice(first.records.length).map(short);
            const cursors = [first.end?.cursor, first.records.at(-1)?.cursor].filter((cursor) => cursor != null);
            for (const cursor of cursors)
              for (const logs of [world.node.logs, searchable(node)])
                expect((await collect(logs, { src: [log], order, start: { cursor } })).records.map(short)).toEqual(
                  rest,
                );
            const own = all[first.records.length - 1]?.cursor ?? '';
            const continued = await collect(searchable(node), { src: [log], order, start: { cursor: own } });
            expect(continued.records.map(short)).toEqual(rest);
          });
        },
      ),
      { numRuns: runs(15) },
    );
  });
});

it('is for this user only', async () => {
  const world = new World(1_000_000);
  await world.run({ kind: 'write', log: 0, lines: 3, text: 'short' });
  await world.run({ kind: 'record', again: 0, each: 5, joined: true });
  await world.recording?.saveFacts();
  for (const name of ['', ...readdirSync(world.dir, { recursive: true, encoding: 'utf8' })]) {
    const stat = statSync(join(world.dir, name));
    expect([name, (stat.mode & 0o777).toString(8)]).toEqual([name, stat.isFile() ? '600' : '700']);
  }
});

it('says that something is missing if a text cannot be read', async () => {
  const recording = await Recording.open(tempDir(), { maxBytes: 1_000_000, maxMs: 1000 });
  recording.facts = { ...recording.facts, sinceMs: 5 };
  const cursor = '0123456789abcdef.sg.0.0.0.YQ';
  await recording.append([
    { type: 'text', file: 'a.log', cursor, offset: 0, bytes: 9, deflated: 'none', timeMs: 700, lastMs: 900 },
  ]);
  expect([recording.isEmpty, recording.facts.sinceMs]).toEqual([true, 900]);
});

it('is never outside of its directory, whatever a member names its files', async () => {
  const dir = join(tempDir(), 'inner');
  const recording = await Recording.open(dir, { maxBytes: 1_000_000, maxMs: 1000 });
  const [good] = ['0123456789abcdef.sg.0.0.0.YQ'];
  const names = [
    '../x.log',
    '/etc/passwd',
    'a/../../b',
    '.',
    '..',
    '',
    'a\u0000b',
    'x'.repeat(5000),
    'deep/er/app.log',
  ];
  await recording.append(
    names.map((file) => ({ type: 'record', file, offset: 0, bytes: 2, cursor: good ?? '', raw: 'x', message: 'x' })),
  );
  const paths = readdirSync(join(dir, '..'), { recursive: true, encoding: 'utf8' });
  expect(paths.filter((path) => path.includes('-19700101-'))).toEqual([
    join('inner', 'log', 'deep', 'er', 'app.log-19700101-0000000001'),
  ]);
});
