import {
  type CallOptions,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ConfigDiffRequest,
  codeOf,
  errorMessage,
  type Member,
  type MemberSelection,
  type NodeSettings,
  type NodeState,
} from '@porthole/contract';
import { type Deadline, withDeadline } from '../requests/bounded-calls.ts';
import { expectFailure } from '../requests/member-failure.ts';
import { diffSettings, type MemberSettings } from '../settings/diff-settings.ts';
import { fetchSettings, type Settings, type SettingsDeps } from '../settings/fetch-settings.ts';
import { maskConfig } from '../settings/secrets.ts';
import {
  type ChosenMember,
  chooseMembers,
  departedReport,
  type QueriedMember,
  queryMembers,
  type StateDeps,
} from './query-members.ts';

/** The configuration of each member; the last known one if it left, failed or does not respond, with its age in the report. */
export async function clusterConfig(
  deps: StateDeps,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfig> {
  const chosen = chooseMembers(deps, request);
  // Settings may take longer: a service is asked for them. The configuration does not wait for that.
  const timeoutMs = deps.timeoutMs * SETTINGS_SHARE;
  const call = async ({ state }: QueriedMember, callOptions: CallOptions) => {
    const [config, known] = await Promise.all([
      state.config(callOptions),
      settingsOf(state, { ...callOptions, timeoutMs }),
    ]);
    return { config, known };
  };
  const responses = await queryMembers(deps, chosen, call, { ...options, countOf: () => 1 });
  const masking = responses.map(async ({ peer: { member }, value, report }) => {
    const { id, role } = member;
    if (value === undefined) return { id, role, config: null, settings: null, report: { ...report, count: 0 } };
    const { settings, problem } = value.known;
    const config = await maskConfig(value.config, deps);
    const detail = config ? problem : NOT_MASKABLE;
    const part = detail === null ? report : { ...report, detail, isPartial: true as const };
    return { id, role, config: config ?? null, settings, report: config ? part : { ...part, count: 0 } };
  });
  return { configs: await Promise.all(masking) };
}

/** Share of the timeout of a member for its settings. */
const SETTINGS_SHARE = 0.5;

/** Members with only the routes of the contract, and what was recorded of others, have none; others say why not. */
async function settingsOf(
  state: NodeState,
  deadline: Deadline,
): Promise<{ settings: NodeSettings | null; problem: string | null }> {
  try {
    const settings = await withDeadline((signal) => state.settings({ ...deadline, signal }), deadline);
    return { settings, problem: null };
  } catch (error) {
    deadline.signal?.throwIfAborted();
    expectFailure(error);
    return { settings: null, problem: codeOf(error) === 'NOT_SUPPORTED' ? null : `settings: ${errorMessage(error)}` };
  }
}

export const NOT_MASKABLE = 'the configuration is not TOML, so its secrets cannot be masked; not shown';

/** The settings of a member with its report. */
interface Compared extends MemberSettings {
  role: string;
  /** What it is compared by, besides its role: `zone=a`; empty if it has no such label. */
  label: string;
}

/**
 * Differences between members of the same role. A member that failed or does not respond is compared by the last known one: drift
 * must not disappear with it. One that left is compared only if it is named.
 */
export async function configDiff(
  deps: StateDeps & SettingsDeps,
  request: ConfigDiffRequest,
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
  const compared = responses.flatMap(({ peer, value }) => (value ? [toCompared(peer.member, value, request.by)] : []));
  const departedReports = chosen.flatMap((member) =>
    member.departed && !isCompared(member) ? [departedReport(member.departed, 0)] : [],
  );
  const members = [...responses.map(({ report }) => report), ...departedReports];
  return { roles: diffRoles(compared, request.by), members: members.sort((a, b) => compareText(a.id, b.id)) };
}

function diffRoles(compared: readonly Compared[], by: string | undefined): ClusterConfigDiff['roles'] {
  const groups = new Map<string, Compared[]>();
  for (const member of compared) {
    const key = `${member.role}\n${member.label}`;
    groups.set(key, [...(groups.get(key) ?? []), member]);
  }
  return [...groups.keys()].sort().flatMap((key) => {
    const members = groups.get(key) ?? [];
    const [role = '', label = ''] = key.split('\n');
    const named = by === undefined ? { role } : { role, label };
    return { ...named, nodes: members.map(({ id }) => id).sort(), ...diffSettings(members) };
  });
}

function toCompared({ id, role, node, labels }: Member, settings: Settings, by: string | undefined): Compared {
  const value = by !== undefined && Object.hasOwn(labels, by) ? labels[by] : undefined;
  return { id, role, node, settings, label: value === undefined ? '' : `${by}=${value}` };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
