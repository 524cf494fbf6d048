import type { LoadedSettings } from '../settings/load-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { SystemFacts } from './system-facts.ts';

/** What one check has found. */
export interface CheckResult {
  /** The check, for people: `log directory`. */
  name: string;
  /** `warning`: works, but needs attention. `problem`: does not work, or not as it should. */
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** How to fix it: the setting or the command. */
  remedy?: string;
}

/** A result without the name of its check. */
export type CheckOutcome = Omit<CheckResult, 'name'>;

export function ok(detail: string): CheckOutcome {
  return { state: 'ok', detail };
}

export function warning(detail: string, remedy: string): CheckOutcome {
  return { state: 'warning', detail, remedy };
}

export function problem(detail: string, remedy: string): CheckOutcome {
  return { state: 'problem', detail, remedy };
}

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
