import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createZone, type FoundRecord, LogDir, type RecordFilter, type SearchQuery } from '@porthole/logs';
import {
  filterSpec,
  LogWriter,
  logSpec,
  SHARED_THREADS,
  searchItems,
  toFilter,
  writeFamilies,
} from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { ArchiveFixture, collect } from './testing/archive-fixture.ts';

const seed = process.env.SEED === 'random' ? {} : { seed: 19 };

const ALL = { limit: 1_000_000, before: 0, after: 0 };
const NODE = 'n1';
const FIELDS = ['level', 'source', 'component', 'message', 'q', 'http.status', 'ids'];

let server: TestClickHouse;
let archive: ArchiveFixture;
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-archive-')));

beforeAll(async () => {
  server = await startClickHouse();
  archive = await ArchiveFixture.create(server.connect({ database: server.newDatabase() }));
});

afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

/**
 * Small enough for many: and a record that is longer than what is shown of it is archived only in part. Of logs without
 * heads a node shows levels by which it does not search.
 */
const smallLog = logSpec.map((spec) => ({
  ...spec,
  style: spec.style === 'text' ? ('iso' as const) : spec.style,
  files: spec.files.map((file) => ({
    ...file,
    pieces: file.pieces
      .filter((piece) => piece.kind !== 'long' && piece.kind !== 'border')
      .map((piece) => (piece.kind === 'run' ? { ...piece, count: Math.min(piece.count, 30) } : piece)),
  })),
}));

/**
 * Bytes that are no text are archived as what they are shown as, and the last line break of a record is not archived:
 * searching for those, or for the end of the line before a CR, finds more.
 */
function isAboutText(filter: RecordFilter, specs: readonly LogSpec[]): boolean {
  const hasCr = specs.some(({ files }) =>
    files.some(({ pieces }) => pieces.some((piece) => 'crlf' in piece && piece.crlf)),
  );
  return !(hasCr ? /\\u0000|\\n|\$/ : /\\u0000/).test(JSON.stringify(filter));
}

type LogSpec = ReturnType<(typeof logSpec)['generate']>['value'];

async function searchDir(logs: LogDir, query: Partial<SearchQuery>): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const items of searchItems(logs, { order: 'oldest', ...ALL, ...query }))
    for (const item of items) if (item.type === 'record') found.push(item);
  return found;
}

const nameOf = ({ file, offset }: FoundRecord) => `${file}:${offset}`;
const byName = (a: FoundRecord, b: FoundRecord) => (nameOf(a) < nameOf(b) ? -1 : 1);

/** All pages of a search of the archive, without what only a cluster has. */
async function searchArchive(query: Partial<SearchQuery>, limit: number): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for (let start = {}; ; ) {
    const request = { order: 'oldest' as const, ...ALL, ...query, limit, ...start };
    const { records, end } = await collect(archive.state.searchLogs(request));
    expect(records.length).toBeLessThanOrEqual(limit);
    for (const { node, atMs, ...record } of records) {
      expect([node, atMs]).toEqual([NODE, record.timeMs]);
      found.push(record);
    }
    if (end.cursor === null) return found;
    expect(end.cursor.length).toBeLessThan(400);
    start = { start: { cursor: end.cursor } };
  }
}

it('the archive answers like the node that shipped the records', async () => {
  const writer = new LogWriter();
  await fc.assert(
    fc.asyncProperty(
      fc.array(smallLog, { minLength: 1, maxLength: 2 }),
      fc.array(fc.tuple(filterSpec, fc.constantFrom(1, 7, 100, 100_000), fc.boolean(), fc.nat(6)), {
        minLength: 3,
        maxLength: 3,
      }),
      async (specs, questions) => {
        writeFamilies(
          dir,
          specs.map((spec, index) => writer.family(`log${index}`, spec)),
        );
        await archive.clear();
        const logs = new LogDir(dir, { zone: createZone('Europe/Berlin'), threads: SHARED_THREADS });
        try {
          const all: FoundRecord[] = [];
          for (const index of specs.keys()) {
            const log = `log${index}.log`;
            const records = await searchDir(logs, { src: [log], raw: true });
            all.push(...records);
            await archive.ship(records, { node: NODE, log });
          }
          const decoded = all.map((record) => ({ timeMs: record.timeMs ?? Number.NaN, whole: record }));
          for (const [spec, limit, isNewest, field] of questions) {
            const filter = toFilter(spec, decoded);
            if (isAboutText(filter, specs)) await compare(logs, filter, { limit, isNewest, by: FIELDS[field] ?? 'q' });
          }
        } finally {
          await logs.close();
        }
      },
    ),
    { numRuns: runs(2), endOnFailure: true, ...seed },
  );
});

interface Compared {
  limit: number;
  isNewest: boolean;
  by: string;
}

async function compare(logs: LogDir, filter: RecordFilter, { limit, isNewest, by }: Compared): Promise<void> {
  const order = isNewest ? ('newest' as const) : ('oldest' as const);
  const expected = await searchDir(logs, { ...filter, order });
  const found = await searchArchive({ ...filter, order }, Math.max(limit, Math.ceil(expected.length / 5)));
  expect(found.toSorted(byName)).toEqual(expected.toSorted(byName));
  const times = found.flatMap(({ timeMs }) => timeMs ?? []);
  expect(times).toEqual(times.toSorted((a, b) => (isNewest ? b - a : a - b)));

  const bucketMs = 60_000;
  const histogram = await logs.histogram({ ...filter, buckets: 10, bucketMs });
  const archived = await archive.state.logHistogram({ ...filter, buckets: 10, bucketMs: histogram.bucketMs });
  expect(archived.buckets.map(({ nodes: _nodes, ...bucket }) => bucket)).toEqual(histogram.buckets);
  expect([archived.untimed, archived.counted]).toEqual([histogram.untimed, null]);

  const query = { ...filter, by, limit: 5 };
  const { end: _end, ...top } = await logs.top({ ...query, bucketMs: histogram.bucketMs });
  const {
    counted: _counted,
    members: _members,
    values,
    ...archivedTop
  } = await archive.state.logTop({
    ...query,
    bucketMs: histogram.bucketMs,
  });
  expect({ ...archivedTop, values: values.map(({ nodes: _nodes, ...value }) => value) }).toEqual(top);

  const digest = await logs.digest({ ...filter, limit: 1000 });
  const archivedDigest = await archive.state.logDigest({ ...filter, limit: 1000 });
  const ofGroup = ({ level, source, shape, count, firstMs, lastMs }: (typeof digest.groups)[number]) =>
    JSON.stringify([level, source, shape, count, firstMs, lastMs]);
  expect(archivedDigest.groups.map(ofGroup).sort()).toEqual(digest.groups.map(ofGroup).sort());
  for (const { sample, lastMs } of archivedDigest.groups) expect(sample.timeMs ?? null).toBe(lastMs);
  expect([archivedDigest.totalGroups, archivedDigest.ungrouped]).toEqual([digest.totalGroups, digest.ungrouped]);

  const fields = await logs.fields({ ...filter, limit: 100 });
  const archivedFields = await archive.state.logFields({ ...filter, limit: 100 });
  expect(archivedFields.fields.map(({ nodes: _nodes, ...field }) => field)).toEqual(fields.fields);
  expect([archivedFields.records, archivedFields.isSample]).toEqual([fields.records, fields.isSample]);
}
