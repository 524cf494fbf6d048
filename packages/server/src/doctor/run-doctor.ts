import type { LoadedSettings, SettingsSources } from '../settings/load-settings.ts';
import { loadSettings } from '../settings/load-settings.ts';
import { checkNodeVersion } from './check-node-version.ts';
import type { CheckResult } from './check-result.ts';
import { checkSettings, reportSettingsError } from './check-settings.ts';
import { CHECKS } from './checks.ts';
import { type SystemFacts, THIS_SYSTEM } from './system-facts.ts';

export interface DoctorReport {
  findings: CheckResult[];
  /** Names of the checks that were skipped because the settings are not valid. */
  skipped: string[];
}

/**
 * Checks everything a node with these settings needs, without starting one. Changes nothing and leaves no files behind.
 */
export async function runDoctor(sources: SettingsSources, system: SystemFacts = THIS_SYSTEM): Promise<DoctorReport> {
  const findings: CheckResult[] = [{ name: 'Node.js', ...checkNodeVersion(system) }];
  let loaded: LoadedSettings;
  try {
    loaded = await loadSettings(sources);
  } catch (error) {
    const refused = reportSettingsError(error).map((outcome) => ({ name: 'settings', ...outcome }));
    return { findings: [...findings, ...refused], skipped: CHECKS.map(({ name }) => name) };
  }
  for (const outcome of checkSettings(loaded)) findings.push({ name: 'settings', ...outcome });
  for (const { name, run } of CHECKS) {
    const outcomes = await run({ loaded, settings: loaded.settings, env: sources.env ?? {}, system });
    findings.push(...outcomes.map((outcome) => ({ name, ...outcome })));
  }
  return { findings, skipped: [] };
}
