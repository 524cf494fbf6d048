import { type ClusterDigest, type MemberSelection, PortholeError, type SearchOptions } from '@porthole/contract';
import type { Digest, DigestGroup, DigestQuery } from '@porthole/logs/types';
import { chooseMembers } from '../choose-members.ts';
import { isRecord } from '../snapshots/member-snapshot.ts';
import { type QueriedMember, queryMembers, type StateDeps } from '../state-deps.ts';
import { correctedQuery, memberBudget, withTruncation } from './counting.ts';
import { type MemberDigest, mergeDigests } from './merge-digests.ts';

/** Maximum groups of a node. */
const MAX_GROUPS = 1000;

/** More groups are requested from each member: one that is medium-sized everywhere may be among the largest overall. */
const MORE_GROUPS = 4;

type ClusterDigestQuery = DigestQuery & MemberSelection;

/** Merges the groups of all members. */
export async function clusterDigest(
  deps: StateDeps,
  request: ClusterDigestQuery,
  options: SearchOptions = {},
): Promise<ClusterDigest> {
  const peers = chooseMembers(deps, request);
  const call = async (member: QueriedMember, { signal }: SearchOptions) => {
    // There may be two requests.
    const timeoutMs = request.onlyNew ? deps.timeoutMs / 2 : deps.timeoutMs;
    const budget = { ...(signal && { signal }), ...memberBudget({ timeoutMs }, options) };
    return { id: member.id, offsetMs: member.clock.offsetMs, digest: await fetchGroups(member, request, budget) };
  };
  const responses = await queryMembers<MemberDigest & { digest: Digest }>(deps, peers, call, {
    ...(options.signal && { signal: options.signal }),
    countOf: ({ digest }) => digest.groups.length,
  });
  const { limit, onlyNew = false } = request;
  return {
    ...mergeDigests(
      responses.flatMap(({ value }) => value ?? []),
      { limit, onlyNew },
    ),
    members: responses.map(({ value, report }) => withTruncation(report, value?.digest.end)),
  };
}

/**
 * Requests all groups, not only new ones: a group that is new here may be old on another member. If they do not fit into one
 * response, the new ones are requested again separately, so that many small old ones cannot hide them.
 */
async function fetchGroups(
  { state, clock }: QueriedMember,
  request: ClusterDigestQuery,
  options: SearchOptions,
): Promise<Digest> {
  const { onlyNew, ...query } = correctedQuery(request, clock.offsetMs);
  const limit = Math.min(MAX_GROUPS, onlyNew ? MAX_GROUPS : Math.max(1, query.limit) * MORE_GROUPS);
  const digest = check(await state.logDigest({ ...query, limit }, options), limit);
  if (!onlyNew || digest.totalGroups <= digest.groups.length) return digest;
  const fresh = check(await state.logDigest({ ...query, limit, onlyNew }, options), limit);
  return { ...digest, groups: [...digest.groups.filter(({ isNew }) => !isNew), ...fresh.groups] };
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

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
