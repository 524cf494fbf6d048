import {
  type CallOptions,
  type ClusterNode,
  type ClusterNodes,
  codeOf,
  type NodeObject,
  type NodeProblem,
} from '@porthole/contract';
import { askAll, type MemberAnswer } from '../fan-out/ask-all.ts';
import { type Deadline, withDeadline } from '../fan-out/with-deadline.ts';
import type { Membership } from '../membership/membership.ts';
import { type ChosenMember, chooseMembers } from './choose-members.ts';
import { failuresOf } from './counting.ts';
import type { MemberWords } from './member-words.ts';
import { type AskedMember, departedReport, type StateParts, wholeClock } from './state-parts.ts';

/** Long enough to see what just went wrong, short enough that it is about now. */
const RECENT_MS = 15 * 60_000;

/** Of the time that is left, what counting may take: who a member is, is told even if it cannot count in time. */
const COUNTING_SHARE = 0.8;

/** A node has a handful of checks. */
const MAX_PROBLEMS = 20;

export interface NodesParts extends StateParts {
  /** Name of the cluster. */
  cluster: string;
  membership: Pick<Membership, 'state'>;
}

/** What a member says of itself; `null` for what it does not say. */
interface Seen {
  node: NodeObject;
  timeZone: string | null;
  uptimeMs: number | null;
  lastRecordMs: number | null;
  recentErrors: number | null;
  problems: NodeProblem[];
}

const UNKNOWN = { timeZone: null, uptimeMs: null, lastRecordMs: null, recentErrors: null, problems: [] };

/** Every member and how it is, those included that have left or failed. */
export async function clusterNodes(parts: NodesParts, options: CallOptions = {}): Promise<ClusterNodes> {
  const { cluster, membership, clocks, timeoutMs, maxParallel } = parts;
  // Chosen once: a member whose registration ends while the others answer must not be listed twice.
  const chosen = chooseMembers(parts);
  const departed = chosen.flatMap(({ departed: words }) => (words ? [departedNode(words)] : []));
  const answers = await askAll<Seen, ChosenMember>(
    chosen.filter((member) => !member.departed),
    ({ member: { id }, state }, asking) => lookAt({ id, state, clock: wholeClock(clocks.of(id)) }, parts, asking),
    { ...options, timeoutMs, maxParallel, countOf: () => 1, responses: parts.peers.responses },
  );
  const nodes = [...answers.map((answer) => toNode(answer, parts)), ...departed];
  return { cluster, membership: membership.state, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

async function lookAt(member: AskedMember, parts: NodesParts, options: CallOptions): Promise<Seen> {
  const startedMs = performance.now();
  const seen = await whoIs(member, options);
  const timeoutMs = (parts.timeoutMs - (performance.now() - startedMs)) * COUNTING_SHARE;
  const [lastRecordMs, recentErrors] = await Promise.all([
    orNull((signal) => newestTime(member, { signal }), { ...options, timeoutMs }),
    orNull((signal) => countErrors(member, { signal, nowMs: parts.nowMs() }), { ...options, timeoutMs }),
  ]);
  return { ...seen, lastRecordMs, recentErrors };
}

async function whoIs({ state }: AskedMember, options: CallOptions): Promise<Seen> {
  try {
    const { node, timeZone = null, uptimeMs = null, problems } = await state.describe(options);
    return { ...UNKNOWN, node, timeZone, uptimeMs, problems: readProblems(problems) };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return { ...UNKNOWN, node: (await state.config(options)).node };
}

/** Members may send anything. */
function readProblems(problems: unknown): NodeProblem[] {
  if (!Array.isArray(problems)) return [];
  return problems
    .filter((each) => typeof each?.check === 'string' && typeof each.detail === 'string')
    .slice(0, MAX_PROBLEMS)
    .map(({ check, detail }) => ({ check, detail }));
}

/** The ends of files are looked at anyway and known after that: cheaper than a search for one record. */
async function newestTime({ state, clock }: AskedMember, options: CallOptions): Promise<number | null> {
  const files = await state.logFiles(options);
  const newest = files.reduce((latest, { lastTimeMs }) => Math.max(latest, lastTimeMs ?? -Infinity), -Infinity);
  return Number.isFinite(newest) ? newest - clock.offsetMs : null;
}

async function countErrors(
  { state, clock }: AskedMember,
  { signal, nowMs }: { signal: AbortSignal; nowMs: number },
): Promise<number | null> {
  const toMs = nowMs + clock.offsetMs;
  const question = { minLevel: 'ERROR', fromMs: toMs - RECENT_MS, toMs, bucketMs: RECENT_MS, buckets: 1 } as const;
  const { buckets, end } = await state.logHistogram(question, { signal });
  // Part of a count is no count; nor is a count without the files that could not be read.
  if (end.reason !== 'exhausted' || end.limits !== undefined || failuresOf(end).length > 0) return null;
  const counts = buckets.flatMap((bucket) => Object.values(bucket.counts));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What fails or does not come in time is not known; the rest of the answer stands. */
async function orNull<T>(ask: (signal: AbortSignal) => Promise<T>, deadline: Deadline): Promise<T | null> {
  try {
    return await withDeadline(ask, deadline);
  } catch {
    return null;
  }
}

function toNode({ peer, value, report }: MemberAnswer<Seen>, parts: NodesParts): ClusterNode {
  const { member } = peer;
  const words = parts.directory.of(member.id);
  const clock = parts.clocks.of(member.id) ?? null;
  // Whoever cannot say who it is does not respond, whatever it says instead.
  const standing = parts.directory.standingOf(member.id, value === undefined ? 'refused' : 'ok');
  if (value !== undefined)
    return { ...member, ...value, ...standing, report: { ...report, ...standing }, clock, lastSeenMs: parts.nowMs() };
  return {
    ...member,
    ...UNKNOWN,
    ...standing,
    report: { ...report, ...standing, asOfMs: words?.asOfMs ?? null },
    clock,
    lastRecordMs: words ? newestWord(words) : null,
    lastSeenMs: words?.asOfMs ?? null,
  };
}

function departedNode(words: MemberWords): ClusterNode {
  const { member, clock, asOfMs } = words;
  const report = departedReport(words, words.records.length);
  const { state = 'failed', sinceMs = null } = report;
  const lastRecordMs = newestWord(words);
  return { ...member, ...UNKNOWN, state, sinceMs, report, clock, lastRecordMs, lastSeenMs: asOfMs };
}

function newestWord({ records, clock }: MemberWords): number | null {
  const newest = records.find(({ timeMs }) => timeMs !== undefined);
  return newest?.timeMs === undefined ? null : newest.timeMs - (clock?.offsetMs ?? 0);
}
