import { type BenchContext, ROOT } from '../context.ts';
import type { Group } from '../group.ts';
import { runProgram } from '../program.ts';
import { quantile } from '../quantile.ts';
import { showNumber } from '../rounds.ts';
import type { Row } from '../row.ts';
import type { ExchangeOptions } from '../simulation/exchange-model.ts';
import { type QuestionOptions, simulateQuestion } from '../simulation/question-model.ts';
import type { RealRun } from '../simulation/real-nodes.ts';
import { runScenario, type ScenarioResult } from '../simulation/run-scenario.ts';

/** As `cluster/src/gossip/gossip.ts` has it, with the default `cluster.refresh`. */
const REFRESH_MS = 30_000;
const EXCHANGES = 3;
const roundMs = (nodes: number) => Math.min(REFRESH_MS / 2, Math.max(REFRESH_MS / 6, nodes * 6));

/** Sizes of real exchanges, for each member: what a request says of it, and news of it in a response. */
const DIGEST_BYTES = 25;
const ENTRY_BYTES = 45;

/** Between machines of one site, a tenth of which are slow. */
const NETWORK = { latencyMs: 0.5, slowPercent: 10, slowMs: 300 };
const LEASE_MS = 10_000;

/** On one machine. */
const LOOPBACK = { latencyMs: 0.5, slowPercent: 0, slowMs: 0 };

const SEED = 19;

/** From the slopes of group `cluster`. */
const QUESTION: Omit<QuestionOptions, 'members' | 'groupSize' | 'silentPerMille'> = {
  ...NETWORK,
  seed: SEED,
  maxParallel: 64,
  senderMs: 0.9,
  groupMs: 0.1,
  serveMs: 5,
  deadlineMs: 2000,
  helperDeadlineMs: 1000,
};

/** Rounds of members that nobody could start here, computed event by event; and the same computation held against real nodes. */
export const simulationGroup: Group = {
  name: 'simulation',
  needs: [],
  async run(context) {
    const isQuick = context.effort.logBytes < 1024 ** 3;
    const rows: Row[] = [];
    for (const nodes of isQuick ? [30] : [30, 300]) rows.push(...(await compareRun(context, nodes)));
    for (const nodes of isQuick ? [300] : [1000, 10_000]) {
      context.log(`  ${nodes} simulated nodes`);
      rows.push(...scenarioRows(nodes, runScenario(exchangeOptions(nodes, NETWORK))), ...questionRows(nodes));
    }
    return rows;
  },
};

function exchangeOptions(nodes: number, network: typeof NETWORK): ExchangeOptions {
  const sizes = { entryBytes: ENTRY_BYTES, digestBytes: DIGEST_BYTES };
  return {
    nodes,
    seed: SEED,
    roundMs: roundMs(nodes),
    peersPerRound: EXCHANGES,
    leaseMs: LEASE_MS,
    ...network,
    ...sizes,
  };
}

/** Long enough that everybody has heard of everybody. */
const SETTLE_SECONDS = 40;
const MEASURED_SECONDS = 30;

async function compareRun(context: BenchContext, nodes: number): Promise<Row[]> {
  context.log(`  ${nodes} real nodes, and the same simulated`);
  const real = await runRealNodes(context, nodes);
  const simulated = runScenario(exchangeOptions(nodes, LOOPBACK));
  const figure = `${nodes} nodes`;
  const ageSeconds = (share: number) => quantile(real.ages, share) / 1000;
  const compare = (name: string, measured: number, computed: number): Row => ({
    figure: `${figure}: ${name}`,
    porthole: `real ${showNumber(measured)}`,
    against: `simulated ${showNumber(computed)}`,
    ratio: measured / computed,
  });
  return [
    compare('exchanges of each, per second', real.requestsPerSecond, simulated.requestsPerSecond),
    compare('age of what a node knows of others, median, s', ageSeconds(0.5), simulated.ages.medianMs / 1000),
    compare('the same, p99, s', ageSeconds(0.99), simulated.ages.p99Ms / 1000),
    {
      figure: `${figure} in one process: CPU time, % of a core each`,
      porthole: showNumber((real.cpuShare * 100) / nodes),
      against: `responses ${showNumber(real.responseBytesPerSecond)} bytes/s each`,
    },
  ];
}

async function runRealNodes(context: BenchContext, nodes: number): Promise<RealRun> {
  const args = [String(nodes), String(SETTLE_SECONDS), String(MEASURED_SECONDS)];
  const command = [process.execPath, '--import', 'tsx', 'bench/simulation/real-nodes.ts', ...args];
  context.recordCommand(['node', ...command.slice(1)]);
  return JSON.parse(await runProgram(command, context.cleanup, { cwd: ROOT })) as RealRun;
}

function scenarioRows(nodes: number, result: ScenarioResult): Row[] {
  const { ages, ageInPartition } = result;
  const seconds = (ms: number) => showNumber(ms / 1000);
  return [
    {
      figure: `${nodes} simulated nodes: exchanges of each, per second`,
      porthole: showNumber(result.requestsPerSecond),
      against: `${showNumber(result.bytesPerSecond / 1000)} kB/s sent and received`,
    },
    {
      figure: `${nodes} simulated nodes, a tenth of them slow: age of what a node knows of others, median, p99 and maximum, s`,
      porthole: [ages.medianMs, ages.p99Ms, ages.maxMs].map(seconds).join(', '),
      against: `30 % separated for six rounds: ${[ageInPartition.medianMs, ageInPartition.maxMs].map(seconds).join(' and at most ')}`,
    },
    {
      figure: `${nodes} simulated nodes: until all know of 1 % new ones, s`,
      porthole: seconds(result.joinedMs),
      against: `until all are as fresh as before after a partition ${seconds(result.healedMs)} s; 1 % killed: ${showNumber(result.failedShare * 100)} % of exchanges fail until their leases end`,
    },
  ];
}

function questionRows(members: number): Row[] {
  const ask = (groupSize: number, silentPerMille: number) =>
    simulateQuestion({ ...QUESTION, members, groupSize, silentPerMille });
  const groupSize = Math.ceil(Math.sqrt(members));
  return [0, 5].map((silentPerMille) => {
    const tree = ask(groupSize, silentPerMille);
    const direct = ask(0, silentPerMille);
    return {
      figure: `${members} simulated members, a tenth of them slow, ${silentPerMille / 10} % silent: until the first record, through helpers, ms`,
      porthole: showNumber(tree.firstRecordMs),
      against: `directly ${showNumber(direct.firstRecordMs)}; connections of the asked node ${tree.connections} and ${direct.connections}`,
      ratio: tree.firstRecordMs / direct.firstRecordMs,
    };
  });
}
