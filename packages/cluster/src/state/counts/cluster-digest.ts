import {
  type ClusterDigest,
  type ClusterRecord,
  type MemberSelection,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { mergeShapes } from '@porthole/logs';
import type { Digest, DigestGroup, DigestQuery } from '@porthole/logs/types';
import { describeUncertainty, type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import { chooseMembers } from '../choose-members.ts';
import { isRecord } from '../snapshots/member-snapshot.ts';
import { type QueriedMember, queryMembers, type StateDeps, toCall } from '../state-deps.ts';
import { correctedQuery, isCount, memberBudget, withTruncation } from './counting.ts';

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
  const call = async (member: QueriedMember, callOptions: SearchOptions) => {
    // There may be two requests.
    const timeoutMs = request.onlyNew ? deps.timeoutMs / 2 : deps.timeoutMs;
    const budget = { ...toCall(callOptions), ...memberBudget({ timeoutMs }, options) };
    const { id, clock } = member;
    const doubt = describeUncertainty(clock, request);
    return { id, clock, digest: await fetchGroups(member, request, budget), doubt };
  };
  const responses = await queryMembers<MemberDigest & { digest: Digest; doubt: string | undefined }>(
    deps,
    peers,
    call,
    {
      ...(options.signal && { signal: options.signal }),
      countOf: ({ digest }) => digest.groups.length,
    },
  );
  const { limit, onlyNew = false } = request;
  return {
    ...mergeDigests(
      responses.flatMap(({ value }) => value ?? []),
      { limit, onlyNew },
    ),
    members: responses.map(({ value, report }) => withTruncation(report, value?.digest.end, value?.doubt)),
  };
}

/**
 * Requests all groups, not only new ones: a group that is new here may be old on another member. If they do not fit into one
 * response, the new ones are requested again separately, so that many small old ones cannot hide them.
 */
async function fetchGroups(
  { id, state, clock }: QueriedMember,
  request: ClusterDigestQuery,
  options: SearchOptions,
): Promise<Digest> {
  const { onlyNew, ...query } = correctedQuery(request, { id, clock });
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

type ClusterGroup = ClusterDigest['groups'][number];

/** The groups of a member, by its own clock. */
interface MemberDigest {
  id: string;
  clock: SteppedClock;
  digest: Pick<Digest, 'groups' | 'totalGroups' | 'ungrouped'>;
}

interface Merging extends Omit<ClusterGroup, 'nodes'> {
  nodes: Map<string, number>;
}

/**
 * Merges groups with the same source location or similar message shapes. A group is new only if it is new on each member that
 * has it. Largest first.
 */
function mergeDigests(
  digests: readonly MemberDigest[],
  { limit, onlyNew }: { limit: number; onlyNew: boolean },
): Omit<ClusterDigest, 'members'> {
  const merged = new Map<string, Merging>();
  const shapes = mergeShapes(digests.flatMap(({ digest }) => digest.groups.flatMap((group) => shapeOf(group) ?? [])));
  const totals = digests.map(({ id, clock, digest }) => {
    const keys = new Set<string>();
    for (const given of digest.groups) {
      const shape = shapeOf(given);
      const group = { ...given, shape: shape === null ? given.shape : (shapes.get(shape) ?? shape) };
      const key = JSON.stringify([group.level, group.source, shapeOf(group)]);
      keys.add(key);
      const known = merged.get(key);
      if (known === undefined) merged.set(key, toMerging(group, { id, clock }));
      else join(known, toMerging(group, { id, clock }));
    }
    return digest.totalGroups - digest.groups.length + keys.size;
  });
  const wanted = [...merged].filter(([, { isNew }]) => isNew || !onlyNew);
  const ranked = wanted.sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
  // An estimate: a member may have more groups than it sent, and their overlap is unknown.
  const known = onlyNew ? [] : totals;
  return {
    groups: ranked.slice(0, limit).map(([, { nodes, ...group }]) => ({ ...group, nodes: Object.fromEntries(nodes) })),
    totalGroups: Math.max(ranked.length, ...known),
    ungrouped: digests.reduce((sum, { digest }) => sum + digest.ungrouped, 0),
  };
}

/** What identifies a group without a source location. */
function shapeOf({ source, shape }: DigestGroup): string | null {
  return source === null ? shape : null;
}

function toMerging(group: DigestGroup, { id, clock }: { id: string; clock: SteppedClock }): Merging {
  const shift = (timeMs: number | null) => (timeMs === null ? null : toOwnTime(clock, timeMs));
  return {
    ...group,
    firstMs: shift(group.firstMs),
    lastMs: shift(group.lastMs),
    sample: toSample(group, { id, clock }),
    nodes: new Map([[id, group.count]]),
  };
}

function toSample({ sample }: DigestGroup, { id, clock }: { id: string; clock: SteppedClock }): ClusterRecord {
  return { ...sample, node: id, ...(sample.timeMs !== undefined && { atMs: toOwnTime(clock, sample.timeMs) }) };
}

function join(known: Merging, other: Merging): void {
  if ((other.lastMs ?? -Infinity) > (known.lastMs ?? -Infinity)) known.sample = other.sample;
  known.count += other.count;
  known.firstMs = pick(known.firstMs, other.firstMs, Math.min);
  known.lastMs = pick(known.lastMs, other.lastMs, Math.max);
  known.isNew &&= other.isNew;
  for (const [id, count] of other.nodes) known.nodes.set(id, (known.nodes.get(id) ?? 0) + count);
}

function pick(a: number | null, b: number | null, choose: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : choose(a, b);
}
