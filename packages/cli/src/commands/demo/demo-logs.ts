import { type DemoIncident, incidentRecord } from './demo-incident.ts';

/** Too small for a write-ahead log. */
export const BROKEN_VOLUME = 'scratch';

export interface DemoLog {
  stem: string;
  /** Past records and the number of files they are spread over: the oldest are compressed, the newest is live. */
  history: { records: number; files: number };
  create: CreateRecordSource;
}

/** The logs of a demo node. */
export const DEMO_LOGS: readonly DemoLog[] = [
  { stem: 'lind-broker', history: { records: 8000, files: 4 }, create: createBrokerRecords },
  { stem: 'access', history: { records: 4000, files: 2 }, create: createAccessRecords },
  { stem: 'task', history: { records: 1500, files: 1 }, create: createTaskRecords },
  { stem: 'show_sql', history: { records: 40, files: 1 }, create: createSlowSqlRecords },
];

/** LinDB's access log: time⇥ip duration "METHOD uri PROTO" status bytes. */
function createAccessRecords(random: SeededRandom, mood: Mood): RecordSource {
  return ({ local, timeMs }) => {
    if (isDown(mood, timeMs)) return '';
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
function createTaskRecords(random: SeededRandom, mood: Mood): RecordSource {
  return ({ utc, timeMs }) => {
    if (isDown(mood, timeMs)) return '';
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

function isDown({ id, incident }: Mood, timeMs: number): boolean {
  return incident !== undefined && incidentRecord(incident, { id, timeMs })?.kind === 'down';
}

interface BrokerRecord {
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL';
  source: string;
  tags: string;
  message: string;
  context?: Record<string, unknown>;
}

type RecordTemplate = (random: SeededRandom) => BrokerRecord;

/** The log of the broker: mostly calm, with bursts of errors of one kind. */
function createBrokerRecords(random: SeededRandom, { trouble: likely, id, incident }: Mood): RecordSource {
  let trouble: RecordTemplate | undefined;
  let remaining = 0;
  let hasFallen = false;
  const render = (local: string, { level, source, tags, message, context }: BrokerRecord) =>
    `${local}\t${level}\t${source}\t${tags}: ${message}${context ? `\t${JSON.stringify(context)}` : ''}\n`;
  return ({ local, timeMs }) => {
    const part = incident && incidentRecord(incident, { id, timeMs });
    if (part?.kind === 'down') {
      const fatal = hasFallen ? '' : render(local, LAST_WORDS);
      hasFallen = true;
      return fatal;
    }
    if (part && random.isLikely(part.likely)) return render(local, INCIDENT[part.kind](random, incident?.origin ?? ''));
    if (remaining === 0 && random.isLikely(likely)) {
      trouble = random.pick(TROUBLES);
      remaining = random.between(4, 14);
    }
    const inTrouble = remaining > 0 && random.isLikely(0.7);
    if (inTrouble) remaining--;
    return render(local, ((inTrouble && trouble) || calm(random))(random));
  };
}

function calm(random: SeededRandom): RecordTemplate {
  if (random.isLikely(0.06)) return random.pick(WARNINGS);
  return random.isLikely(0.04) ? debug : random.pick(NEWS);
}

const debug: RecordTemplate = (random) => ({
  level: 'DEBUG',
  source: 'query/planner.go:77',
  tags: '[Broker] [Query]',
  message: `plan has ${random.between(1, 6)} stages`,
});

const NEWS: readonly [RecordTemplate, ...RecordTemplate[]] = [
  (random) => ({
    level: 'INFO',
    source: 'query/exec.go:118',
    tags: '[Broker] [Query]',
    message: 'query is done',
    context: {
      db: random.pick(DATABASES),
      metric: random.pick(METRICS),
      series: random.between(1, 4000),
      cost: `${random.between(2, 900)}ms`,
    },
  }),
  (random) => ({
    level: 'INFO',
    source: 'replica/channel.go:207',
    tags: '[Broker] [Write]',
    message: 'batch was sent',
    context: { storage: random.pick(STORAGES), shard: random.between(0, 15), rows: random.between(20, 5000) },
  }),
  (random) => ({
    level: 'INFO',
    source: 'meta/cache.go:142',
    tags: '[Broker] [Meta]',
    message: `metadata of ${random.between(10, 900)} series was loaded for ${random.pick(DATABASES)}`,
  }),
  (random) => ({
    level: 'INFO',
    source: 'coordinator/lease.go:88',
    tags: '[Broker] [Coordinator]',
    message: 'lease was renewed',
    context: { ttl: '10s', revision: random.between(100_000, 999_999) },
  }),
];

const WARNINGS: readonly [RecordTemplate, ...RecordTemplate[]] = [
  (random) => ({
    level: 'WARN',
    source: 'query/exec.go:131',
    tags: '[Broker] [Query]',
    message: `query was slow\nselect sum(value)\n  from '${random.pick(METRICS)}'\n  where time > now() - ${random.between(1, 7)}d group by node`,
    context: { db: random.pick(DATABASES), cost: `${(random.between(50, 300) / 10).toFixed(1)}s` },
  }),
  (random) => ({
    level: 'WARN',
    source: 'replica/channel.go:221',
    tags: '[Broker] [Write]',
    message: `${random.between(200, 4000)} rows wait for storage ${random.pick(STORAGES)}`,
    context: { shard: random.between(0, 15), limit: 4096 },
  }),
  (random) => ({
    level: 'WARN',
    source: 'broker/limits.go:54',
    tags: '[Broker] [Limit]',
    message: `database ${random.pick(DATABASES)} uses ${random.between(81, 99)} % of its series`,
  }),
];

const TROUBLES: readonly [RecordTemplate, ...RecordTemplate[]] = [
  (random) => ({
    level: 'ERROR',
    source: 'replica/channel.go:233',
    tags: '[Broker] [Write]',
    message: `batch could not be sent to storage ${STORAGES[1]}`,
    context: {
      err: 'rpc error: code = Unavailable desc = connection refused',
      shard: random.between(0, 15),
      attempt: random.between(1, 5),
    },
  }),
  (random) => ({
    level: 'ERROR',
    source: 'query/worker.go:191',
    tags: '[Broker] [Query]',
    message: formatStack(`index out of range [${random.between(3, 9)}] with length 3`, random),
  }),
  (random) => ({
    level: 'ERROR',
    source: 'coordinator/discovery.go:119',
    tags: '[Broker] [Coordinator]',
    message: 'watch of the cluster was lost, trying again',
    context: { endpoint: 'http://etcd-1:2379', err: 'context deadline exceeded', after: `${random.between(1, 30)}s` },
  }),
];

/** What the shard with the changed setting, and those that need it, log. */
const INCIDENT: Readonly<
  Record<'append-failed' | 'replica-failed', (random: SeededRandom, origin: string) => BrokerRecord>
> = {
  'append-failed': (random) => ({
    level: 'ERROR',
    source: 'wal/segment.go:211',
    tags: '[Broker] [WAL]',
    message: `append to volume ${BROKEN_VOLUME} failed`,
    context: { err: 'no space left on device', shard: 7, rows: random.between(20, 5000) },
  }),
  'replica-failed': (random, origin) => ({
    level: 'ERROR',
    source: 'replica/follower.go:96',
    tags: '[Broker] [Replica]',
    message: `replica of ${origin} is behind`,
    context: { shard: 7, behind: random.between(100, 90_000) },
  }),
};

const LAST_WORDS: BrokerRecord = {
  level: 'FATAL',
  source: 'wal/segment.go:240',
  tags: '[Broker] [WAL]',
  message: 'the write-ahead log cannot be written any more, giving up',
  context: { volume: BROKEN_VOLUME, shard: 7 },
};

function formatStack(reason: string, random: SeededRandom): string {
  const frames = [
    ['query.(*Worker).reduce', 'query/worker.go:191'],
    ['query.(*Worker).run', 'query/worker.go:88'],
    ['concurrent.(*Pool).loop', 'pkg/concurrent/pool.go:142'],
  ];
  const lines = frames.map(
    ([name, location]) => `main/${name}(0xc000${random.between(4096, 65_535).toString(16)})\n\t/go/src/${location}`,
  );
  return `panic in a query: ${reason}\ngoroutine ${random.between(100, 9999)} [running]:\n${lines.join('\n')}`;
}

/** The timestamp of a record in the formats logs use. */
export interface RecordTime {
  timeMs: number;
  /** `2026-11-15 07:20:33.123` on the wall clock of this machine. */
  local: string;
  /** RFC 3339 in UTC. */
  utc: string;
}

/** Returns the next record of one log: its lines, each with a newline. */
export type RecordSource = (time: RecordTime) => string;

/** How a demo node differs from the others. */
export interface Mood {
  id: string;
  /** Probability per record that a burst of errors begins. */
  trouble: number;
  /** What happened to the cluster; absent: nothing. */
  incident?: DemoIncident | undefined;
}

type CreateRecordSource = (random: SeededRandom, mood: Mood) => RecordSource;

/** Names that occur in several logs, so that one incident can be followed through them. */
const STORAGES = ['10.8.0.31:2891', '10.8.0.32:2891', '10.8.0.33:2891'] as const;

const CLIENTS = ['10.8.0.5', '10.8.0.9', '10.8.1.14', '10.8.1.77'] as const;

const DATABASES = ['shop', 'billing', 'sensors', '_internal'] as const;

const METRICS = ['cpu.load', 'orders.total', 'http.requests', 'room.temperature', 'disk.used'] as const;

/** A deterministic generator: the same seed gives the same numbers. */
interface SeededRandom {
  /** In [0, 1). */
  next(): number;
  /** A whole number, both bounds included. */
  between(least: number, most: number): number;
  isLikely(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** Mulberry32: 32 bits of state are plenty for sample logs. */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    isLikely: (probability) => next() < probability,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
  };
}
