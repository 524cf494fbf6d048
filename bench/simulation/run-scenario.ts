import { ExchangeModel, type ExchangeOptions } from './exchange-model.ts';

/** What an operator would see, in the steps of one simulated run. */
export interface ScenarioResult {
  /** Each node, with all of them up. */
  requestsPerSecond: number;
  bytesPerSecond: number;
  /** How old what nodes know of each other is, with all of them up. */
  ages: AgeSummary;
  /** From the start of so many new nodes until every node knows the state of each of them. */
  joinedMs: number;
  /** Share of requests that go to nodes that were killed, until the registry no longer lists them. */
  failedShare: number;
  /** From the end of a partition until what all know of all is as young as before it. */
  healedMs: number;
  ageInPartition: AgeSummary;
}

export interface AgeSummary {
  medianMs: number;
  p99Ms: number;
  maxMs: number;
}

const SECOND_MS = 1000;

/** Rounds until everybody knows everybody, and rounds that are measured then. */
const SETTLING_ROUNDS = 12;
const MEASURED_ROUNDS = 4;

/** How many nodes join, or are killed, together; and the share that a partition separates. */
const CHANGED_SHARE = 0.01;
const SEPARATED_SHARE = 0.3;
const PARTITION_ROUNDS = 6;

/** A run that does not converge ends after so many rounds, with `Infinity`. */
const MAX_ROUNDS = 60;

/** Ages of so many nodes are looked at; of all, they would be a hundred million. */
const SAMPLED_HOLDERS = 100;

/** Nodes start, join, are killed and are separated; a part of them is slow all the time. */
export function runScenario(options: ExchangeOptions): ScenarioResult {
  const model = new ExchangeModel(options);
  const { nodes, roundMs } = options;
  const changed = Math.max(1, Math.round(nodes * CHANGED_SHARE));
  const everyHolder = Math.max(1, Math.floor(nodes / SAMPLED_HOLDERS));
  const run = (durationMs: number) => model.queue.runUntil(model.queue.nowMs + durationMs);
  const summary = () => summarizeAges(model.ages(everyHolder));

  for (let node = changed; node < nodes; node++) model.start(node);
  run(SETTLING_ROUNDS * roundMs);
  model.resetCounts();
  run(MEASURED_ROUNDS * roundMs);
  const perNodeSecond = ((nodes - changed) * MEASURED_ROUNDS * roundMs) / SECOND_MS;
  const requestsPerSecond = model.counts.requests / perNodeSecond;
  const bytesPerSecond = model.counts.bytes / perNodeSecond;
  const ages = summary();

  for (let node = 0; node < changed; node++) model.start(node);
  const joinedMs = runUntil(model, () => Number.isFinite(summary().maxMs), MAX_ROUNDS * roundMs);

  model.resetCounts();
  for (let node = 0; node < changed; node++) model.kill(node);
  run(options.leaseMs);
  const failedShare = model.counts.failedRequests / model.counts.requests;

  model.separate(Math.round(nodes * SEPARATED_SHARE));
  run(PARTITION_ROUNDS * roundMs);
  const ageInPartition = summary();
  model.separate(0);
  const healedMs = runUntil(model, () => summary().maxMs <= ages.maxMs, MAX_ROUNDS * roundMs);
  return { requestsPerSecond, bytesPerSecond, ages, joinedMs, failedShare, healedMs, ageInPartition };
}

/** How long it takes, to the second. */
function runUntil({ queue }: ExchangeModel, isDone: () => boolean, mostMs: number): number {
  const startedMs = queue.nowMs;
  while (!isDone()) {
    if (queue.nowMs - startedMs >= mostMs) return Number.POSITIVE_INFINITY;
    queue.runUntil(queue.nowMs + SECOND_MS);
  }
  return queue.nowMs - startedMs;
}

function summarizeAges(sorted: Float64Array): AgeSummary {
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
