import type { CallOptions, ClusterState, MemberReport, NodeSettings } from '@porthole/client';
import { toProblem } from '../state/to-problem.ts';

/** What is known about one node's configuration. */
export interface KnownConfig {
  id: string;
  /** TOML with masked secrets; `null` if there is none, and the report says why. */
  text: string | null;
  report: MemberReport;
  settings: NodeSettings | null;
  /** Why there are no settings: members that only implement the LinDB contract have none. */
  settingsProblem: { code: string; detail: string } | null;
}

type LoadOptions = Pick<ClusterState, 'config' | 'member'>;

/** Loads text and settings. For a node that is not responding: the last known text, without settings. */
export async function loadNodeConfig(
  cluster: LoadOptions,
  id: string,
  options: CallOptions = {},
): Promise<KnownConfig> {
  const [{ configs }, settings] = await Promise.all([
    cluster.config({ nodes: [id] }, options),
    loadSettings(cluster, id, options),
  ]);
  const found = configs.find((one) => one.id === id);
  if (found === undefined) return { id, text: null, report: unknownReport(id), ...settings };
  return { id, text: found.config?.config ?? null, report: found.report, ...settings };
}

/** The settings, or why there are none; rejects only if the signal is aborted. */
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
  const detail = `no node named "${id}" in the cluster`;
  return { id, outcome: 'gone', detail, elapsedMs: 0, count: 0, asOfMs: null };
}
