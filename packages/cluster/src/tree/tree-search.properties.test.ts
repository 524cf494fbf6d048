import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterEnd, type ClusterItem, PortholeError } from '@porthole/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RegisteredPeer } from '../fan-out/peers.ts';
import type { ClusterDeps } from '../records/cluster-deps.ts';
import { searchAround } from '../records/search/around.ts';
import { searchCluster, searchClusterLines } from '../records/search/cluster-search.ts';
import type { ClusterSearch } from '../records/search/search-members.ts';
import { collectResponse } from '../testing/collect-response.ts';
import { fakeCluster } from '../testing/fake-cluster.ts';
import { FakeNode, recordsAt } from '../testing/fake-node.ts';
import { answerGroup } from './answer-group.ts';
import { encodeFrame, FRAME } from './frames.ts';
import type { MemberTransport } from './member-transport.ts';
import { QuestionTree } from './tree.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

/** What a member does as a helper: `cut N` ends its response after N pieces. */
const helper = fc.oneof(
  { weight: 4, arbitrary: fc.constant('helps') },
  fc.constantFrom('unable', 'silent', 'nonsense', 'not trusted', 'reaches some'),
  fc.integer({ min: 0, max: 6 }).map((pieces) => `cut ${pieces}`),
);

/** How a member responds to a search. */
const searched = fc.oneof(
  { weight: 6, arbitrary: fc.constant('responds') },
  fc.constantFrom('refuses', 'has no such log', 'is cut off', 'is refused'),
);

const member = fc.record({
  times: fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 25 }),
  isOrdered: fc.boolean(),
  offsetMs: fc.integer({ min: -50, max: 50 }),
  uncertaintyMs: fc.integer({ min: 0, max: 5 }),
  batchRecords: fc.integer({ min: 1, max: 6 }),
  helper,
  searched,
});

type MemberSpec = typeof member extends fc.Arbitrary<infer T> ? T : never;

const given = fc.record({
  members: fc.array(member, { minLength: 1, maxLength: 9 }),
  groupSize: fc.integer({ min: 3, max: 5 }),
  choices: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 5 }),
  /** Of the first page of each member; 0: all at once. */
  pageRecords: fc.constantFrom(0, 1, 2, 5),
});

type Given = typeof given extends fc.Arbitrary<infer T> ? T : never;

// A machine that is busy must not make members late. More records in a page than any member has.
const LIMITS = { firstBatchMs: 60_000, memberTimeoutMs: 60_000, maxParallel: 4, pageRecords: 1000 };

function toNode(spec: MemberSpec, index: number): FakeNode {
  const times = spec.isOrdered ? [...spec.times].sort((a, b) => a - b) : spec.times;
  const records = recordsAt(
    `m${index}-`,
    times.map((time) => time + spec.offsetMs),
  );
  const { batchRecords } = spec;
  const honest = new FakeNode({ records, batchRecords });
  if (spec.searched === 'responds') return honest;
  return new FakeNode({
    async *search(query) {
      if (spec.searched === 'refuses') throw new PortholeError('FORBIDDEN', 'no');
      if (spec.searched === 'has no such log') throw new PortholeError('LOG_FILE_NOT_FOUND', 'no');
      if (spec.searched === 'is refused')
        throw Object.assign(new PortholeError('UNREACHABLE', 'no connection'), { status: undefined });
      // In the same place of its logs, wherever a search begins: a helper that replaces another must not get further.
      const { start: _start, ...whole } = query;
      const sent = new Set<string>();
      for await (const batch of honest.respond({ ...whole, limit: batchRecords }))
        for (const item of batch) if (item.type === 'record') sent.add(item.cursor);
      for await (const batch of honest.respond(query)) {
        const known = batch.filter((item) => item.type === 'record' && sent.has(item.cursor));
        if (known.length > 0 || batch.length === 0) yield known;
        if (known.length < batch.length) throw new PortholeError('UNREACHABLE', 'cut off');
      }
    },
  });
}

/** A member that a helper has no way to. */
const UNREACHABLE = new FakeNode({
  // biome-ignore lint/correctness/useYield: it fails before
  async *search() {
    throw Object.assign(new PortholeError('UNREACHABLE', 'no connection'), { status: undefined });
  },
});

class FakeHelper implements MemberTransport {
  readonly #behaviour: string;
  readonly #deps: ClusterDeps;

  constructor(behaviour: string, deps: ClusterDeps) {
    this.#behaviour = behaviour;
    this.#deps = deps;
  }

  async send(): Promise<never> {
    throw new Error('searches do not use it');
  }

  async relay(): Promise<never> {
    throw new Error('searches do not use it');
  }

  async isPorthole(): Promise<boolean> {
    return this.#behaviour !== 'not trusted';
  }

  async askGroup(body: string, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    const behaviour = this.#behaviour;
    if (behaviour === 'unable' || behaviour === 'not trusted')
      throw new PortholeError('NOT_SUPPORTED', 'no such route');
    const clock = { nowMs: 0, offsetMsAt: () => 0 };
    const call = { body, clock, maxRecords: 10_000, searchBudgetMs: 60_000, authorize: () => {}, signal };
    const { peers } = this.#deps;
    const reaches = (id: string) => behaviour !== 'reaches some' || Number(id.slice(1)) % 2 === 0;
    const get = (id: string) => (reaches(id) ? peers.get(id) : { ...peers.get(id), state: UNREACHABLE });
    const answer = answerGroup({ peers: { get }, maxParallel: 4 }, call);
    return (async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      if (behaviour === 'nonsense') return yield encodeFrame(FRAME.records, 0, Buffer.from('?'));
      if (behaviour === 'silent') return await sleep(60_000, undefined, { signal, ref: false }).catch(() => {}); // aborted
      let left = behaviour.startsWith('cut ') ? Number(behaviour.slice(4)) : Infinity;
      for await (const piece of answer) {
        if (left-- <= 0) return;
        yield piece;
      }
    })();
  }
}

interface Clusters {
  direct: ClusterDeps;
  tree: ClusterDeps;
  /** Whether both request the same of members. */
  isAlike: boolean;
}

/** Members are asked for everything at once, directly; through helpers possibly in pages. */
function toClusters({ members, groupSize, choices, pageRecords }: Given): Clusters {
  const states = Object.fromEntries(members.map((spec, index) => [`m${index}`, toNode(spec, index)]));
  const clocks = Object.fromEntries(
    members.map(({ offsetMs, uncertaintyMs }, index) => [`m${index}`, { offsetMs, uncertaintyMs }]),
  );
  const direct = fakeCluster(states, { clocks, limits: LIMITS });
  const known = new Map<string, RegisteredPeer>();
  const withTransport = (peer: RegisteredPeer): RegisteredPeer => {
    const { id } = peer.member;
    const transport = new FakeHelper(members[Number(id.slice(1))]?.helper ?? '', tree);
    const made = known.get(id) ?? { member: peer.member, state: peer.state, forget: peer.forget, transport };
    known.set(id, made);
    return made;
  };
  let next = 0;
  // A member that is cut off in the same place of each response sends more in pages.
  const isAlike = pageRecords === 0 || members.some(({ searched: how }) => how === 'is cut off');
  const tree: ClusterDeps = {
    ...direct,
    ...(!isAlike && { limits: { ...LIMITS, pageRecords } }),
    peers: {
      all: () => direct.peers.all().map(withTransport),
      get: (id) => withTransport(direct.peers.get(id)),
      select: (selection) => direct.peers.select(selection).map(withTransport),
    },
    tree: new QuestionTree({ from: 1, groupSize, silentMs: 30, random: () => choices[next++ % choices.length] ?? 0 }),
  };
  return { direct, tree, isAlike };
}

/**
 * Without what is not the same twice, and texts about failures. Whether the ends of members are known when the last record of
 * a full page is emitted, and whether one was cut off after it, depends on how fast they come, directly as well.
 */
function comparable(given: ClusterEnd, { isFull, cutOff = [] }: { isFull: boolean; cutOff?: readonly string[] }) {
  const { elapsedMs: _elapsed, scannedBytes: _bytes, cursor, coveredFromMs: _from, coveredToMs: _to, ...rest } = given;
  const end = isFull ? { ...rest, reason: 'limit' } : rest;
  const members = end.members.map(({ elapsedMs: _ms, detail, coveredFromMs: _a, coveredToMs: _b, ...report }) => {
    const { outcome: _outcome, state: _state, ...others } = report;
    return isFull && cutOff.includes(report.id) ? others : { ...report, hasDetail: detail !== null };
  });
  return { ...end, members, hasCursor: isFull || cursor !== null };
}

/** What the tree covers is covered directly, too; unless the ends of members are not known, when the page is full. */
function expectWithin(tree: ClusterEnd, direct: ClusterEnd, { isFull }: { isFull: boolean }): void {
  for (const [own, other] of [
    [tree, direct],
    ...tree.members.map((report, index) => [report, direct.members[index]]),
  ]) {
    if (own?.coveredFromMs == null || own.coveredToMs == null) continue;
    if (isFull && other?.coveredFromMs == null) continue;
    expect(other?.coveredFromMs).toBeLessThanOrEqual(own.coveredFromMs);
    expect(other?.coveredToMs).toBeGreaterThanOrEqual(own.coveredToMs);
  }
}

async function collectLines(pieces: AsyncIterable<Uint8Array>): Promise<ClusterItem[]> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) chunks.push(piece);
  const lines = Buffer.concat(chunks).toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as ClusterItem);
}

type PageOutcome = Outcome<Awaited<ReturnType<typeof collectResponse>>>;

type Outcome<T> = { value: T } | { error: string };

async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  return work.then(
    (value) => ({ value }),
    (error: PortholeError) => ({ error: error.code }),
  );
}

describe('a search through helpers', () => {
  it('returns what a direct one returns, page by page, whatever helpers and members do', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 1, max: 40 }), fc.boolean(), async (spec, limit, isNewest) => {
        const { direct, tree, isAlike } = toClusters(spec);
        const query: ClusterSearch = { order: isNewest ? 'newest' : 'oldest', limit, before: 0, after: 0 };
        let start: ClusterSearch['start'];
        let treeStart: ClusterSearch['start'];
        const cutOff = spec.members.flatMap(({ searched: how }, index) => (how === 'is cut off' ? `m${index}` : []));
        for (let page = 0; page < 20; page++) {
          const expected: PageOutcome = await outcomeOf(
            collectResponse(searchCluster(direct, { ...query, ...(start && { start }) })),
          );
          const asked: ClusterSearch = { ...query, ...(treeStart && { start: treeStart }) };
          const found: PageOutcome = await outcomeOf(collectResponse(searchCluster(tree, asked)));
          if (!('value' in expected) || !('value' in found)) {
            expect(found).toEqual(expected);
            return;
          }
          expect(found.value.records).toEqual(expected.value.records);
          const isFull = found.value.records.length === limit;
          const known = { isFull, cutOff };
          expect(comparable(found.value.end, known)).toEqual(comparable(expected.value.end, known));
          // The ends of pages come earlier: more may be known.
          if (isAlike) expectWithin(found.value.end, expected.value.end, known);
          const next: string | null = expected.value.end.cursor;
          const treeNext: string | null = found.value.end.cursor;
          if (next === null || treeNext === null) {
            // A page that one of them still has is empty.
            const more = next === null ? treeNext : next;
            const rest = more && searchCluster(next === null ? tree : direct, { ...query, start: { cursor: more } });
            if (rest) expect((await collectResponse(rest)).records).toEqual([]);
            return;
          }
          start = { cursor: next };
          treeStart = { cursor: treeNext };
        }
      }),
      { numRuns: 25 * MORE },
    );
  });

  it('returns the same as lines', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 1, max: 60 }), async (spec, limit) => {
        const { direct, tree } = toClusters(spec);
        const query: ClusterSearch = { order: 'oldest', limit, before: 0, after: 0 };
        const expected = await outcomeOf(collectResponse(searchCluster(direct, query)));
        const found = await outcomeOf(collectLines(searchClusterLines(tree, query)));
        if (!('value' in expected) || !('value' in found)) {
          expect(found).toEqual(expected);
          return;
        }
        expect(found.value.slice(0, -1)).toEqual(expected.value.records);
      }),
      { numRuns: 10 * MORE },
    );
  });

  it('of the records around a time returns what a direct one returns', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 0, max: 200 }), async (spec, timeMs) => {
        const { direct, tree } = toClusters(spec);
        const request = { at: { timeMs }, beforeMs: 60, afterMs: 40, limit: 12 };
        const expected = await outcomeOf(collectResponse(searchAround(direct, request)));
        const found = await outcomeOf(collectResponse(searchAround(tree, request)));
        if (!('value' in expected) || !('value' in found)) {
          expect(found).toEqual(expected);
          return;
        }
        expect(found.value.records).toEqual(expected.value.records);
        const isFull = false;
        expect(comparable(found.value.end, { isFull })).toEqual(comparable(expected.value.end, { isFull }));
      }),
      { numRuns: 10 * MORE },
    );
  });
});
