import type { CallOptions, ClusterConfigDiff, Member, MemberSelection } from '@porthole/contract';
import { type ChosenMember, chooseMembers } from './choose-members.ts';
import { diffSettings, type MemberSettings } from './diff-settings.ts';
import { askEach, departedReport, type StateParts } from './state-parts.ts';
import { askSettings, type Settings, type SettingsParts } from './told-settings.ts';

/** A member's settings with its place in the answer. */
interface Compared extends MemberSettings {
  role: string;
}

/**
 * Where members of the same role are configured differently, and which. A member that has failed or does not respond is
 * compared by its snapshot: drift must not disappear with it. One that has left is compared only if it is named.
 */
export async function configDiff(
  parts: StateParts & SettingsParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfigDiff> {
  const chosen = chooseMembers(parts, request);
  const isCompared = ({ departed }: ChosenMember) =>
    departed?.departed?.state !== 'left' || (request.nodes?.length ?? 0) > 0;
  const answers = await askEach(
    parts,
    chosen.filter(isCompared),
    (member, asking) => askSettings(member, parts, asking),
    {
      ...options,
      countOf: (settings) => settings.size,
    },
  );
  const compared = answers.flatMap(({ peer, value }) => (value ? [comparedOf(peer.member, value)] : []));
  const left = chosen.flatMap((member) =>
    member.departed && !isCompared(member) ? [departedReport(member.departed, 0)] : [],
  );
  const members = [...answers.map(({ report }) => report), ...left];
  return { roles: diffRoles(compared), members: members.sort((a, b) => compareText(a.id, b.id)) };
}

function diffRoles(compared: readonly Compared[]): ClusterConfigDiff['roles'] {
  const roles = [...new Set(compared.map(({ role }) => role))].sort();
  return roles.map((role) => {
    const members = compared.filter((member) => member.role === role);
    return { role, nodes: members.map(({ id }) => id).sort(), ...diffSettings(members) };
  });
}

function comparedOf({ id, role, node }: Member, settings: Settings): Compared {
  return { id, role, node, settings };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
