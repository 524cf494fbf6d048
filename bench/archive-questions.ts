import { ArchiveState, ClickHouse, migrate, planMigration } from '@porthole/archive';
import type { BenchContext } from './context.ts';
import { atMost, type Row } from './group.ts';
import { fastest, showAll, showNumber } from './rounds.ts';

/** What Porthole may add to what ClickHouse takes. */
const MAX_RATIO = 2;

const NODES = 20;
const DAY_MS = 24 * 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 12);
const FROM_MS = NOW_MS - 2 * DAY_MS;

/** Remembers the statements of a question, to send them again without it. */
class RecordedReader extends ClickHouse {
  readonly statements: string[] = [];

  override stream(...call: Parameters<ClickHouse['stream']>): ReturnType<ClickHouse['stream']> {
    this.statements.push(call[0]);
    return super.stream(...call);
  }
}

type Ask = (archive: ArchiveState) => Promise<unknown>;

const RANGE = { fromMs: FROM_MS, toMs: NOW_MS };
const SEARCH = { ...RANGE, order: 'newest' as const, before: 0, after: 0 };
const SHARD = { kind: 'field', field: 'shard', operator: '=', value: '13' } as const;

/** What people ask: the first ones SQL answers, the last ones need the engine for each record that may match. */
const QUESTIONS: readonly [string, Ask][] = [
  ['newest 100 errors', (archive) => drain(archive.searchLogs({ ...SEARCH, limit: 100, minLevel: 'ERROR' }))],
  ['newest 1,000 with a text', (archive) => drain(archive.searchLogs({ ...SEARCH, limit: 1000, terms: ['shard 7 '] }))],
  ['histogram by level', (archive) => archive.logHistogram({ ...RANGE, buckets: 100 })],
  ['histogram of a text', (archive) => archive.logHistogram({ ...RANGE, buckets: 100, terms: ['took 99'] })],
  ['digest', (archive) => archive.logDigest({ ...RANGE, limit: 100 })],
  ['top by source', (archive) => archive.logTop({ ...RANGE, by: 'source', limit: 20 })],
  ['histogram of shard=13', (archive) => archive.logHistogram({ ...RANGE, buckets: 100, query: SHARD })],
  ['newest 100 with shard=13', (archive) => drain(archive.searchLogs({ ...SEARCH, limit: 100, query: SHARD }))],
  ['top by shard, of errors', (archive) => archive.logTop({ ...RANGE, by: 'shard', limit: 20, minLevel: 'ERROR' })],
  ['fields', (archive) => archive.logFields({ ...RANGE, limit: 100 })],
];

async function drain(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

/** Questions against their own statements, sent and read by nothing but an HTTP client. */
export async function questionRows(
  { effort, log }: Pick<BenchContext, 'effort' | 'log'>,
  { url, records }: { url: string; records: number },
): Promise<Row[]> {
  const database = 'bench_questions';
  const reader = new RecordedReader({ url, database });
  await migrate(reader, await planMigration(reader, { database }, NOW_MS));
  log(`  ${records} rows`);
  await fill(reader, records);
  const archive = new ArchiveState({ reader, cluster: 'bench', nowMs: () => NOW_MS });
  const rows: Row[] = [];
  for (const [name, ask] of QUESTIONS) {
    log(`  ${name}`);
    const [ours, direct]: [number[], number[]] = [[], []];
    for (let round = -1; round < effort.rounds; round++) {
      reader.statements.length = 0;
      const asked = await timed(() => ask(archive));
      const statements = [...reader.statements];
      const sent = await timed(async () => {
        for (const sql of statements) await sendDirectly(url, database, sql);
      });
      // The first is for the caches.
      if (round < 0) continue;
      ours.push(asked);
      direct.push(sent);
    }
    const ratio = fastest(ours) / fastest(direct);
    rows.push({
      figure: `${name}, of ${records} archived records, ms`,
      porthole: showNumber(fastest(ours)),
      against: `ClickHouse ${showNumber(fastest(direct))}`,
      ratio,
      target: atMost(ratio, MAX_RATIO),
      rounds: `${showAll(ours)} against ${showAll(direct)}`,
    });
  }
  await reader.execute(`DROP DATABASE ${database}`);
  reader.close();
  return rows;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

/** As any client would: the whole result, without a look at it. */
async function sendDirectly(url: string, database: string, sql: string): Promise<void> {
  const target = new URL(url);
  target.searchParams.set('database', database);
  const response = await fetch(target, { method: 'POST', body: `${sql}\nFORMAT JSONEachRow` });
  for await (const _chunk of response.body ?? []);
  if (!response.ok) throw new Error(`ClickHouse refused a statement of a question: ${response.status}`);
}

/** Records of a broker, written by the server itself. */
async function fill(reader: ClickHouse, records: number): Promise<void> {
  const level =
    "arrayElement(['INFO', 'INFO', 'INFO', 'INFO', 'WARN', 'DEBUG', 'INFO', 'ERROR'], toUInt32(number % 8 + 1))";
  const shard = 'toString(intHash32(number) % 64)';
  const time = `toInt64(${FROM_MS} + intDiv(number * ${2 * DAY_MS}, ${records}))`;
  await reader.execute('TRUNCATE TABLE records');
  await reader.execute(
    `INSERT INTO records (cluster, node, role, log, file, file_id, mark, file_offset, bytes, day, time_ms, has_time, level, ` +
      `source, tags, line, message_at, message_tail, context, shipped_ms) SELECT 'bench', concat('broker-', toString(number % ${NODES})), ` +
      `'broker', 'broker.log', 'broker.log', '0123456789abcdef.sg', '0123456789abcdef.sg', intDiv(number, ${NODES}) * 130, 130, ` +
      `toDate(intDiv(${time}, ${DAY_MS})), ${time} AS t, 1, ${level} AS l, ` +
      `concat('broker/file', toString(intHash32(number + 7) % 50), '.go:', toString(intHash32(number + 7) % 300)) AS s, ['Broker'], ` +
      `concat(toString(t), '\\t', l, '\\t', s, '\\t[Broker]: ', m, '\\t', c), ` +
      `toUInt32(length(toString(t)) + length(l) + length(s) + 13), toUInt32(length(c) + 1), ` +
      `concat('{"shard":', ${shard}, ',"took_ms":', toString(number % 1000), '}') AS c, 1 FROM ` +
      `(SELECT number, concat('flush of shard ', ${shard}, ' took ', toString(number % 1000), ' ms') AS m FROM numbers(${records}))`,
  );
  await reader.execute('TRUNCATE TABLE progress');
  await reader.execute(
    `INSERT INTO progress (cluster, node, role, log, from_ms, last_ms, shipped_to_ms, records, written_ms) SELECT 'bench', ` +
      `concat('broker-', toString(number)), 'broker', 'broker.log', ${FROM_MS}, ${NOW_MS - 1}, ${NOW_MS}, ` +
      `${Math.floor(records / NODES)}, 1 FROM numbers(${NODES})`,
  );
}
