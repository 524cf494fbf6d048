import {
  type CallOptions,
  type ClusterNode,
  type ClusterNodes,
  codeOf,
  type MemberReport,
  type NodeObject,
} from '@porthole/contract';
import type { MemberAnswer } from '../fan-out/ask-all.ts';
import { type Deadline, withDeadline } from '../fan-out/with-deadline.ts';
import type { Membership } from '../membership/membership.ts';
import type { MemberWords } from './member-words.ts';
import { type AskedMember, askEach, goneReport, type StateParts } from './state-parts.ts';

/** Long enough to see what just went wrong, short enough that it is about now. */
const RECENT_MS = 15 * 60_000;

/** Of the time that is left, what counting may take: who a member is, is told even if it cannot count in time. */
const COUNTING_SHARE = 0.8;

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
}

const UNKNOWN = { timeZone: null, uptimeMs: null, lastRecordMs: null, recentErrors: null };

/** Every member and how it is, those that are gone included as long as something is known of them. */
export async function clusterNodes(parts: NodesParts, options: CallOptions = {}): Promise<ClusterNodes> {
  const { cluster, membership, peers, lastWords } = parts;
  const look = (member: AskedMember, asking: CallOptions) => lookAt(member, parts, asking);
  const answers = await askEach<Seen>(parts, peers.all(), look, { ...options, countOf: () => 1 });
  const nodes = [
    ...answers.map((answer) => toNode(answer, parts)),
    ...lastWords.gone().map((words) => goneNode(words, goneReport(words, words.records.length))),
  ];
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
    const { node, timeZone = null, uptimeMs = null } = await state.describe(options);
    return { ...UNKNOWN, node, timeZone, uptimeMs };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return { ...UNKNOWN, node: (await state.config(options)).node };
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
  // Part of a count is no count.
  if (end.reason !== 'exhausted' || end.limits !== undefined) return null;
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
  const words = parts.lastWords.of(member.id);
  if (report.outcome === 'gone' && words) return goneNode(words, { ...report, asOfMs: words.asOfMs });
  const clock = parts.clocks.of(member.id) ?? null;
  if (value !== undefined) return { ...member, ...value, state: 'up', report, clock, lastSeenMs: parts.nowMs() };
  const state = report.outcome === 'gone' ? 'gone' : 'unreachable';
  return {
    ...member,
    ...UNKNOWN,
    state,
    report: { ...report, asOfMs: words?.asOfMs ?? null },
    clock,
    lastRecordMs: words ? newestWord(words) : null,
    lastSeenMs: words?.asOfMs ?? null,
  };
}

function goneNode(words: MemberWords, report: MemberReport): ClusterNode {
  const { member, clock, asOfMs } = words;
  return { ...member, ...UNKNOWN, state: 'gone', report, clock, lastRecordMs: newestWord(words), lastSeenMs: asOfMs };
}

function newestWord({ records, clock }: MemberWords): number | null {
  const newest = records.find(({ timeMs }) => timeMs !== undefined);
  return newest?.timeMs === undefined ? null : newest.timeMs - (clock?.offsetMs ?? 0);
}
