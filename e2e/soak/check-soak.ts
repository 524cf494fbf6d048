import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from '../../packages/logs/src/testing/timeout-scale.ts';
import type { Load, SoakFollower } from './soak-load.ts';
import { numberIn, type SoakNode } from './soak-node.ts';

const MIB = 1024 ** 2;

/** How long what is under way has to reach who waits for it, and what is closed to be gone. */
const SETTLE_MS = scaled(20_000);

/** Descriptors that come and go: kept files, connections between members. */
const MORE_FILES = 40;

/** What a node may grow from the first half after warming up to the second. */
const MOST_GROWTH_MIB = 32;

const HEALTH_MS = 1000;

export interface SoakRow {
  what: string;
  figure: string;
  promise: string;
  kept: boolean;
}

export interface SoakOutcome {
  nodes: readonly SoakNode[];
  followers: ReadonlyMap<string, readonly SoakFollower[]>;
  load: Load;
  filesBefore: ReadonlyMap<string, number>;
  memory: ReadonlyMap<string, readonly number[]>;
  /** Share of the samples that do not count. */
  warmUp: number;
}

export async function checkSoak(outcome: SoakOutcome): Promise<SoakRow[]> {
  const { nodes, load } = outcome;
  const rows = [
    await followRow(outcome),
    await searchRow(nodes),
    ...nodes.filter(({ wasKilled }) => !wasKilled).map((node) => memoryRow(node, outcome)),
    ...(await Promise.all(nodes.filter(({ wasKilled }) => !wasKilled).map((node) => filesRow(node, outcome)))),
    latencyRow('health', load.healthMs, HEALTH_MS),
    latencyRow('view of 64 KiB', load.viewMs, undefined),
    {
      what: 'answers that were none, or wrong',
      figure: load.troubles.length === 0 ? '0' : `${load.troubles.length}: ${load.troubles.slice(0, 3).join('; ')}`,
      promise: '0',
      kept: load.troubles.length === 0,
    },
  ];
  const { searches, stalledReaders, slowConnections, refusedTokens } = load;
  const lines = nodes.reduce((sum, { written }) => sum + written, 0);
  const rotations = nodes.reduce((sum, { rotations: own }) => sum + own, 0);
  const figure = `${lines} lines, ${rotations} rotations, ${searches} searches, ${stalledReaders} stalled readers, ${slowConnections} slow connections, ${refusedTokens} wrong tokens`;
  return [{ what: 'the load', figure, promise: '–', kept: true }, ...rows];
}

async function followRow({ nodes, followers }: SoakOutcome): Promise<SoakRow> {
  const all = nodes.flatMap((node) => (followers.get(node.id) ?? []).map((follower) => ({ node, follower })));
  const isWhole = () => all.every(({ node, follower }) => follower.numbers.length >= node.written);
  const giveUpAt = Date.now() + SETTLE_MS;
  // pause: between two looks
  while (!isWhole() && Date.now() < giveUpAt) await delay(50);
  const wrong = all.flatMap(({ node, follower }) =>
    [...differences(follower.numbers, node.written), ...follower.gaps].map((text) => `${node.id}: ${text}`),
  );
  return completeness('every line once, through each follow', wrong, all.length);
}

/** Members may still be busy with the load, and be reported as silent: then the search is repeated. */
async function searchRow(nodes: readonly SoakNode[]): Promise<SoakRow> {
  const giveUpAt = Date.now() + SETTLE_MS;
  for (;;) {
    const { found, silent } = await searchAll(nodes);
    if (silent.length > 0 && Date.now() < giveUpAt) {
      await delay(200); // pause: between two looks
      continue;
    }
    const wrong = nodes.flatMap(({ id, written }) =>
      differences(found.get(id) ?? [], written).map((text) => `${id}: ${text}`),
    );
    return completeness('every line once, through a search of the cluster', [...silent, ...wrong], nodes.length);
  }
}

async function searchAll(nodes: readonly SoakNode[]): Promise<{ found: Map<string, number[]>; silent: string[] }> {
  const [first] = nodes;
  const found = new Map(nodes.map(({ id }) => [id, [] as number[]]));
  const silent: string[] = [];
  let cursor: string | null = null;
  do {
    const startAt: { start?: { cursor: string } } = cursor === null ? {} : { start: { cursor } };
    const query = { order: 'oldest', limit: 10_000, before: 0, after: 0, terms: ['[Soak]'], ...startAt } as const;
    cursor = null;
    for await (const items of first?.client.search({ nodes: ['*'], ...query }) ?? []) {
      for (const item of items) {
        if (item.type === 'end') {
          cursor = item.cursor;
          for (const { id, outcome } of item.members) if (outcome !== 'ok') silent.push(`${id}: ${outcome}`);
        } else for (const [id, numbers] of found) add(numbers, numberIn(item.message, id));
      }
    }
  } while (cursor !== null);
  return { found, silent };
}

function add(numbers: number[], number: number | undefined): void {
  if (number !== undefined) numbers.push(number);
}

function differences(numbers: readonly number[], written: number): string[] {
  const times = new Map<number, number>();
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
  const twice = [...times].filter(([, count]) => count > 1).map(([number]) => number);
  const missing = Array.from({ length: written }, (_, index) => index + 1).filter((number) => !times.has(number));
  return [
    ...(missing.length > 0 ? [`${missing.length} missing, first ${missing[0]}`] : []),
    ...(twice.length > 0 ? [`${twice.length} twice, first ${twice[0]}`] : []),
  ];
}

function completeness(what: string, wrong: readonly string[], count: number): SoakRow {
  const figure = wrong.length === 0 ? `all, by each of ${count}` : wrong.slice(0, 5).join('; ');
  return { what, figure, promise: 'all, once', kept: wrong.length === 0 };
}

function memoryRow({ id }: SoakNode, { memory, warmUp }: SoakOutcome): SoakRow {
  const samples = memory.get(id) ?? [];
  const warm = samples.slice(Math.floor(samples.length * warmUp));
  const half = warm.length >> 1;
  const [before, after] = [median(warm.slice(0, half)) / MIB, median(warm.slice(half)) / MIB];
  return {
    what: `resident memory of ${id}, second half against the first after warming up`,
    figure: `${after.toFixed(0)} MiB against ${before.toFixed(0)} MiB, peak ${(Math.max(...samples) / MIB).toFixed(0)} MiB`,
    promise: `grows by less than ${MOST_GROWTH_MIB} MiB`,
    kept: after - before < MOST_GROWTH_MIB,
  };
}

async function filesRow(node: SoakNode, { filesBefore }: SoakOutcome): Promise<SoakRow> {
  const before = filesBefore.get(node.id) ?? 0;
  const giveUpAt = Date.now() + SETTLE_MS;
  // pause: between two looks
  while (node.openFiles > before + MORE_FILES && Date.now() < giveUpAt) await delay(100);
  const after = node.openFiles;
  return {
    what: `open files and sockets of ${node.id}, after against before`,
    figure: `${after} against ${before}`,
    promise: `at most ${MORE_FILES} more`,
    kept: after <= before + MORE_FILES,
  };
}

function latencyRow(what: string, tookMs: readonly number[], mostMs: number | undefined): SoakRow {
  const sorted = [...tookMs].sort((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const [p50, p99, longest] = [at(0.5), at(0.99), at(1)];
  const figure = `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, longest ${longest.toFixed(0)} ms, of ${sorted.length}`;
  if (mostMs === undefined) return { what, figure, promise: '–', kept: sorted.length > 0 };
  return { what, figure, promise: `p99 within ${mostMs} ms`, kept: p99 < mostMs };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
}
