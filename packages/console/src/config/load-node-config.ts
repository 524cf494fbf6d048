import type { CallOptions, ClusterState, MemberReport, NodeSettings } from '@porthole/client';
import { toProblem } from '../state/resource.ts';

/** What is known of one node's configuration. */
export interface KnownConfig {
  id: string;
  /** TOML, secrets masked; `null` where there is none to show, and the report says why. */
  text: string | null;
  report: MemberReport;
  settings: NodeSettings | null;
  /** Why there are no settings: nodes that only speak the contract have none. */
  settingsProblem: { code: string; detail: string } | null;
}

type LoadOptions = Pick<ClusterState, 'config' | 'member'>;

/** Text and settings together. Of a node that does not answer it is what was last known, and of that only the text. */
export async function loadNodeConfig(
  cluster: LoadOptions,
  id: string,
  options: CallOptions = {},
): Promise<KnownConfig> {
  const [{ configs }, told] = await Promise.all([
    cluster.config({ nodes: [id] }, options),
    loadSettings(cluster, id, options),
  ]);
  const found = configs.find((one) => one.id === id);
  if (found === undefined) return { id, text: null, report: unknownReport(id), ...told };
  return { id, text: found.config?.config ?? null, report: found.report, ...told };
}

/** Settings, or why there are none; never throws but for the signal. */
export async function loadSettings(
  cluster: Pick<LoadOptions, 'member'>,
  id: string,
  options: CallOptions = {},
): Promise<Pick<KnownConfig, 'settings' | 'settingsProblem'>> {
  try {
    return { settings: await cluster.member(id).settings(options), settingsProblem: null };
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const { code, detail } = toProblem(thrown);
    return { settings: null, settingsProblem: { code, detail } };
  }
}

function unknownReport(id: string): MemberReport {
  const detail = `no node named "${id}" is in the cluster`;
  return { id, outcome: 'gone', detail, elapsedMs: 0, count: 0, asOfMs: null };
}
