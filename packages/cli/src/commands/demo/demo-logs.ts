import { createBrokerRecords } from './broker-records.ts';
import { CLIENTS, type CreateRecordSource, DATABASES, METRICS, type RecordSource, STORAGES } from './record-source.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface DemoLog {
  stem: string;
  /** Fraction of all records. */
  share: number;
  /** Past records and the number of files they are spread over: the oldest are compressed, the newest is live. */
  history: { records: number; files: number };
  create: CreateRecordSource;
}

/** The logs of a demo node. */
export const DEMO_LOGS: readonly DemoLog[] = [
  { stem: 'lind-broker', share: 0.6, history: { records: 8000, files: 4 }, create: createBrokerRecords },
  { stem: 'access', share: 0.3, history: { records: 4000, files: 2 }, create: createAccessRecords },
  { stem: 'task', share: 0.09, history: { records: 1500, files: 1 }, create: createTaskRecords },
  { stem: 'show_sql', share: 0.01, history: { records: 40, files: 1 }, create: createSlowSqlRecords },
];

/** LinDB's access log: time⇥ip duration "METHOD uri PROTO" status bytes. */
function createAccessRecords(random: SeededRandom): RecordSource {
  return ({ local }) => {
    const database = random.pick(DATABASES);
    const request = random.pick([
      `PUT /api/v1/write?db=${database}`,
      `PUT /api/v1/write?db=${database}`,
      `GET /api/v1/exec?db=${database}&sql=select+value+from+${random.pick(METRICS)}`,
      'GET /api/v1/state/explore/current',
      `GET /api/v1/log/view?file=lind-broker.log&size=262144`,
    ]);
    const status = random.isLikely(0.03) ? random.pick([500, 503]) : random.isLikely(0.04) ? 404 : 200;
    const duration = random.isLikely(0.5)
      ? `${random.between(40, 999)}.${random.between(1, 9)}µs`
      : `${random.between(1, 240)}.${random.between(100_000, 999_999)}ms`;
    const failure = status >= 500 ? ` Error #01: storage ${STORAGES[1]} does not respond` : '';
    return `${local}\t${random.pick(CLIENTS)} ${duration} "${request} HTTP/1.1" ${status} ${random.between(2, 40_000)}${failure}\n`;
  };
}

/** One JSON object per line, as zap writes them. */
function createTaskRecords(random: SeededRandom): RecordSource {
  return ({ utc }) => {
    const task = random.pick(['compaction', 'retention', 'rollup', 'backup']);
    const isFailing = random.isLikely(0.02);
    const level = isFailing ? 'error' : random.isLikely(0.06) ? 'warn' : 'info';
    return `${JSON.stringify({
      level,
      ts: utc,
      caller: `task/${task}.go:${isFailing ? 96 : 41}`,
      msg: isFailing
        ? `${task} failed`
        : `${task} of ${random.pick(DATABASES)} is ${random.pick(['done', 'running', 'waiting'])}`,
      shard: random.between(0, 15),
      ...(isFailing && { error: 'no space left on device' }),
    })}\n`;
  };
}

/** LinDB's slow query log: three comment lines, then the statement. */
function createSlowSqlRecords(random: SeededRandom): RecordSource {
  return ({ local }) =>
    `# Time: ${local.slice(0, 19)} \n# Database: ${random.pick(DATABASES)}\n` +
    `# Execute time: ${random.between(30, 90)}.${random.between(100_000_000, 999_999_999)}s\n` +
    `select ${random.pick(['sum', 'max', 'avg'])}(value) from '${random.pick(METRICS)}' where time>now()-${random.between(1, 30)}d group by node\n`;
}
