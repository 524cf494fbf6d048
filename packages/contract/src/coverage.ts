import { NOTICES } from '@porthole/logs/query';
import type { ClusterItem } from './cluster-state.ts';
import type { ArchivePart, MemberOutcome, MemberReport, MembershipState } from './member.ts';

/**
 * How much of what was requested a response is. The only source of sentences about what is not there: "none", "nothing
 * new", "equal" or "all" may be said only of a complete response, so whoever says it needs this first.
 */
export interface Coverage {
  /**
   * Epoch milliseconds of the start of the time range that was asked for, by the clock of the responding node; `null`:
   * no limit.
   */
  askedFromMs: number | null;
  /** Epoch milliseconds of its end. `null`: no limit. */
  askedToMs: number | null;
  /** What the response lacks of it; empty only if it lacks nothing. */
  missing: Missing[];
  /** Whether nothing is missing. */
  isComplete: boolean;
}

/** Why a part is missing: of a member, its outcome; the others are of members that responded, or of the response. */
export type MissingReason =
  | Exclude<MemberOutcome, 'ok'>
  /** It is asked for with the next page. */
  | 'limit'
  | 'time budget'
  | 'cancelled'
  /** Files that could not be read, or only in part. */
  | 'unreadable'
  /** Only a part of what the member has: its newest bytes, its records up to a deadline. */
  | 'part'
  | 'archive'
  /** The list of members is an earlier one: there may be others. */
  | 'registry';

/** A part of the answer that is not in the response. */
export interface Missing {
  /** Id of the member whose part it is; `null` if it is not of one member. */
  node: string | null;
  /** Why: the outcome of a member, or what kept the rest from being read. */
  reason: MissingReason;
  /** The cause, for people. */
  detail: string | null;
  /** Epoch milliseconds of the earlier state that is shown instead; `null` if there is none. */
  asOfMs: number | null;
  /** Nothing to worry about: the member has left in order. */
  isExpected: boolean;
}

/** What responses say about themselves: with a report of each member, or of the node that was asked alone. */
export interface ResponseFacts {
  reason?: string | undefined;
  problems?: readonly { node?: string; file: string; code: string; detail: string }[] | undefined;
  limits?: string | undefined;
  members?: readonly MemberReport[] | undefined;
  membership?: MembershipState | undefined;
  archive?: ArchivePart | undefined;
  /** Responses of this version have it. */
  coverage?: Coverage | undefined;
}

export interface AskedRange {
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** A node was asked alone: what only the archive has is missing. A cluster reads the archive itself. */
  isAlone?: boolean | undefined;
}

/** What the disk of a node no longer has, and the archive has. */
export const ONLY_ARCHIVED = 'ONLY_ARCHIVED';

/** Whether a file was not read, or only in part; others were left out on purpose, or read in spite of it. */
export function isUnread({ code }: { code: string }): boolean {
  return !NOTICES.has(code);
}

/** How much of what was requested a response is: what it says, or what follows from its other fields. */
export function coverageOf(response: ResponseFacts, asked: AskedRange = {}): Coverage {
  if (response.coverage) return response.coverage;
  const missing = [
    ...missingRegistry(response.membership),
    ...(response.members ?? []).flatMap((report) => missingOfMember(report, asked)),
    ...missingFiles(response, asked),
    ...missingArchive(response.archive),
    ...missingRest(response),
  ];
  const { fromMs = null, toMs = null } = asked;
  return { askedFromMs: fromMs, askedToMs: toMs, missing, isComplete: missing.length === 0 };
}

/**
 * The response, which says how much of what was requested it is. `membership`: how its members were known, if it does not
 * say.
 */
export function withCoverage<T extends ResponseFacts>(
  response: T,
  asked: AskedRange,
  membership = response.membership,
): T & { coverage: Coverage } {
  const { missing, ...range } = coverageOf({ ...response, membership, coverage: undefined }, asked);
  const registry = membership ? [] : (response.coverage?.missing ?? []).filter(({ reason }) => reason === 'registry');
  const all = [...registry, ...missing];
  return { ...response, coverage: { ...range, missing: all, isComplete: all.length === 0 } };
}

/** The same for the end of a search. */
export async function* withSearchCoverage(
  found: AsyncIterable<ClusterItem[]>,
  asked: AskedRange,
): AsyncGenerator<ClusterItem[], void, undefined> {
  for await (const items of found) {
    const end = items.at(-1);
    yield end?.type === 'end' ? [...items.slice(0, -1), withCoverage(end, asked)] : items;
  }
}

/**
 * The coverage of several responses that are shown as one: pages, or the same question to several. What only the next page
 * was to bring is missing only if the last one lacks it, too.
 */
export function joinCoverage(coverages: readonly Coverage[]): Coverage {
  const last = coverages.at(-1);
  const missing = new Map<string, Missing>();
  for (const coverage of coverages)
    for (const part of coverage.missing)
      if (coverage === last || !isRest(part)) missing.set(`${part.node} ${part.reason} ${part.detail}`, part);
  const bounds = (pick: (coverage: Coverage) => number | null, most: (...times: number[]) => number) => {
    const times = coverages.map(pick);
    return times.some((time) => time === null) ? null : most(...(times as number[]));
  };
  return {
    askedFromMs: coverages.length === 0 ? null : bounds(({ askedFromMs }) => askedFromMs, Math.min),
    askedToMs: coverages.length === 0 ? null : bounds(({ askedToMs }) => askedToMs, Math.max),
    missing: [...missing.values()],
    isComplete: missing.size === 0,
  };
}

/** Whether the next page, or the same question with more time, brings it. */
export function isRest({ node, reason }: Missing): boolean {
  return node === null && (reason === 'limit' || reason === 'time budget' || reason === 'cancelled');
}

/** What is missing for a reason that somebody should know: not the next page, not a member that left in order. */
export function failures({ missing }: Coverage): Missing[] {
  return missing.filter((part) => !part.isExpected && !isRest(part));
}

function missingRegistry(membership: MembershipState | undefined): Missing[] {
  if (membership?.state !== 'stale') return [];
  const { kind, detail, asOfMs } = membership;
  return [
    {
      ...OF_NO_MEMBER,
      reason: 'registry',
      detail: `the registry (${kind}) does not respond${detail === null ? '' : ` (${detail})`}`,
      asOfMs,
    },
  ];
}

/** What is missing of a member, if something is. */
export function missingOfMember(report: MemberReport, { fromMs = -Infinity }: AskedRange = {}): Missing[] {
  const { id: node, outcome, detail, asOfMs, isPartial, sinceMs = null } = report;
  const part = { node, detail, asOfMs, isExpected: false };
  if (outcome === 'ok') return isPartial ? [{ ...part, reason: 'part' }] : [];
  if (outcome !== 'left') return [{ ...part, reason: outcome }];
  // It logged nothing after it had left; one of which only the archive knows was read there.
  const isRead = sinceMs === null ? report.archive !== undefined : fromMs > sinceMs;
  return isRead ? [] : [{ ...part, reason: outcome, isExpected: true }];
}

/** The report of a member names its files already. */
function missingFiles({ problems = [], limits, members }: ResponseFacts, { isAlone }: AskedRange): Missing[] {
  const missing: Missing[] = limits === undefined ? [] : [{ ...OF_NO_MEMBER, reason: 'part', detail: limits }];
  const named = new Set(
    (members ?? []).filter(({ outcome, isPartial }) => isPartial || outcome !== 'ok').map(({ id }) => id),
  );
  const readsArchive = members !== undefined && !isAlone;
  for (const { node = null, file, code, detail } of problems)
    if (isUnread({ code }) && !(readsArchive && code === ONLY_ARCHIVED) && !(node !== null && named.has(node)))
      missing.push({ ...OF_NO_MEMBER, node, reason: 'unreadable', detail: `${file}: ${code}: ${detail}` });
  return missing;
}

function missingArchive(archive: ArchivePart | undefined): Missing[] {
  return archive?.problem ? [{ ...OF_NO_MEMBER, reason: 'archive', detail: archive.problem }] : [];
}

function missingRest({ reason }: ResponseFacts): Missing[] {
  if (reason !== 'limit' && reason !== 'time budget' && reason !== 'cancelled') return [];
  return [{ ...OF_NO_MEMBER, reason, detail: null }];
}

const OF_NO_MEMBER = { node: null, asOfMs: null, isExpected: false } as const;

/** The words every client uses for the same fact. */
const REASONS: Readonly<Record<MissingReason, string>> = {
  refused: 'no connection',
  timeout: 'timed out',
  slow: 'slow',
  tls: 'certificate not trusted',
  auth: 'rejected our credentials',
  'not supported': 'not supported',
  version: 'invalid response',
  failed: 'failed',
  gone: 'registration expired',
  left: 'left the cluster',
  limit: 'there are more',
  'time budget': 'the time for one search was used up',
  cancelled: 'the search was stopped',
  unreadable: 'not read, or only in part',
  part: 'only a part',
  archive: 'what only the archive has is missing',
  registry: 'the list of nodes is an earlier one',
};

export function outcomeText(outcome: MemberOutcome): string {
  return outcome === 'ok' ? 'up' : REASONS[outcome];
}

type ShowTime = (timeMs: number) => string;

const showIso: ShowTime = (timeMs) => new Date(timeMs).toISOString();

/** `node-2: no connection: connect ECONNREFUSED; shown as of 2026-11-15T10:00:00.000Z`. */
export function missingText({ node, reason, detail, asOfMs }: Omit<Missing, 'isExpected'>, showTime = showIso): string {
  const asOf = asOfMs === null ? '' : `; shown as of ${showTime(asOfMs)}`;
  // A file and its cause, or a part and which, say it all; many causes begin with the same words.
  const isPlain =
    detail !== null && (reason === 'part' || reason === 'unreadable' || detail.startsWith(REASONS[reason]));
  const why = [...(isPlain ? [] : [REASONS[reason]]), ...(detail === null ? [] : [detail])].join(': ');
  return `${node === null ? '' : `${node}: `}${why}${asOf}`;
}

/** The same for one member, also where nothing is missing. */
export function reportText({ id, outcome, detail, asOfMs }: MemberReport): string {
  return missingText({
    node: id,
    reason: outcome === 'ok' ? 'part' : outcome,
    detail: detail ?? (outcome === 'ok' ? 'up' : null),
    asOfMs,
  });
}

/** Parts that are named in a sentence; the rest is a number. */
const MAX_NAMED = 3;

/** What is missing, in one line; empty if nothing is. */
export function gapsText(coverage: Coverage, showTime = showIso): string {
  const gaps = coverage.missing.map((part) => missingText(part, showTime));
  const more = gaps.length > MAX_NAMED ? [`${gaps.length - MAX_NAMED} more`] : [];
  return [...gaps.slice(0, MAX_NAMED), ...more].join(' · ');
}

/**
 * A statement of absence, as far as the coverage allows it: `no match`, or `no match in what was read`. What is missing
 * is said once, beside it.
 */
export function absenceText(claim: string, { isComplete }: Pick<Coverage, 'isComplete'>): string {
  return isComplete ? claim : `${claim} in what was read`;
}

/** `2 of 3 nodes responded`, `3 of 3 nodes responded, 2 of them in part`; of members that have left, nothing is expected. */
export function respondedText(members: readonly MemberReport[]): string {
  const asked = members.filter(({ outcome }) => outcome !== 'left');
  const responded = asked.filter(hasResponded);
  const inPart = responded.filter(({ outcome, isPartial }) => outcome !== 'ok' || isPartial).length;
  const part = inPart === 0 ? '' : `, ${inPart === responded.length ? 'all' : inPart} of them in part`;
  const slow = asked.filter((report) => report.outcome === 'slow' && !hasResponded(report)).length;
  const late = slow === 0 ? '' : `, ${slow} ${slow === 1 ? 'is' : 'are'} slow`;
  return `${responded.length} of ${asked.length} nodes responded${part}${late}`;
}

/** Also if it was not done in time: some of what is shown is of itself, not of a recording or an earlier response. */
function hasResponded({ outcome, count, asOfMs }: MemberReport): boolean {
  const isLate = outcome === 'timeout' || outcome === 'slow';
  return outcome === 'ok' || (isLate && count > 0 && asOfMs === null);
}

interface DistinctCount {
  isDistinctExact: boolean;
  /** Records by the source that has them. */
  nodes?: Readonly<Record<string, unknown>>;
}

/** Whether there are at least `distinct` values, and may be many more: what several sources share is not known. */
export function isDistinctMinimum({ isDistinctExact, nodes = {} }: DistinctCount): boolean {
  return !isDistinctExact && Object.keys(nodes).length > 1;
}
