import {
  type ClusterDigest,
  errorMessage,
  type MemberReport,
  type MemberSelection,
  PortholeError,
  pastRequest,
  readPast,
  type SearchOptions,
} from '@porthole/contract';
import { mergeGroups } from '@porthole/logs';
import type { Digest, DigestGroup, DigestQuery } from '@porthole/logs/types';
import { describeUncertainty, type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import { expectFailure } from '../../requests/member-failure.ts';
import { chooseMembers, type QueriedMember, queryMembers, type StateDeps, toCall } from '../query-members.ts';
import { correctedQuery, isCount, memberBudget, withTruncation } from './counting.ts';

/** Maximum groups of a node. */
const MAX_GROUPS = 1000;

/** More groups are requested from each member: one that is medium-sized everywhere may be among the largest overall. */
const MORE_GROUPS = 4;

type ClusterDigestQuery = DigestQuery & MemberSelection;

/** The groups of a member, and those it had before `newSinceMs`. */
interface MemberDigest {
  id: string;
  clock: SteppedClock;
  doubt: string | undefined;
  digest: Digest;
  past: Digest | { problem: string } | undefined;
}

/**
 * Merges the groups of all members. A group is new if no member has an older record of it: each is asked for its groups
 * before that time, too.
 */
export async function clusterDigest(
  deps: StateDeps,
  request: ClusterDigestQuery,
  options: SearchOptions = {},
): Promise<ClusterDigest> {
  const peers = chooseMembers(deps, request);
  const { limit, onlyNew = false, newSinceMs } = request;
  const call = async (member: QueriedMember, callOptions: SearchOptions): Promise<MemberDigest> => {
    const timeoutMs = newSinceMs === undefined ? deps.timeoutMs : deps.timeoutMs / 2;
    const budget = { ...toCall(callOptions), ...memberBudget({ timeoutMs }, options) };
    const { clock } = member;
    const digest = await fetchGroups(member, request, budget);
    const past = newSinceMs === undefined ? undefined : await fetchPast(member, { ...request, newSinceMs }, budget);
    return { id: member.member.id, clock, digest, past, doubt: describeUncertainty(clock, request) };
  };
  const responses = await queryMembers<MemberDigest>(deps, peers, call, {
    ...(options.signal && { signal: options.signal }),
    countOf: ({ digest }) => digest.groups.length,
  });
  const members = responses.map(({ value, report }) => withTruncation(report, value?.digest.end, value?.doubt));
  const digests = responses.flatMap(({ value }) => value ?? []);
  const parts = digests.map(({ digest, ...member }) => ({ ...digest, groups: toClusterGroups(digest, member) }));
  if (newSinceMs === undefined) return { ...mergeGroups(parts, { limit }), members };
  const pastParts = digests.flatMap(({ past, ...member }) =>
    past && 'groups' in past ? { ...past, groups: toClusterGroups(past, member) } : [],
  );
  const pastReports = responses.map(({ value, report }) => toPastReport(report, value?.past));
  const old = { ...mergeGroups(pastParts, { limit: Infinity }), members: pastReports };
  const { past, baseline } = readPast(old, newSinceMs);
  return {
    ...mergeGroups(parts, { limit, onlyNew, past }),
    baseline,
    members: members.map((report, index) => withPast(report, pastReports[index])),
  };
}

/** A member judges by its own records: if only new groups are wanted, those that are not old to it are all that can be. */
async function fetchGroups(
  { member, state, clock }: QueriedMember,
  request: ClusterDigestQuery,
  options: SearchOptions,
): Promise<Digest> {
  const query = correctedQuery(request, { member, clock });
  const limit = query.onlyNew ? MAX_GROUPS : Math.min(MAX_GROUPS, Math.max(1, query.limit) * MORE_GROUPS);
  return check(await state.logDigest({ ...query, limit }, options), limit);
}

/** The groups of all records of a member before `newSinceMs`, or why there are none: what it has counted is shown even so. */
async function fetchPast(
  { member, state, clock }: QueriedMember,
  request: ClusterDigestQuery & { newSinceMs: number },
  options: SearchOptions,
): Promise<MemberDigest['past']> {
  const query = correctedQuery(pastRequest(request, MAX_GROUPS), { member, clock });
  try {
    return check(await state.logDigest(query, options), MAX_GROUPS);
  } catch (error) {
    expectFailure(error);
    return { problem: errorMessage(error) };
  }
}

function toPastReport(report: MemberReport, past: MemberDigest['past']): MemberReport {
  if (past === undefined) return report;
  if ('problem' in past) return { ...report, detail: past.problem, isPartial: true };
  const { end, totalGroups, groups } = past;
  if (totalGroups <= groups.length) return withTruncation(report, end);
  return { ...report, detail: `it has ${totalGroups} groups, and returned ${groups.length}`, isPartial: true };
}

/** Says what a member did not read, even if it is not what it was asked to count. */
function withPast(report: MemberReport, past: MemberReport | undefined): MemberReport {
  if (!past?.isPartial || report.isPartial || report.outcome !== 'ok') return report;
  return { ...report, detail: `older records: ${past.detail}`, isPartial: true };
}

function check(digest: Digest, limit: number): Digest {
  const { groups, totalGroups, ungrouped } = digest;
  if (!isCount(totalGroups) || !isCount(ungrouped) || !groups.slice(0, limit).every(isGroup))
    throw new PortholeError('BAD_ANSWER', 'invalid groups in the response');
  return { ...digest, groups: groups.slice(0, limit) };
}

function isGroup({ count, firstMs, lastMs, sample, level, source, shape }: DigestGroup): boolean {
  const areTimes = [firstMs, lastMs].every((timeMs) => timeMs === null || Number.isFinite(timeMs));
  const areTexts = [level, source, shape].every((text) => text === null || typeof text === 'string');
  return isCount(count) && areTimes && areTexts && isRecord(sample);
}

/** The groups of a member, by the clock of this node. */
function toClusterGroups(
  { groups, baseline }: Digest,
  { id, clock }: Pick<MemberDigest, 'id' | 'clock'>,
): ClusterDigest['groups'] {
  const shift = (timeMs: number | null) => (timeMs === null ? null : toOwnTime(clock, timeMs));
  return groups.map(({ sample, ...group }) => ({
    ...group,
    // Otherwise it was compared with the time range at most.
    isNew: group.isNew && baseline?.isComplete === true,
    firstMs: shift(group.firstMs),
    lastMs: shift(group.lastMs),
    sample: { ...sample, node: id, ...(sample.timeMs !== undefined && { atMs: toOwnTime(clock, sample.timeMs) }) },
    nodes: { [id]: group.count },
  }));
}

/** Checks the fields of a record that all readers use. */
function isRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, message, file, cursor, timeMs } = value as Readonly<Record<string, unknown>>;
  const areTexts = [message, file, cursor].every((text) => typeof text === 'string');
  return type === 'record' && areTexts && (timeMs === undefined || Number.isFinite(timeMs));
}
