import { join } from 'node:path';
import { ABSENT_TEXT, BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { atMost, type Row } from './group.ts';
import { ensureFile, writeLines } from './input-files.ts';
import type { LineMix } from './log-lines.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { startQueryNode } from './query-node.ts';
import { fastest, showAll, showNumber } from './rounds.ts';
import { failedMembers, searchCluster } from './search-cluster.ts';
import { showSize } from './search-files.ts';
import { type Query, searchNode } from './send-request.ts';

const MEMBERS = 3;
const FILE = 'broker.log';
/** The asked node merges on one thread, while the direct requests are answered by three. */
const MOST_RATIO = 2;

/** The bench writes its times in UTC, wherever it runs. */
const ZONE_FLAGS = ['--node-time-zone', 'UTC'];

/** Not counted: files come into the page cache, and code is compiled. */
const WARM_UP_ROUNDS = 3;

interface SearchCase {
  figure: string;
  query: Query;
  found: number;
}

/** In which a log has about two warnings. */
const BYTES_PER_RECORD = 16 * 1024;

function searchCases(memberLogBytes: number): readonly SearchCase[] {
  const limit = Math.floor(memberLogBytes / BYTES_PER_RECORD);
  return [
    {
      figure: `a level, ${limit} records, oldest first`,
      query: { src: `=${FILE}`, level: 'warn', order: 'oldest', limit },
      found: limit,
    },
    { figure: 'a text that does not occur', query: { src: `=${FILE}`, q: ABSENT_TEXT, limit }, found: 0 },
  ];
}

interface Times {
  merged: number[];
  /** The slowest of the members, asked at the same time. */
  alone: number[];
}

/** The same question to all members through one of them, and to each of them for itself. */
export async function searchRows(context: BenchContext): Promise<Row[]> {
  const { rounds, memberLogBytes } = context.effort;
  const nodes = await startMembers(context);
  const times = new Map<SearchCase, Times>(
    searchCases(memberLogBytes).map((question) => [question, { merged: [], alone: [] }]),
  );
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [question, { merged, alone }] of times) {
      const runs = [
        async () => [merged, await searchMerged(nodes, question)] as const,
        async () => [alone, await searchEach(nodes, question)] as const,
      ];
      for (const run of round % 2 === 0 ? runs : runs.reverse()) {
        const [taken, tookMs] = await run();
        if (round >= 0) taken.push(tookMs);
      }
    }
  }
  for (const node of nodes) await node.stop();
  return [...times].map(([question, taken]) => comparisonRow(question, taken, showSize(memberLogBytes)));
}

/** The first one knows the others. */
async function startMembers(context: BenchContext): Promise<PortholeServer[]> {
  const dirs: string[] = [];
  for (let number = 0; number < MEMBERS; number++) dirs.push(await ensureMemberLog(context, number));
  const [first = '', ...others] = dirs;
  const nodes = await Promise.all(others.map((dir) => startPorthole(context, dir, ZONE_FLAGS)));
  const members = nodes.map(({ url }, index) => `other-${index + 1}=${url}`);
  return [await startQueryNode(context, { logDir: first, members, flags: ZONE_FLAGS }), ...nodes];
}

/** The same times in all of them, but the warnings in other lines: what is merged changes from member to member. */
async function ensureMemberLog(context: BenchContext, number: number): Promise<string> {
  const sizeBytes = context.effort.memberLogBytes;
  const size = showSize(sizeBytes).replace(' ', '-').toLowerCase();
  const dir = context.dataDir(join('cluster', `${size}-of-member-${number + 1}`));
  const mix: LineMix = { ...BROKER_MIX, levelFor: (line, hash) => BROKER_MIX.levelFor(line, hash + number * 256) };
  await ensureFile(context, join(dir, FILE), sizeBytes, (handle) => writeLines(handle, sizeBytes, { mix }));
  return dir;
}

async function searchMerged([asked]: readonly PortholeServer[], { figure, query, found }: SearchCase): Promise<number> {
  const { tookMs, end } = await searchCluster(asked?.url ?? '', query);
  const failed = failedMembers(end);
  if (failed.length > 0 || end.members.length !== MEMBERS) throw new Error(`${figure}: not all of ${failed.join()}`);
  if (end.records !== found) throw new Error(`${figure}: ${end.records} records of the cluster instead of ${found}`);
  return tookMs;
}

/** They share the machine when they are asked together, so they must share it here too. */
async function searchEach(nodes: readonly PortholeServer[], { figure, query, found }: SearchCase): Promise<number> {
  const replies = await Promise.all(nodes.map(({ url }) => searchNode(url, query)));
  if (replies.some(({ end }) => end.records !== found)) throw new Error(`${figure}: a member does not have ${found}`);
  return Math.max(...replies.map(({ tookMs }) => tookMs));
}

function comparisonRow({ figure }: SearchCase, { merged, alone }: Times, size: string): Row {
  const ratio = fastest(merged) / fastest(alone);
  return {
    figure: `merged search over ${MEMBERS} members, ${size} each: ${figure}, ms`,
    porthole: showNumber(fastest(merged)),
    against: `the slowest of ${MEMBERS} asked at once ${showNumber(fastest(alone))}`,
    ratio,
    target: atMost(ratio, MOST_RATIO),
    rounds: `${showAll(merged)} against ${showAll(alone)}`,
  };
}
