import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { atMost, below, type Row } from './group.ts';
import { cpuSeconds, residentBytes, watchResident } from './process-usage.ts';
import { type FakeMembers, type QueryNode, startFakeMembers, startQueryNode } from './query-node.ts';
import { type Registry, startRegistry } from './registry.ts';
import { median, showNumber } from './rounds.ts';
import { type ClusterReply, failedMembers, searchCluster } from './search-cluster.ts';
import { sendRequest } from './send-request.ts';

/** Members besides the node that is asked. */
const SIZES = [3, 30, 300, 1000];

/** The records of each member, and how many are requested of all. */
const RECORDS = 200;
const QUERY = { order: 'oldest', limit: 10_000 } as const;

/** The deadline of the default settings, and what may come on top of it. */
const FIRST_BATCH_MS = 2000;
const MOST_ADDED_MS = 100;

/** Goals for 1,000 members. */
const LARGE = 1000;
const MOST_FIRST_MS = 900;
const MOST_GROWN_MB = 150;
const MOST_NODES_MS = 500;
const MOST_DIFF_MS = 2000;
const MOST_IDLE_MB = 120;
const MOST_IDLE_PERCENT = 1;

/** Where every member must answer, none is given up because the machine is busy. */
const PATIENT = ['--cluster-first-batch-timeout', '1m', '--cluster-member-timeout', '1m'];

const SAMPLE_MS = 10;

/** Until all clocks were measured; those of a thousand members take longer. */
const SETTLE_MS = 3000;
const SETTLE_EACH_MS = 15;

/** What a node that is asked costs, and how long its answers take, by the number of its members. */
export async function sizeRows(context: BenchContext): Promise<Row[]> {
  const rows: Row[] = [];
  const hundred = await startFakeMembers(context, 100, RECORDS);
  rows.push(await deadRow(context, hundred));
  await hundred.stop();
  for (const size of SIZES) {
    const members = await startFakeMembers(context, size, RECORDS);
    const registry = await startRegistry(context, members);
    rows.push(...(await measure(context, { members, registry, size })));
    for (const started of [registry, members]) await started.stop();
  }
  return rows;
}

/** Two of a hundred do not answer: one takes the connection and is silent, at the other nobody listens. */
async function deadRow(context: BenchContext, fakes: FakeMembers): Promise<Row> {
  context.log('  100 members, two of them dead');
  const members = [...fakes.answering.slice(2), fakes.silent, fakes.refusing];
  const node = await startQueryNode(context, { logDir: context.tempDir(), members, refresh: '1d' });
  await sleep(SETTLE_MS);
  const { replies } = await search(context, node);
  await node.stop();
  for (const { end } of replies) {
    const failed = failedMembers(end).join();
    if (failed !== 'z-refusing,z-silent') throw new Error(`not the dead ones are missing, but: ${failed}`);
  }
  const firstMs = median(replies.map((reply) => reply.firstMs));
  return {
    figure: 'merged search over 100 members, one refusing and one silent: until the first record, ms',
    porthole: showNumber(firstMs),
    against: `to the end ${showNumber(median(replies.map(({ tookMs }) => tookMs)))}`,
    bar: atMost(firstMs, FIRST_BATCH_MS + MOST_ADDED_MS, 'ms'),
    rounds: replies.map((reply) => `${showNumber(reply.firstMs)} and ${showNumber(reply.tookMs)}`).join(', '),
  };
}

interface Setting {
  members: FakeMembers;
  registry: Registry;
  size: number;
}

/** Default settings but for the timeouts. A node that is alone is watched as well: what it takes is not the members'. */
async function measure(context: BenchContext, { registry, size }: Setting): Promise<Row[]> {
  context.log(`  ${size} members`);
  const { idleClusterSeconds: seconds } = context.effort;
  const logDir = context.tempDir();
  const alone = await startQueryNode(context, { logDir, members: [] });
  const node = await startQueryNode(context, { logDir, etcd: registry.url, flags: PATIENT });
  await registry.writeStates();
  await sleep(SETTLE_MS + size * SETTLE_EACH_MS);
  const [base, idle] = await Promise.all([watchIdle(alone, seconds), watchIdle(node, seconds)]);
  await alone.stop();
  await registry.writeStates();
  const nodes = await listNodes(context, node, size);
  const diffs = await compareConfigs(context, node, size);
  const searched = await search(context, node);
  await node.stop();
  for (const { end } of searched.replies)
    if (failedMembers(end).length > 0) throw new Error(`these members failed: ${failedMembers(end).join()}`);
  const hasGoal = size >= LARGE;
  const firstMs = median(searched.replies.map((reply) => reply.firstMs));
  const tookMs = median(searched.replies.map((reply) => reply.tookMs));
  const idleMb = (idle.bytes - base.bytes) / 1e6;
  const idlePercent = idle.cpuPercent - base.cpuPercent;
  return [
    {
      figure: `${size} members: /cluster/nodes, ms`,
      porthole: showNumber(median(nodes.times)),
      against: `the first time ${showNumber(nodes.firstMs)}; ${nodes.bytes} bytes; ${nodes.published} from the registry`,
      ...(hasGoal && { bar: below(median(nodes.times), MOST_NODES_MS, 'ms') }),
      rounds: nodes.times.map(showNumber).join(', '),
    },
    {
      figure: `${size} members: /cluster/config/diff, ms`,
      porthole: showNumber(median(diffs.times)),
      against: `the first time ${showNumber(diffs.firstMs)}, processor time of the node ${showNumber(diffs.firstCpuMs)}`,
      ...(hasGoal && { bar: below(diffs.firstMs, MOST_DIFF_MS, 'ms') }),
      rounds: diffs.times.map(showNumber).join(', '),
    },
    {
      figure: `${size} members: merged search, ${QUERY.limit} records, until the first record, ms`,
      porthole: showNumber(firstMs),
      against: `to the end ${showNumber(tookMs)}; processor time of the node ${showNumber(searched.cpuMs)}`,
      ...(hasGoal && { bar: below(firstMs, MOST_FIRST_MS, 'ms') }),
      rounds: searched.replies.map((reply) => showNumber(reply.firstMs)).join(', '),
    },
    {
      figure: `${size} members: growth of resident memory by the search, MB`,
      porthole: showNumber(searched.grownBytes / 1e6),
      ...(hasGoal && { bar: below(searched.grownBytes / 1e6, MOST_GROWN_MB, 'MB') }),
    },
    {
      figure: `${size} members that nobody asks for, ${seconds} s: resident memory they add, MB`,
      porthole: showNumber(idleMb),
      ...(hasGoal && { bar: below(idleMb, MOST_IDLE_MB, 'MB') }),
    },
    {
      figure: `${size} members that nobody asks for, ${seconds} s: processor time they add, % of one core`,
      porthole: showNumber(idlePercent),
      ...(hasGoal && { bar: below(idlePercent, MOST_IDLE_PERCENT, '%') }),
    },
  ];
}

async function watchIdle({ pid }: QueryNode, seconds: number): Promise<{ bytes: number; cpuPercent: number }> {
  const before = cpuSeconds(pid);
  const resident = watchResident(pid, SAMPLE_MS * 25);
  await sleep(seconds * 1000);
  return { bytes: resident.stop(), cpuPercent: ((cpuSeconds(pid) - before) / seconds) * 100 };
}

async function listNodes({ effort }: BenchContext, { url }: QueryNode, size: number) {
  const times: number[] = [];
  let [bytes, published] = [0, 0];
  for (let round = -1; round < effort.rounds; round++) {
    const { tookMs, body } = await sendRequest(`${url}/api/v1/cluster/nodes`, {});
    const { nodes } = JSON.parse(body.toString()) as { nodes: { state: string; asOfMs?: number }[] };
    const up = nodes.filter(({ state }) => state === 'up').length;
    if (up !== size + 1) throw new Error(`${up} of ${size + 1} nodes are up`);
    times.push(tookMs);
    bytes = body.length;
    published = nodes.filter(({ asOfMs }) => asOfMs !== undefined).length;
  }
  const [firstMs = 0, ...others] = times;
  return { firstMs, times: others, bytes, published };
}

/** The first time, all configurations are masked and parsed. */
async function compareConfigs({ effort }: BenchContext, { url, pid }: QueryNode, size: number) {
  const times: number[] = [];
  const cpuBefore = cpuSeconds(pid);
  let firstCpuMs = 0;
  for (let round = -1; round < effort.rounds; round++) {
    const { tookMs, body } = await sendRequest(`${url}/api/v1/cluster/config/diff`, {});
    const { roles } = JSON.parse(body.toString()) as { roles: { nodes: string[] }[] };
    const compared = roles.reduce((sum, { nodes }) => sum + nodes.length, 0);
    if (compared !== size + 1) throw new Error(`the configurations of ${compared} of ${size + 1} nodes were compared`);
    if (round < 0) firstCpuMs = (cpuSeconds(pid) - cpuBefore) * 1000;
    times.push(tookMs);
  }
  const [firstMs = 0, ...others] = times;
  return { firstMs, firstCpuMs, times: others };
}

/** The first question counts only for its memory. */
async function search({ effort }: BenchContext, { url, pid }: QueryNode) {
  const before = residentBytes(pid);
  const resident = watchResident(pid, SAMPLE_MS);
  await searchCluster(url, QUERY);
  const replies: ClusterReply[] = [];
  const cpuBefore = cpuSeconds(pid);
  for (let round = 0; round < effort.rounds; round++) replies.push(await searchCluster(url, QUERY));
  const cpuMs = ((cpuSeconds(pid) - cpuBefore) * 1000) / replies.length;
  return { replies, grownBytes: resident.stop() - before, cpuMs };
}
