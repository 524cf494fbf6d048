import { loadSettings } from '../../settings/load-settings.ts';
import type { PartialSettings } from '../../settings/settings.ts';
import { tempDir } from '../../testing/test-node.ts';
import type { Look } from '../finding.ts';
import type { Subject } from '../subject.ts';
import { type SystemFacts, THIS_SYSTEM } from '../system-facts.ts';

export interface LookAtOptions {
  settings?: PartialSettings;
  env?: Record<string, string>;
  /** What is different about this machine. */
  system?: Partial<SystemFacts>;
  /** What relative paths count from; a fresh directory unless given. */
  dir?: string;
}

/** Lets one check look at a node with these settings. */
export async function lookAt(
  check: (subject: Subject) => Promise<Look[]>,
  { settings = {}, env = {}, system = {}, dir = tempDir() }: LookAtOptions = {},
): Promise<Look[]> {
  const loaded = await loadSettings({ options: settings, workDir: dir });
  return check({ loaded, settings: loaded.settings, env, system: { ...THIS_SYSTEM, ...system } });
}
