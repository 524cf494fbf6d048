import type { ClusterConfigDiff, ClusterNode } from '@porthole/client';
import type { RoleDiff } from './drift-matrix.ts';

/** How many keys differ in a role for real: not only in spelling, and not as expected. */
export function countDrift({ differences }: Pick<RoleDiff, 'differences'>): number {
  return differences.filter(
    ({ isExpected, values }) => !isExpected && values.some((value) => !value.isMajority && !value.isSameMeaning),
  ).length;
}

/** The role asked for; else that with the most differing keys. */
export function chooseRole({ roles }: ClusterConfigDiff, wanted: string | null): RoleDiff | undefined {
  const requested = roles.find(({ role }) => role === wanted);
  return requested ?? roles.toSorted((a, b) => countDrift(b) - countDrift(a))[0];
}

/** Members of a role of which no configuration is known, not even an old one. */
export function silentNodes(
  role: Pick<RoleDiff, 'role' | 'nodes'>,
  { members }: Pick<ClusterConfigDiff, 'members'>,
  nodes: readonly Pick<ClusterNode, 'id' | 'role'>[],
): string[] {
  const ofRole = new Set(nodes.filter((node) => node.role === role.role).map(({ id }) => id));
  return members.map(({ id }) => id).filter((id) => ofRole.has(id) && !role.nodes.includes(id));
}
