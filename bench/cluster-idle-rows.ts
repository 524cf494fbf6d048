import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { below, type Row } from './group.ts';
import type { PortholeServer } from './porthole.ts';
import { cpuSeconds, watchResident } from './process-usage.ts';
import { startFakeMembers, startQueryNode } from './query-node.ts';
import { median, showNumber } from './rounds.ts';
import { sendRequest } from './send-request.ts';

const MEMBERS = 1000;
const MOST_MB = 60;
const MOST_CPU_PERCENT = 1;
const MOST_NODES_MS = 200;

const RECORDS = 10;
const SAMPLE_MS = 250;

/** All are known after some rounds of exchanges; then what the start needed is given back by the garbage collector. */
const SETTLE_MS = 90_000;

/** Where every member must answer, none is given up because the machine is busy. */
const PATIENT = ['--cluster-member-timeout', '1m'];

interface Usage {
  /** Highest. */
  residentBytes: number;
  cpuPercent: number;
}

/**
 * What members cost while nobody asks for anything: they exchange their state with this node, and a few of their snapshots are
 * kept. A node that is alone and one with members are watched at the same time; then the latter is asked for all members.
 */
export async function idleRows(context: BenchContext): Promise<Row[]> {
  const { idleClusterSeconds: seconds } = context.effort;
  context.log(`  ${MEMBERS} members that nobody asks for`);
  const members = await startFakeMembers(context, MEMBERS, RECORDS);
  const logDir = context.tempDir();
  const alone = await startQueryNode(context, { logDir, members: [] });
  const node = await startQueryNode(context, { logDir, members: members.answering, flags: PATIENT });
  await members.askNode(node.url);
  const start = watchResident(node.pid, SAMPLE_MS);
  await sleep(SETTLE_MS);
  const startBytes = start.stop();
  const [base, used] = await Promise.all([watch(alone, seconds), watch(node, seconds)]);
  const nodesRow = await nodesFromMemory(context, node);
  for (const started of [alone, node, members]) await started.stop();
  return [...usageRows({ base, used, startBytes, seconds }), nodesRow];
}

interface ListedNodes {
  nodes: { state: string; asOfMs?: number }[];
}

/** The list of all members, which were not contacted for it. */
async function nodesFromMemory({ effort }: BenchContext, { url, pid }: PortholeServer): Promise<Row> {
  const times: number[] = [];
  let bytes = 0;
  const before = cpuSeconds(pid);
  for (let round = -1; round < effort.rounds; round++) {
    const { tookMs, body } = await sendRequest(`${url}/api/v1/cluster/nodes`, {});
    const { nodes } = JSON.parse(body.toString()) as ListedNodes;
    const up = nodes.filter(({ state, asOfMs }) => state === 'up' && asOfMs !== undefined).length;
    if (up < MEMBERS) throw new Error(`only ${up} of ${MEMBERS} members are known to be up`);
    times.push(tookMs);
    bytes = body.length;
  }
  const [first = 0, ...others] = times;
  const cpuMs = ((cpuSeconds(pid) - before) * 1000) / times.length;
  return {
    figure: `/cluster/nodes over ${MEMBERS} members that exchange their state, ms`,
    porthole: showNumber(median(others)),
    against: `the first time ${showNumber(first)}; ${bytes} bytes; processor time ${showNumber(cpuMs)} each`,
    bar: below(median(others), MOST_NODES_MS, 'ms'),
    rounds: others.map(showNumber).join(', '),
  };
}

async function watch({ pid }: PortholeServer, seconds: number): Promise<Usage> {
  const before = cpuSeconds(pid);
  const resident = watchResident(pid, SAMPLE_MS);
  await sleep(seconds * 1000);
  return { residentBytes: resident.stop(), cpuPercent: ((cpuSeconds(pid) - before) / seconds) * 100 };
}

interface IdleFigures {
  base: Usage;
  used: Usage;
  startBytes: number;
  seconds: number;
}

function usageRows({ base, used, startBytes, seconds }: IdleFigures): Row[] {
  const figure = `${MEMBERS} members that nobody asks for, ${seconds} s`;
  const mb = (bytes: number) => bytes / 1e6;
  const addedMb = mb(used.residentBytes - base.residentBytes);
  const addedPercent = used.cpuPercent - base.cpuPercent;
  return [
    {
      figure: `${figure}: resident memory they add, MB`,
      porthole: showNumber(addedMb),
      against: `with ${showNumber(mb(used.residentBytes))}, alone ${showNumber(mb(base.residentBytes))}, at most ${showNumber(mb(startBytes))} at the start`,
      bar: below(addedMb, MOST_MB, 'MB'),
    },
    {
      figure: `${figure}: processor time they add, % of one core`,
      porthole: showNumber(addedPercent),
      against: `with ${showNumber(used.cpuPercent)}, alone ${showNumber(base.cpuPercent)}`,
      bar: below(addedPercent, MOST_CPU_PERCENT, '%'),
    },
  ];
}
