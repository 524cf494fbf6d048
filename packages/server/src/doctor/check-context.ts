import type { LoadedSettings } from '../settings/load-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { SystemFacts } from './system-facts.ts';

/** What the checks examine: the settings of a node, on a machine. */
export interface CheckContext {
  loaded: LoadedSettings;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  system: SystemFacts;
}

/** The directory whose logs the node would serve. */
export function servedLogDir({ service, logging }: Settings): string {
  return service.logDir || logging.dir;
}
