import {
  type EventKind,
  type Incident,
  type MemberReport,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { DigestQuery, HistogramQuery } from '@porthole/logs';
import { scaled } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { incidentSource } from '../testing/incident-source.ts';
import { findIncident } from './find-incident.ts';
import { EngineNode } from './testing/engine-node.ts';

const START = Date.parse('2026-11-17T03:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LOOKED = { fromMs: START, toMs: START + HOUR };

/** Ordinary work since more than an hour before, with an error now and then. */
function work(node: EngineNode, offsetMs = 0): void {
  for (let at = START - 80 * MINUTE; at < START + HOUR; at += 3000)
    node.log(at + offsetMs, 'INFO', 'query/exec.go:90', `query took ${at % 97} ms shard=${(at / 3000) % 8}`);
  for (let at = START - 80 * MINUTE; at < START + HOUR; at += 7 * MINUTE)
    node.log(at + offsetMs, 'ERROR', 'net/conn.go:7', 'connection reset by peer');
}

type Nodes = Record<string, EngineNode>;

function cluster(...ids: string[]): Nodes {
  return Object.fromEntries(
    ids.map((id) => {
      const node = new EngineNode();
      work(node);
      return [id, node];
    }),
  );
}

function get(nodes: Nodes, id: string): EngineNode {
  const node = nodes[id];
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

async function report(nodes: Nodes, options = {}, request = LOOKED): Promise<Incident> {
  for (const node of Object.values(nodes)) node.flush();
  return findIncident(incidentSource(nodes), request, options);
}

const CHANGED = START + 10 * MINUTE + 11_000;
const FIRST = CHANGED + 117_000;

/** A setting changes on storage-3; two minutes later it fails, and the broker after it. */
function changedSetting(): Nodes {
  const nodes = cluster('storage-1', 'storage-2', 'storage-3', 'broker-1');
  const storage = get(nodes, 'storage-3');
  storage.writeEvents([
    {
      timeMs: CHANGED,
      kind: 'config-changed',
      fields: { keys: ['storage.wal.dir'], config: 'b', before: 'a', how: 'edit' },
    },
  ]);
  const changes = [{ key: 'storage.wal.dir', before: '/data/wal', after: '/mnt/wal' }];
  storage.history = { isComplete: true, periods: [{ version: 'b', fromMs: CHANGED, toMs: null, changes }] };
  for (let at = 0; at < 200_000; at += 250)
    storage.log(FIRST + at, 'ERROR', 'wal.go:211', `fsync of segment ${at} failed: no space left dir=/mnt/wal shard=7`);
  for (let at = 1000; at < 200_000; at += 2000)
    get(nodes, 'broker-1').log(FIRST + at, 'ERROR', 'exec.go:131', 'query failed: no leader shard=7');
  return nodes;
}

describe('a setting that changed before new errors', () => {
  it('comes first, and what followed in its order', async () => {
    const incident = await report(changedSetting(), { withValues: true });
    expect(incident.headline).toBe(
      'New errors on 2 nodes, first on storage-3, 1 min 57 s after its storage.wal.dir changed',
    );
    expect(incident.steps.map(({ kind, nodes, delayMs }) => ({ kind, nodes, delayMs }))).toEqual([
      { kind: 'config-changed', nodes: ['storage-3'], delayMs: 0 },
      { kind: 'first-error', nodes: ['storage-3'], delayMs: 117_000 },
      { kind: 'spread', nodes: ['broker-1'], delayMs: 118_000 },
    ]);
    const [change, error, spread] = incident.steps;
    expect(change?.changes).toEqual([{ key: 'storage.wal.dir', before: '/data/wal', after: '/mnt/wal' }]);
    expect(error?.record).toMatchObject({ node: 'storage-3', file: 'a.log', timeMs: FIRST, source: 'wal.go:211' });
    expect(error?.shares).toEqual([{ field: 'shard', value: '7', count: 200, of: 200 }]);
    expect(spread?.shares).toEqual([{ field: 'shard', value: '7', count: 100, of: 100 }]);
    const [first, second] = incident.standouts;
    expect(first).toMatchObject({ kind: 'change', keys: ['storage.wal.dir'], nodes: ['storage-3'], score: 100 });
    expect(second).toMatchObject({
      kind: 'pattern',
      pattern: 'wal.go:211',
      counts: { during: 800, before: 0, others: 0 },
    });
    expect(incident).toMatchObject({ isUnusual: true, isOver: true, coverage: { isComplete: true } });
    expect(incident.requests).toBeLessThan(40);
  });

  it('has no values for clients that may not read configurations', async () => {
    const { steps } = await report(changedSetting());
    expect(steps[0]?.changes).toEqual([{ key: 'storage.wal.dir' }]);
    expect(JSON.stringify(steps)).not.toContain('/data/wal');
  });

  it('is found from logs alone where nodes keep no events', async () => {
    const nodes = changedSetting();
    for (const node of Object.values(nodes))
      node.events = async function* (): AsyncGenerator<never> {
        yield* [];
        throw new PortholeError('NOT_SUPPORTED', 'no events');
      } as never;
    const incident = await report(nodes);
    expect(incident.headline).toBe('New errors on 2 nodes, first on storage-3');
    expect(incident.coverage.isComplete).toBe(false);
    expect(incident.members.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it('on one node after the other has the time of each, and the headline that of the node that failed', async () => {
    const nodes = cluster('a', 'b', 'c');
    const times = { a: CHANGED, b: CHANGED + 30_000, c: CHANGED + 90_000 };
    for (const [id, timeMs] of Object.entries(times))
      get(nodes, id).writeEvents([{ timeMs, kind: 'version-changed', fields: { before: '1', version: '2' } }]);
    for (let at = 0; at < 120_000; at += 500) get(nodes, 'b').log(FIRST + at, 'ERROR', 'wal.go:211', 'no space left');
    const { headline, steps } = await report(nodes);
    expect(headline).toMatch(/^New errors on b, 1 min 27 s after .* on 3 nodes$/);
    expect(steps[0]).toMatchObject({ nodes: ['a', 'b', 'c'], timeMs: CHANGED });
    expect(steps[0]?.detail).toContain('then on b (+30 s), c (+1 min 30 s)');
  });

  it('on a node whose clock is wrong is told by the right time', async () => {
    const offsetMs = 600_000;
    const nodes = cluster('a', 'b');
    const wrong = new EngineNode();
    work(wrong, offsetMs);
    for (let at = 0; at < 120_000; at += 500) wrong.log(FIRST + at + offsetMs, 'ERROR', 'wal.go:211', 'no space left');
    wrong.writeEvents([{ timeMs: CHANGED + offsetMs, kind: 'version-changed', fields: { before: '1', version: '2' } }]);
    for (const node of [...Object.values(nodes), wrong]) node.flush();
    const source = incidentSource({ ...nodes, wrong }, { wrong: { offsetMs, uncertaintyMs: 1 } });
    const incident = await findIncident(source, LOOKED);
    expect(incident.headline).toBe('New errors on wrong, 1 min 57 s after its version changed from 1 to 2');
    expect(incident.steps[0]).toMatchObject({ timeMs: CHANGED });
  });
});

describe('somewhat more of the usual beside new errors', () => {
  it('is neither counted with them nor a step before them', async () => {
    const nodes = cluster('a', 'b', 'c');
    const usual = (id: string, at: number) => get(nodes, id).log(at, 'WARN', 'queue.go:4', 'the queue is long');
    for (const id of ['a', 'b']) {
      for (let at = START - 80 * MINUTE; at < START + HOUR; at += 10 * MINUTE) usual(id, at);
      for (let at = 0; at < 5; at++) {
        usual(id, FIRST - 20_000 + at * 3000);
        get(nodes, id).log(FIRST - 15_000 + at * 4000, 'ERROR', 'net/conn.go:7', 'connection reset by peer');
      }
    }
    for (let at = 0; at < 120_000; at += 500) get(nodes, 'c').log(FIRST + at, 'ERROR', 'wal.go:211', 'no space left');
    const { headline, steps, standouts } = await report(nodes);
    expect(headline).toBe('New errors on c');
    expect(steps).toMatchObject([{ kind: 'first-error', nodes: ['c'], timeMs: FIRST }]);
    expect(standouts.map(({ pattern }) => pattern)).toEqual(expect.arrayContaining(['wal.go:211', 'net/conn.go:7']));
  });
});

describe('a quiet hour', () => {
  it('says so, and what was looked at', async () => {
    const nodes = cluster('a', 'b', 'c');
    get(nodes, 'a').writeEvents([{ timeMs: CHANGED, kind: 'config-changed', fields: { keys: ['x'] } }]);
    const { headline, isUnusual, steps, standouts } = await report(nodes);
    expect(headline).toMatch(
      /^Nothing unusual: 0\.4 errors a minute; looked at 3,6\d\d records of 3 nodes and 1 event$/,
    );
    expect({ isUnusual, standouts, kinds: steps.map(({ kind }) => kind) }).toEqual({
      isUnusual: false,
      standouts: [],
      kinds: ['config-changed'],
    });
  });

  it('in which a log that says little fell silent is quiet', async () => {
    const nodes = cluster('a', 'b');
    get(nodes, 'a').writeEvents([{ timeMs: CHANGED, kind: 'log-silent' }]);
    expect((await report(nodes)).isUnusual).toBe(false);
  });

  it('is not called quiet if no node could be read', async () => {
    const nodes = cluster('a', 'b');
    for (const id of ['a', 'b'])
      get(nodes, id).logHistogram = (async () => {
        throw new PortholeError('UNREACHABLE', 'no connection');
      }) as never;
    expect((await report(nodes)).headline).toBe('What happened is not known: no node could be read');
  });

  it('is called quiet only as far as it was read', async () => {
    const nodes = cluster('a', 'b');
    get(nodes, 'b').logHistogram = (async () => {
      throw new PortholeError('UNREACHABLE', 'no connection');
    }) as never;
    const { headline, coverage, members } = await report(nodes);
    expect(headline).toMatch(/^Nothing unusual in what was read: /);
    expect(coverage.missing).toMatchObject([{ node: 'b' }]);
    expect(members.map(({ id, outcome }: MemberReport) => [id, outcome === 'ok'])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  it('of nodes without any record is quiet, too', async () => {
    const { headline, during } = await report({ a: new EngineNode() });
    expect(headline).toBe('Nothing unusual: 0 errors a minute; looked at 0 records of 0 nodes and 0 events');
    expect(during.records).toBe(0);
  });

  it('with twice as much to do, and as many more of the usual errors, is quiet', async () => {
    const nodes = cluster('a', 'b');
    for (const node of Object.values(nodes)) {
      for (let at = START - 80 * MINUTE; at < START + HOUR; at += 10_000)
        node.log(at, 'ERROR', 'net/conn.go:9', 'refused');
      for (let at = START; at < START + 20 * MINUTE; at += 3000)
        node.log(at, 'INFO', 'query/exec.go:90', 'query took 3 ms');
      for (let at = START; at < START + 20 * MINUTE; at += 10_000)
        node.log(at + 5, 'ERROR', 'net/conn.go:9', 'refused');
    }
    expect((await report(nodes)).isUnusual).toBe(false);
  });

  it('with a node that is new is quiet: it does what the others do', async () => {
    const nodes = cluster('a', 'b');
    const fresh = new EngineNode();
    for (let at = START + 10 * MINUTE; at < START + HOUR; at += 1500)
      fresh.log(at, 'INFO', 'query/exec.go:90', 'query');
    for (const node of Object.values(nodes))
      for (let at = START - HOUR; at < START + HOUR; at += 9000) node.log(at, 'WARN', 'a.go:1', 'slow');
    for (let at = START + 10 * MINUTE; at < START + HOUR; at += 9000) fresh.log(at, 'WARN', 'a.go:1', 'slow');
    expect((await report({ ...nodes, fresh })).isUnusual).toBe(false);
  });
});

describe('events without errors', () => {
  const LOST = START + 20 * MINUTE;
  it.each<[EventKind, object, string]>([
    ['killed', { uncertaintyMs: 2000 }, 'a was killed'],
    ['disk-nearly-full', { usedPercent: 96 }, 'Disk was 96 % full on a'],
  ])('%s is an incident', async (kind, fields, headline) => {
    const nodes = cluster('a', 'b');
    get(nodes, 'a').writeEvents([{ timeMs: LOST, kind, fields }]);
    expect((await report(nodes)).headline).toBe(headline);
  });

  it('that several nodes saw are one step, of the member that was lost', async () => {
    const nodes = cluster('a', 'b', 'c');
    for (const [index, id] of ['a', 'b'].entries())
      get(nodes, id).writeEvents([
        { timeMs: LOST + index * 800, kind: 'member-lost', fields: { member: 'c', uncertaintyMs: 5000 } },
      ]);
    const { steps, headline } = await report(nodes);
    expect(headline).toBe('c stopped responding');
    expect(steps).toMatchObject([
      { kind: 'member-lost', nodes: ['c'], timeMs: LOST, uncertaintyMs: 5000, detail: 'member-lost · seen by a, b' },
    ]);
  });

  it('a node that logs nothing while others go on is one', async () => {
    const nodes = cluster('a', 'b');
    const silent = new EngineNode();
    for (let at = START - 80 * MINUTE; at < START + 20 * MINUTE; at += 1000) silent.log(at, 'INFO', 'a.go:1', 'work');
    silent.writeEvents([{ timeMs: START + 23 * MINUTE, kind: 'log-silent' }]);
    const { standouts, steps } = await report({ ...nodes, silent });
    expect(standouts[0]).toMatchObject({ kind: 'event', event: 'log-silent', nodes: ['silent'] });
    expect(steps.map(({ kind }) => kind)).toEqual(['log-silent']);
  });
});

it('a value of a field that errors share stands out', async () => {
  const nodes = cluster('a', 'b');
  for (const node of Object.values(nodes))
    for (let at = 0; at < 60; at++) {
      const line = at % 2 ? 'parse.go:3' : 'run.go:9';
      node.log(FIRST + at * 2000, 'ERROR', line, `request failed shard=5 tenant=t${at % 4}`);
    }
  const { standouts } = await report(nodes);
  expect(standouts.slice(0, 3)).toContainEqual(expect.objectContaining({ kind: 'value', field: 'shard', value: '5' }));
});

it('a value that errors always have is not said of more of them', async () => {
  const nodes = cluster('a', 'b');
  for (const node of Object.values(nodes)) {
    for (let at = START - 80 * MINUTE; at < START + HOUR; at += 20_000)
      node.log(at, 'INFO', 'a.go:1', 'seen tenant=t9');
    for (let at = START - 75 * MINUTE; at < START; at += MINUTE)
      node.log(at, 'ERROR', 'run.go:1', 'query failed tenant=t1 shard=3');
    for (let at = 0; at < 60; at++)
      node.log(FIRST + at * 2000, 'ERROR', `run.go:${at % 2}`, 'query failed tenant=t1 shard=5');
  }
  const { standouts, steps } = await report(nodes);
  const named = [...standouts, ...steps].flatMap(({ shares }) => shares.map(({ field, value }) => `${field}=${value}`));
  expect(new Set(named)).toEqual(new Set(['shard=5']));
});

it(
  'many nodes and hostile messages are one bounded report',
  async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `n${index}`);
    const nodes = cluster(...ids);
    const hostile = `<script>alert(1)</script>\u001b]0;x\u0007 |\`*${'x'.repeat(20_000)}`;
    for (const node of Object.values(nodes))
      for (let at = 0; at < 20; at++) node.log(FIRST + at * 1000, 'ERROR', 'x.go:1', `${hostile} ${at} __proto__=1`);
    const incident = await report(nodes);
    expect(incident.headline).toMatch(/^New errors on 50 nodes, first on n\d+$/);
    expect(JSON.stringify(incident).length).toBeLessThan(60_000);
  },
  scaled(60_000),
);

describe('a node that has not the time to count', () => {
  /** Counts of the time before the incident are cut, as by a budget that is used up. */
  function cutBefore(node: EngineNode): void {
    node.logDigest = (async (query: DigestQuery, options: SearchOptions) => {
      const digest = await node.logs.digest(query, options);
      if ((query.toMs ?? Infinity) > FIRST) return digest;
      const end = { ...digest.end, reason: 'time budget', coveredFromMs: FIRST - MINUTE, coveredToMs: FIRST };
      return { ...digest, groups: [], totalGroups: 0, end };
    }) as never;
  }

  function cutCounts(node: EngineNode): void {
    node.logHistogram = (async (query: HistogramQuery, options: SearchOptions) => {
      const histogram = await node.logs.histogram(query, options);
      const buckets = histogram.buckets.filter(({ startMs }) => startMs > FIRST - MINUTE);
      const end = { ...histogram.end, reason: 'time budget', coveredFromMs: FIRST - MINUTE, coveredToMs: query.toMs };
      return { ...histogram, buckets, end };
    }) as never;
  }

  const claims = ({ headline, steps, standouts }: Incident) =>
    JSON.stringify([headline, steps.map(({ title, detail }) => [title, detail]), standouts.map(({ title }) => title)]);

  it('has no new errors: what it did not read before is not compared', async () => {
    const nodes = changedSetting();
    for (const node of Object.values(nodes)) cutBefore(node);
    const incident = await report(nodes, { withValues: true });
    expect(claims(incident)).not.toMatch(/\bnew\b|not there before|never|0 → |spread/i);
    expect(incident.coverage.isComplete).toBe(false);
  });

  it('leaves what the others say as it is', async () => {
    const nodes = changedSetting();
    cutBefore(get(nodes, 'broker-1'));
    const incident = await report(nodes, { withValues: true });
    expect(incident.headline).toBe('New errors on storage-3, 1 min 57 s after its storage.wal.dir changed');
    expect(incident.coverage.missing).toMatchObject([{ node: 'broker-1' }]);
  });

  it('is not where the incident is looked for; if no node has it, that is said', async () => {
    const nodes = changedSetting();
    for (const node of Object.values(nodes)) node.writeEvents([]);
    for (const node of Object.values(nodes)) cutCounts(node);
    const incident = await report(nodes);
    expect(incident).toMatchObject({ isUnusual: false, steps: [] });
    expect(incident.headline).toBe('What is unusual is not known: no node could count its records in the time allowed');
  });
});

it('a time budget that is used up is said', async () => {
  const incident = await report(changedSetting(), { budgetMs: 1 });
  expect(incident.coverage.isComplete).toBe(false);
});
