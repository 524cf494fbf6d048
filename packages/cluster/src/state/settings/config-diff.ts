import type { CallOptions, ClusterConfigDiff, Member, MemberSelection } from '@porthole/contract';
import { type ChosenMember, chooseMembers } from '../choose-members.ts';
import { departedReport, queryMembers, type StateDeps } from '../state-deps.ts';
import { diffSettings, type MemberSettings } from './diff-settings.ts';
import { fetchSettings, type Settings, type SettingsDeps } from './fetch-settings.ts';

/** The settings of a member with its report. */
interface Compared extends MemberSettings {
  role: string;
}

/**
 * Differences between members of the same role. A member that failed or does not respond is compared by its snapshot: drift
 * must not disappear with it. One that left is compared only if it is named.
 */
export async function configDiff(
  deps: StateDeps & SettingsDeps,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfigDiff> {
  const chosen = chooseMembers(deps, request);
  const isCompared = ({ departed }: ChosenMember) =>
    departed?.departed?.state !== 'left' || (request.nodes?.length ?? 0) > 0;
  const responses = await queryMembers(
    deps,
    chosen.filter(isCompared),
    (member, callOptions) => fetchSettings(member, deps, callOptions),
    {
      ...options,
      countOf: (settings) => settings.size,
    },
  );
  const compared = responses.flatMap(({ peer, value }) => (value ? [toCompared(peer.member, value)] : []));
  const departedReports = chosen.flatMap((member) =>
    member.departed && !isCompared(member) ? [departedReport(member.departed, 0)] : [],
  );
  const members = [...responses.map(({ report }) => report), ...departedReports];
  return { roles: diffRoles(compared), members: members.sort((a, b) => compareText(a.id, b.id)) };
}

function diffRoles(compared: readonly Compared[]): ClusterConfigDiff['roles'] {
  const roles = [...new Set(compared.map(({ role }) => role))].sort();
  return roles.map((role) => {
    const members = compared.filter((member) => member.role === role);
    return { role, nodes: members.map(({ id }) => id).sort(), ...diffSettings(members) };
  });
}

function toCompared({ id, role, node }: Member, settings: Settings): Compared {
  return { id, role, node, settings };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
