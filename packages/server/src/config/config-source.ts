import type { NodeSettings } from '@porthole/contract';

/** The source of the configuration a node shows. */
export interface ConfigSource {
  readonly observes: NodeSettings['observes'];
  /** Why it was not available when the node started. */
  readonly startProblem?: string | undefined;
  /** Valid TOML with all secrets masked. Throws `CONFIG_UNAVAILABLE` if it is not available. */
  text(): Promise<string>;
  settings(): Promise<NodeSettings>;
  /** The health check. */
  check(): Promise<{ ok: boolean; detail: string }>;
}
