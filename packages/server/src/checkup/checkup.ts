import type { LoadedSettings, SettingsSources } from '../settings/load-settings.ts';
import { loadSettings } from '../settings/load-settings.ts';
import { CHECKS } from './checks.ts';
import type { Finding } from './finding.ts';
import { lookAtNodeVersion } from './node-version.ts';
import { lookAtSettings, refusedSettings } from './settings-file.ts';
import { type SystemFacts, THIS_SYSTEM } from './system-facts.ts';

export interface Checkup {
  findings: Finding[];
  /** Names of what could not be looked at, because the settings are not valid. */
  skipped: string[];
}

/**
 * Looks at everything a node with these settings needs, without starting one. Changes nothing and leaves nothing
 * behind.
 */
export async function checkUp(sources: SettingsSources, system: SystemFacts = THIS_SYSTEM): Promise<Checkup> {
  const findings: Finding[] = [{ name: 'Node.js', ...lookAtNodeVersion(system) }];
  let loaded: LoadedSettings;
  try {
    loaded = await loadSettings(sources);
  } catch (error) {
    const refused = refusedSettings(error).map((look) => ({ name: 'settings', ...look }));
    return { findings: [...findings, ...refused], skipped: CHECKS.map(({ name }) => name) };
  }
  for (const look of lookAtSettings(loaded)) findings.push({ name: 'settings', ...look });
  for (const { name, look } of CHECKS) {
    const looks = await look({ loaded, settings: loaded.settings, env: sources.env ?? {}, system });
    findings.push(...looks.map((found) => ({ name, ...found })));
  }
  return { findings, skipped: [] };
}
