import type { CallOptions, ClusterConfig, MemberSelection, NodeConfig } from '@porthole/contract';
import { chooseMembers } from './choose-members.ts';
import { askEach, type StateParts } from './state-parts.ts';

/** The configuration of each member; of one that has left, failed or does not respond, that of its snapshot, with its age in the report. */
export async function clusterConfig(
  parts: StateParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfig> {
  const chosen = chooseMembers(parts, request);
  const answers = await askEach(parts, chosen, ({ state }, asking) => state.config(asking), {
    ...options,
    countOf: () => 1,
  });
  const masking = answers.map(async ({ peer: { member }, value, report }) => {
    const { id, role } = member;
    if (value === undefined) return { id, role, config: null, report: { ...report, count: 0 } };
    const config = await maskConfig(value, parts);
    if (config) return { id, role, config, report };
    return { id, role, config, report: { ...report, count: 0, detail: NOT_MASKABLE, isPartial: true as const } };
  });
  return { configs: await Promise.all(masking) };
}

export const NOT_MASKABLE = 'its configuration is not shown: its secrets cannot be masked, because it is no TOML';

/** Nodes that only speak the contract tell their secrets; masking what is masked already changes nothing. */
export async function maskConfig(
  { config, node }: NodeConfig,
  { mask }: Pick<StateParts, 'mask'>,
): Promise<NodeConfig | null> {
  const masked = await mask(config);
  return masked === undefined ? null : { config: masked, node };
}
