import type { CallOptions, ClusterConfig, MemberSelection } from '@porthole/contract';
import { maskConfig } from '../settings/secrets.ts';
import { chooseMembers, queryMembers, type StateDeps } from './query-members.ts';

/** The configuration of each member; from its snapshot if it left, failed or does not respond, with the age in the report. */
export async function clusterConfig(
  deps: StateDeps,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfig> {
  const chosen = chooseMembers(deps, request);
  const responses = await queryMembers(deps, chosen, ({ state }, callOptions) => state.config(callOptions), {
    ...options,
    countOf: () => 1,
  });
  const masking = responses.map(async ({ peer: { member }, value, report }) => {
    const { id, role } = member;
    if (value === undefined) return { id, role, config: null, report: { ...report, count: 0 } };
    const config = await maskConfig(value, deps);
    if (config) return { id, role, config, report };
    return { id, role, config, report: { ...report, count: 0, detail: NOT_MASKABLE, isPartial: true as const } };
  });
  return { configs: await Promise.all(masking) };
}

export const NOT_MASKABLE = 'the configuration is not TOML, so its secrets cannot be masked; not shown';
