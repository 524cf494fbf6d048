import { type CallOptions, codeOf, type NodeObject, type NodeProblem, type ShippingLag } from '@porthole/contract';
import { MemberNode } from '../contract-only/member-node.ts';
import { type Deadline, withDeadline } from '../requests/bounded-calls.ts';
import { expectFailure, readFailures } from '../requests/member-failure.ts';
import type { QueriedMember } from './query-members.ts';

/** Period for recent errors. */
const RECENT_MS = 15 * 60_000;

/** Fraction of the remaining time for counting errors: a member is listed even if counting takes too long. */
const COUNTING_SHARE = 0.8;

/** Maximum health problems per node. */
const MAX_PROBLEMS = 20;

/** What a member reports about itself; `null` for missing values. */
export interface NodeFacts {
  node: NodeObject;
  timeZone: string | null;
  uptimeMs: number | null;
  lastRecordMs: number | null;
  recentErrors: number | null;
  problems: NodeProblem[];
  /** Absent if it ships nothing. */
  archive?: ShippingLag;
}

type InspectedMember = Pick<QueriedMember, 'state' | 'clock'>;

export interface InspectOptions extends CallOptions {
  timeoutMs: number;
  /** How long its files and errors are waited for; by default, as long as the timeout allows. */
  countMs?: number;
  nowMs(): number;
}

export const UNKNOWN_FACTS = { timeZone: null, uptimeMs: null, lastRecordMs: null, recentErrors: null, problems: [] };

/** Requests what is shown of a member in the list of nodes. Rejects if it cannot describe itself. */
export async function inspectMember(member: InspectedMember, options: InspectOptions): Promise<NodeFacts> {
  const { signal, responseBudget } = options;
  const callOptions = { ...(signal && { signal }), ...(responseBudget && { responseBudget }) };
  const startedMs = performance.now();
  const facts = await describeMember(member, callOptions);
  const tripMs = performance.now() - startedMs;
  const { timeoutMs, countMs = Infinity } = options;
  const deadline = { ...callOptions, timeoutMs: Math.min((timeoutMs - tripMs) * COUNTING_SHARE, countMs) };
  const [lastRecordMs, recentErrors] = await Promise.all([
    orNull((leaving) => newestTime(member, { signal: leaving }), deadline),
    orNull((leaving) => countErrors(member, { signal: leaving, nowMs: options.nowMs() }), deadline),
  ]);
  // Known from its records.
  const timeZone = member.state instanceof MemberNode ? (facts.timeZone ?? member.state.timeZone) : facts.timeZone;
  return { ...facts, timeZone, lastRecordMs, recentErrors };
}

async function describeMember({ state }: InspectedMember, options: CallOptions): Promise<NodeFacts> {
  try {
    const { node, timeZone = null, uptimeMs = null, problems, ...rest } = await state.describe(options);
    const archive = readLag(rest.archive);
    const known = { ...UNKNOWN_FACTS, node, timeZone, uptimeMs, problems: readProblems(problems) };
    return { ...known, ...(archive && { archive }) };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  const { node } = await state.config(options);
  return { ...UNKNOWN_FACTS, node };
}

/** How far a member says it is behind in shipping; `undefined` if it does not, or says nonsense. */
export function readLag(value: unknown): ShippingLag | undefined {
  const { lagMs, lagBytes, lostBytes } = (value ?? {}) as Partial<Record<keyof ShippingLag, unknown>>;
  return isCount(lagMs) && isCount(lagBytes) && isCount(lostBytes) ? { lagMs, lagBytes, lostBytes } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Responses of members are untrusted. */
function readProblems(problems: unknown): NodeProblem[] {
  if (!Array.isArray(problems)) return [];
  return problems
    .filter((each) => typeof each?.check === 'string' && typeof each.detail === 'string')
    .slice(0, MAX_PROBLEMS)
    .map(({ check, detail }) => ({ check, detail }));
}

/** Uses the file details, which are cached: cheaper than a search for one record. */
async function newestTime({ state, clock }: InspectedMember, options: CallOptions): Promise<number | null> {
  const files = await state.logFiles(options);
  const newest = files.reduce((latest, { lastTimeMs }) => Math.max(latest, lastTimeMs ?? -Infinity), -Infinity);
  return Number.isFinite(newest) ? newest - clock.offsetMs : null;
}

async function countErrors(
  { state, clock }: InspectedMember,
  { signal, nowMs }: { signal: AbortSignal; nowMs: number },
): Promise<number | null> {
  const toMs = nowMs + clock.offsetMs;
  const query = { minLevel: 'ERROR', fromMs: toMs - RECENT_MS, toMs, bucketMs: RECENT_MS, buckets: 1 } as const;
  const { buckets, end } = await state.logHistogram(query, { signal });
  // An incomplete count is not reported.
  if (end.reason !== 'exhausted' || end.limits !== undefined || readFailures(end).length > 0) return null;
  const counts = buckets.flatMap((bucket) => Object.values(bucket.counts));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** `null` if the member fails or takes too long: the rest of the response is still valid. */
async function orNull<T>(call: (signal: AbortSignal) => Promise<T>, deadline: Deadline): Promise<T | null> {
  try {
    return await withDeadline(call, deadline);
  } catch (error) {
    return expectFailure(error) ?? null;
  }
}
