import type { CallOptions, ClusterConfig, MemberSelection, NodeConfig } from '@porthole/contract';
import { chooseMembers } from '../choose-members.ts';
import { queryMembers, type StateDeps } from '../state-deps.ts';

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

/** Contract-only nodes send their secrets; masking twice changes nothing. */
export async function maskConfig(
  { config, node }: NodeConfig,
  { mask }: Pick<StateDeps, 'mask'>,
): Promise<NodeConfig | null> {
  const masked = await mask(config);
  return masked === undefined ? null : { config: masked, node };
}
