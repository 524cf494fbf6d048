import type { NodeSettings } from '@porthole/contract';

/** Where the configuration that a node shows comes from. */
export interface ConfigSource {
  readonly observes: NodeSettings['observes'];
  /** Why there was none to be had when the node started. */
  readonly startProblem?: string | undefined;
  /** Valid TOML with all secrets masked. Throws `CONFIG_UNAVAILABLE` when there is none to be had. */
  text(): Promise<string>;
  settings(): Promise<NodeSettings>;
  /** What health tells of it. */
  check(): Promise<{ ok: boolean; detail: string }>;
}
