import { tempDir } from '@porthole/records/testing';
import { loadSettings } from '../../settings/load-settings.ts';
import type { PartialSettings } from '../../settings/settings.ts';
import { type CheckContext, type CheckOutcome, type SystemFacts, THIS_SYSTEM } from '../check-result.ts';

export interface RunCheckOptions {
  settings?: PartialSettings;
  env?: Record<string, string>;
  /** What is different about this machine. */
  system?: Partial<SystemFacts>;
  /** What relative paths count from; a fresh directory unless given. */
  dir?: string;
}

/** Lets one check look at a node with these settings. */
export async function runCheck(
  check: (subject: CheckContext) => Promise<CheckOutcome[]>,
  { settings = {}, env = {}, system = {}, dir = tempDir() }: RunCheckOptions = {},
): Promise<CheckOutcome[]> {
  const loaded = await loadSettings({ options: settings, workDir: dir });
  return check({ loaded, settings: loaded.settings, env, system: { ...THIS_SYSTEM, ...system } });
}
