import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { atMost, below, type Row } from './group.ts';
import { cpuSeconds, residentBytes, watchResident } from './process-usage.ts';
import { type FakeMembers, type QueryNode, startFakeMembers, startQueryNode } from './query-node.ts';
import { median, showNumber } from './rounds.ts';
import { type ClusterReply, failedMembers, Refused, searchCluster } from './search-cluster.ts';
import { sendRequest } from './send-request.ts';

/** The records of each member: together more than one response may have, so that it has a cursor. */
const RECORDS = 200;
const LIMIT = 10_000;
const QUERY = { order: 'oldest', limit: LIMIT } as const;

/** The deadline of the default settings, and what may come on top of it. */
const FIRST_BATCH_MS = 2000;
const MOST_ADDED_MS = 100;

/** Where every member must answer, none is given up because the machine is busy. */
const PATIENT = ['--cluster-first-batch-timeout', '1m', '--cluster-member-timeout', '1m'];

/** Goals for many members. */
const LARGE = 1000;
const MOST_FIRST_MS = 900;
const MOST_GROWN_MB = 150;

const SAMPLE_MS = 10;

/** Clocks are measured once at the start, and then not again while something else is measured. */
const REFRESH = '1d';
const SETTLE_MS = 3000;

/** One question that asks all members, some of which may be dead. */
export async function fanOutRows(context: BenchContext): Promise<Row[]> {
  const rows: Row[] = [];
  const hundred = await startFakeMembers(context, 100, RECORDS);
  rows.push(await deadRow(context, hundred));
  rows.push(...(await searchRows(context, hundred)), ...(await nodesRows(context, hundred)));
  await hundred.stop();
  const thousand = await startFakeMembers(context, 1000, RECORDS);
  rows.push(...(await searchRows(context, thousand)), ...(await nodesRows(context, thousand)));
  await thousand.stop();
  return rows;
}

/** Two of a hundred do not answer: one takes the connection and is silent, at the other nobody listens. */
async function deadRow(context: BenchContext, fakes: FakeMembers): Promise<Row> {
  context.log('  100 members, two of them dead');
  const members = [...fakes.answering.slice(2), fakes.silent, fakes.refusing];
  const { replies, grownBytes } = await searchTimes(context, members);
  for (const { end } of replies) {
    const failed = failedMembers(end).join();
    if (failed !== 'z-refusing,z-silent') throw new Error(`not the dead ones are missing, but: ${failed}`);
  }
  const firstMs = median(replies.map((reply) => reply.firstMs));
  const endMs = median(replies.map((reply) => reply.tookMs));
  return {
    figure: 'merged search over 100 members, one refusing and one silent: until the first record, ms',
    porthole: showNumber(firstMs),
    against: `to the end ${showNumber(endMs)}; resident memory grows by ${showMb(grownBytes)}`,
    bar: atMost(firstMs, FIRST_BATCH_MS + MOST_ADDED_MS, 'ms'),
    rounds: replies.map((reply) => `${showNumber(reply.firstMs)} and ${showNumber(reply.tookMs)}`).join(', '),
  };
}

/** The members share the machine with the node. */
async function searchRows(context: BenchContext, { answering: members }: FakeMembers): Promise<Row[]> {
  context.log(`  search of ${members.length} members`);
  const { replies, grownBytes, nextPage, cpuMs } = await searchTimes(context, members, PATIENT);
  for (const { end } of replies) {
    if (failedMembers(end).length > 0) throw new Error(`these members failed: ${failedMembers(end).join()}`);
  }
  const cursor = replies.at(-1)?.end.cursor ?? '';
  const figure = `merged search over ${members.length} members, ${LIMIT} records`;
  const hasGoal = members.length >= LARGE;
  const firstMs = median(replies.map((reply) => reply.firstMs));
  return [
    {
      figure: `${figure}: until the first record, ms`,
      porthole: showNumber(firstMs),
      against: `to the end ${showNumber(median(replies.map(({ tookMs }) => tookMs)))}; processor time of the node ${showNumber(cpuMs)}`,
      ...(hasGoal && { bar: below(firstMs, MOST_FIRST_MS, 'ms') }),
      rounds: replies.map((reply) => `${showNumber(reply.firstMs)} and ${showNumber(reply.tookMs)}`).join(', '),
    },
    {
      figure: `${figure}: growth of resident memory, MB`,
      porthole: showNumber(grownBytes / 1e6),
      ...(hasGoal && { bar: below(grownBytes / 1e6, MOST_GROWN_MB, 'MB') }),
    },
    { figure: `${figure}: characters of the cursor`, porthole: String(cursor.length), against: nextPage },
  ];
}

interface SearchTimes {
  replies: ClusterReply[];
  grownBytes: number;
  /** Processor time of the node for each, the first one not counted. */
  cpuMs: number;
  /** What comes of going on with the cursor. */
  nextPage: string;
}

/** The first question is not counted, but for what memory it takes. */
async function searchTimes(
  context: BenchContext,
  members: readonly string[],
  flags: readonly string[] = [],
): Promise<SearchTimes> {
  const node = await startQuietNode(context, members, flags);
  const before = residentBytes(node.pid);
  const resident = watchResident(node.pid, SAMPLE_MS);
  await searchCluster(node.url, QUERY);
  const replies: ClusterReply[] = [];
  const cpuBefore = cpuSeconds(node.pid);
  for (let round = 0; round < context.effort.rounds; round++) replies.push(await searchCluster(node.url, QUERY));
  const cpuMs = ((cpuSeconds(node.pid) - cpuBefore) * 1000) / replies.length;
  const grownBytes = resident.stop() - before;
  const nextPage = await fetchNextPage(node, replies.at(-1)?.end.cursor ?? null);
  await node.stop();
  return { replies, grownBytes, nextPage, cpuMs };
}

async function fetchNextPage({ url }: QueryNode, cursor: string | null): Promise<string> {
  if (cursor === null) return 'there is no next page';
  try {
    const { end } = await searchCluster(url, { ...QUERY, cursor });
    return `the next page has ${end.records} records`;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return `the next page is refused with ${error.status}`;
  }
}

async function nodesRows(context: BenchContext, { answering: members }: FakeMembers): Promise<Row[]> {
  context.log(`  /cluster/nodes of ${members.length} members`);
  const node = await startQuietNode(context, members, PATIENT);
  const before = residentBytes(node.pid);
  const resident = watchResident(node.pid, SAMPLE_MS);
  const times: number[] = [];
  let bytes = 0;
  for (let round = -1; round < context.effort.rounds; round++) {
    const { tookMs, body } = await sendRequest(`${node.url}/api/v1/cluster/nodes`, {});
    const { nodes } = JSON.parse(body.toString()) as { nodes: { state: string }[] };
    const up = nodes.filter(({ state }) => state === 'up').length;
    if (up !== members.length + 1) throw new Error(`${up} of ${members.length + 1} nodes are up`);
    if (round >= 0) times.push(tookMs);
    bytes = body.length;
  }
  const grownBytes = resident.stop() - before;
  await node.stop();
  return [
    {
      figure: `/cluster/nodes over ${members.length} members, ms`,
      porthole: showNumber(median(times)),
      against: `${bytes} bytes; resident memory grows by ${showMb(grownBytes)}`,
      rounds: times.map(showNumber).join(', '),
    },
  ];
}

async function startQuietNode(
  context: BenchContext,
  members: readonly string[],
  flags: readonly string[],
): Promise<QueryNode> {
  const node = await startQueryNode(context, { logDir: context.tempDir(), members, refresh: REFRESH, flags });
  await sleep(SETTLE_MS);
  return node;
}

function showMb(bytes: number): string {
  return `${showNumber(bytes / 1e6)} MB`;
}
