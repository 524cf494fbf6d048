import { type LoadedSettings, loadSettings, type SettingsSources } from '../settings/load-settings.ts';
import { SettingsError, type SettingsProblemCode } from '../settings/settings-error.ts';
import { checkAccess, checkJwtKeys, checkTls, checkTokens } from './check-credentials.ts';
import {
  checkFollowing,
  checkJournal,
  checkLogDir,
  checkLogFiles,
  checkLogFormats,
  checkOwnLog,
  checkServiceConfig,
} from './check-log-files.ts';
import { checkClock, checkPorts, checkTimeZone } from './check-ports.ts';
import {
  type CheckContext,
  type CheckOutcome,
  type CheckResult,
  ok,
  problem,
  type SystemFacts,
  THIS_SYSTEM,
  warning,
} from './check-result.ts';
import { checkOpenFiles } from './open-files.ts';

export type { CheckResult } from './check-result.ts';

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

/** As in `engines` of the packages. */
const OLDEST = [20, 19] as const;

/** The newest major version that no longer gets security fixes. */
const UNSUPPORTED_MAJOR = 20;

export function checkNodeVersion({ nodeVersion }: SystemFacts): CheckOutcome {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const remedy = 'install a current LTS version of Node.js (https://nodejs.org)';
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return problem(`${nodeVersion} is too old, ${OLDEST.join('.')} or newer is required`, remedy);
  if (major <= UNSUPPORTED_MAJOR) return warning(`${nodeVersion} works, but no longer gets security fixes`, remedy);
  return ok(nodeVersion);
}

const REMEDIES: Readonly<Record<SettingsProblemCode, string>> = {
  FILE_MISSING: 'name an existing file with --config or PORTHOLE_CONFIG, or leave it out: all settings have defaults',
  FILE_UNREADABLE: 'make the file readable for the user that runs the node, or name another one with --config',
  SYNTAX: 'correct this line; the file is TOML (https://toml.io)',
  UNKNOWN_KEY: 'correct the name, or remove the line; docs/settings.md lists all settings',
  BAD_VALUE: 'set it to a valid value',
  CONFLICT: 'change one of the settings named',
};

function checkSettings({ file, values, warnings }: LoadedSettings): CheckOutcome[] {
  const changed = values.filter(({ source }) => source !== 'default').length;
  const origin = file === null ? 'no settings file' : `${file} is valid`;
  return [
    ok(`${origin}, ${describeChanges(changed, values.length)}`),
    ...warnings.map((text) => warning(text, 'correct or remove it; docs/settings.md lists all settings')),
  ];
}

function describeChanges(changed: number, total: number): string {
  return changed === 0
    ? `all ${total} settings at their defaults`
    : `${changed} of ${total} settings differ from their defaults`;
}

/** The messages `porthole serve` would fail with. Rethrows anything but a `SettingsError`. */
function reportSettingsError(error: unknown): CheckOutcome[] {
  if (!(error instanceof SettingsError)) throw error;
  return error.problems.map(({ code, message }) => problem(message, REMEDIES[code]));
}

interface Check {
  name: string;
  /** Returns one or more outcomes; none if there is nothing to check, like TLS that is not configured. */
  run(context: CheckContext): Promise<CheckOutcome[]>;
}

/** The checks that need valid settings, in the order they are reported. */
export const CHECKS: readonly Check[] = [
  { name: 'log directory', run: checkLogDir },
  { name: 'log files', run: checkLogFiles },
  { name: 'log formats', run: checkLogFormats },
  { name: 'journal', run: checkJournal },
  { name: 'own log', run: checkOwnLog },
  { name: 'service configuration', run: checkServiceConfig },
  { name: 'ports', run: checkPorts },
  { name: 'access', run: checkAccess },
  { name: 'tokens', run: checkTokens },
  { name: 'JWT keys', run: checkJwtKeys },
  { name: 'TLS', run: checkTls },
  { name: 'clock', run: checkClock },
  { name: 'time zone', run: checkTimeZone },
  { name: 'open files', run: checkOpenFiles },
  { name: 'following', run: checkFollowing },
];
