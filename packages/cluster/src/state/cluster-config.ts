import type { CallOptions, ClusterConfig, MemberSelection, NodeConfig } from '@porthole/contract';
import { chooseMembers } from './choose-members.ts';
import { askEach, goneReport, type StateParts } from './state-parts.ts';

/** The configuration of each member; of one that is gone or does not answer, the last known, with its age in the report. */
export async function clusterConfig(
  parts: StateParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfig> {
  const { peers, gone } = chooseMembers(parts, request);
  const answers = await askEach(parts, peers, ({ state }, asking) => state.config(asking), {
    ...options,
    countOf: () => 1,
  });
  const told = answers.map(({ peer: { member }, value, report }) => {
    const { id, role } = member;
    if (value !== undefined) {
      const config = maskConfig(value, parts);
      return { id, role, config, report: config ? report : { ...report, count: 0, detail: NOT_MASKABLE } };
    }
    const words = parts.lastWords.of(id);
    if (!words?.config) return { id, role, config: null, report };
    return { id, role, config: words.config, report: { ...report, count: 1, asOfMs: words.asOfMs } };
  });
  const left = gone.map((words) => ({
    id: words.member.id,
    role: words.member.role,
    config: words.config,
    report: goneReport(words, words.config ? 1 : 0),
  }));
  return { configs: [...told, ...left].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

export const NOT_MASKABLE = 'its configuration is not shown: its secrets cannot be masked, because it is no TOML';

/** Nodes that only speak the contract tell their secrets; masking what is masked already changes nothing. */
export function maskConfig({ config, node }: NodeConfig, { mask }: Pick<StateParts, 'mask'>): NodeConfig | null {
  const masked = mask(config);
  return masked === undefined ? null : { config: masked, node };
}
