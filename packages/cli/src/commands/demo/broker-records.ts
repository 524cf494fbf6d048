import { DATABASES, METRICS, type Mood, type RecordSource, STORAGES } from './record-source.ts';
import type { SeededRandom } from './seeded-random.ts';

interface BrokerRecord {
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  source: string;
  tags: string;
  message: string;
  context?: Record<string, unknown>;
}

type RecordTemplate = (random: SeededRandom) => BrokerRecord;

/** The log of the broker: mostly calm, with bursts of errors of one kind. */
export function createBrokerRecords(random: SeededRandom, { trouble: likely }: Mood): RecordSource {
  let trouble: RecordTemplate | undefined;
  let remaining = 0;
  return ({ local }) => {
    if (remaining === 0 && random.isLikely(likely)) {
      trouble = random.pick(TROUBLES);
      remaining = random.between(4, 14);
    }
    const inTrouble = remaining > 0 && random.isLikely(0.7);
    if (inTrouble) remaining--;
    const { level, source, tags, message, context } = ((inTrouble && trouble) || calm(random))(random);
    return `${local}\t${level}\t${source}\t${tags}: ${message}${context ? `\t${JSON.stringify(context)}` : ''}\n`;
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
