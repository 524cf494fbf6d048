import type { CallOptions, ClusterEnd, MemberDuplicateFile, MemberFileProblem, MemberReport } from '@porthole/contract';
import { inParallel } from '../fan-out/in-parallel.ts';
import { withDeadline } from '../fan-out/with-deadline.ts';
import { clusterCoverage, memberCoverage } from './cluster-coverage.ts';
import { encodeClusterCursor, type MemberPlace } from './cluster-cursor.ts';
import { type ClusterParts, limitsOf } from './cluster-parts.ts';
import type { MemberLane } from './member-lane.ts';
import { type AskedMember, placeAfter } from './place-after.ts';
import { isWithoutLog, reportOf } from './refusals.ts';
import { type ClusterSearch, placeAt } from './search-members.ts';
import { positionAfter } from './snapshot-position.ts';

export interface SearchFacts extends CallOptions {
  request: ClusterSearch;
  asked: readonly AskedMember[];
  /** On members that were not asked. */
  reports: readonly MemberReport[];
  reachedMs: number | null;
  /** Where an earlier page stopped, or the time it begins at. */
  beganMs: number | null;
  lastNode: string | undefined;
  startedMs: number;
}

/** Why a search ended, what every member gave, and where each of them goes on. */
export async function endOf(parts: ClusterParts, facts: SearchFacts): Promise<ClusterEnd> {
  const { asked, startedMs } = facts;
  const places = await placesAfter(parts, facts);
  const { order } = facts.request;
  const reports = [
    ...facts.reports,
    ...asked.map((member) => ({ ...reportOf(member.lane, parts), ...memberCoverage(member, order) })),
  ];
  const sum = (count: (member: AskedMember) => number) => asked.reduce((total, member) => total + count(member), 0);
  return {
    type: 'end',
    reason: reasonOf(facts, places),
    records: sum(({ lane }) => lane.told),
    scannedBytes: sum(({ lane }) => lane.end?.scannedBytes ?? 0),
    skippedBytes: sum(({ lane }) => lane.end?.skippedBytes ?? 0),
    ...clusterCoverage({ ...facts, order }),
    elapsedMs: Math.round(performance.now() - startedMs),
    members: reports.sort((a, b) => (a.id < b.id ? -1 : 1)),
    membership: parts.membership.state,
    problems: problemsOf(asked),
    ...duplicatesOf(asked),
    cursor: cursorOf(facts, places),
  };
}

/** Of one member: what a broken one makes up must not fill the response. */
const MAX_LISTED = 100;

/** What every member says of files it did not read. */
function problemsOf(asked: readonly AskedMember[]): MemberFileProblem[] {
  return listed(asked, 'problems', ['file', 'code', 'detail']);
}

/** What every member says of files it left out as copies of others. */
function duplicatesOf(asked: readonly AskedMember[]): { duplicates?: MemberDuplicateFile[] } {
  const duplicates = listed(asked, 'duplicates', ['file', 'sameAs']);
  return duplicates.length === 0 ? {} : { duplicates };
}

/** A list in the ends of all members, by member: of each entry the named texts. Members may send anything. */
function listed<K extends string>(
  asked: readonly AskedMember[],
  list: 'problems' | 'duplicates',
  names: readonly K[],
): (Record<K, string> & { node: string })[] {
  return asked.flatMap(({ lane }) => {
    const own: unknown = lane.end?.[list];
    return (Array.isArray(own) ? own : [])
      .filter((entry): entry is Record<K, string> => hasTexts(entry, names))
      .slice(0, MAX_LISTED)
      .map((entry) => ({ ...pick(entry, names), node: lane.id }));
  });
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return names.every((name) => typeof fields[name] === 'string');
}

function pick<K extends string>(entry: Record<K, string>, names: readonly K[]): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, entry[name]])) as Record<K, string>;
}

function placesAfter(parts: ClusterParts, { asked, request, signal }: SearchFacts): Promise<MemberPlace[]> {
  const { memberTimeoutMs: timeoutMs, maxParallel } = limitsOf(parts);
  return inParallel(asked, maxParallel, async (member) => {
    const { lane, began } = member;
    if (isWithoutLog(lane.problem)) return 'done';
    if (lane.snapshot) return placeInSnapshot(lane, began);
    try {
      return await withDeadline((leaving) => placeAfter(member, { signal: leaving }), {
        timeoutMs,
        ...(signal && { signal }),
      });
    } catch {
      signal?.throwIfAborted();
      // It fails, and cannot be asked which of its files are one log: the time reached is the best that is known.
      return lane.lastAtMs === undefined ? began : placeAt(lane.lastAtMs, request.order);
    }
  });
}

/** A snapshot ends where it ends; what is not told yet of it comes with the next page. */
function placeInSnapshot({ snapshot, last, end, hasNext }: MemberLane, began: MemberPlace): MemberPlace {
  if (!snapshot) return 'done';
  if (end && !hasNext) return end.cursor === null ? 'done' : { cursor: end.cursor };
  return last ? { cursor: positionAfter(snapshot, last) } : began;
}

function reasonOf({ asked, request }: SearchFacts, places: readonly MemberPlace[]): ClusterEnd['reason'] {
  const told = asked.reduce((total, { lane }) => total + lane.told, 0);
  const isLeft = places.some((place) => place !== 'done');
  const ends = asked.flatMap(({ lane }) => (lane.end ? [lane.end.reason] : []));
  if (isLeft && told >= request.limit) return 'limit';
  if (ends.includes('time budget')) return 'time budget';
  return ends.includes('limit') ? 'limit' : 'exhausted';
}

/**
 * Only where something is left of a member that has given something: who asks until there is no cursor must come to an
 * end, also where a member never answers. Such a member is asked again as long as there are others.
 */
function cursorOf(
  { asked, request, reachedMs, lastNode, reports }: SearchFacts,
  places: readonly MemberPlace[],
): string | null {
  const goesOn = asked.some(
    ({ lane }, index) => lane.hasAnswered && !hasFailedAtOnce(lane) && places[index] !== 'done',
  );
  if (!goesOn) return null;
  const members = new Map(asked.map(({ lane }, index) => [lane.id, places[index] ?? 'done']));
  for (const { id, outcome } of reports) if (outcome === 'ok') members.set(id, 'done');
  return encodeClusterCursor({ order: request.order, reachedMs, members, ...(lastNode !== undefined && { lastNode }) });
}

function hasFailedAtOnce({ problem, told }: AskedMember['lane']): boolean {
  return problem !== undefined && told === 0;
}
