import type { LoadedSettings } from '../settings/load-settings.ts';
import { SettingsError, type SettingsProblemCode } from '../settings/problems/settings-error.ts';
import { type CheckOutcome, ok, problem, warning } from './check-result.ts';

const REMEDIES: Readonly<Record<SettingsProblemCode, string>> = {
  FILE_MISSING: 'name an existing file with --config or PORTHOLE_CONFIG, or leave it out: all settings have defaults',
  FILE_UNREADABLE: 'make the file readable for the user that runs the node, or name another one with --config',
  SYNTAX: 'correct this line; the file is TOML (https://toml.io)',
  UNKNOWN_KEY: 'correct the name, or remove the line; docs/settings.md lists all settings',
  BAD_VALUE: 'set it to a valid value',
  CONFLICT: 'change one of the settings named',
};

export function checkSettings({ file, values, warnings }: LoadedSettings): CheckOutcome[] {
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
export function reportSettingsError(error: unknown): CheckOutcome[] {
  if (!(error instanceof SettingsError)) throw error;
  return error.problems.map(({ code, message }) => problem(message, REMEDIES[code]));
}
