import type { LoadedSettings } from '../settings/load-settings.ts';
import { SettingsError, type SettingsProblemCode } from '../settings/problems/settings-error.ts';
import { type CheckOutcome, ok, problem, warning } from './check-result.ts';

const REMEDIES: Readonly<Record<SettingsProblemCode, string>> = {
  FILE_MISSING: 'name an existing file with --config or PORTHOLE_CONFIG, or leave it out: all settings have defaults',
  FILE_UNREADABLE: 'let the user that runs the node read the file, or name another with --config',
  SYNTAX: 'correct this line; the file is TOML (https://toml.io)',
  UNKNOWN_KEY: 'correct the name, or remove the line; docs/settings.md lists all settings',
  BAD_VALUE: 'give a value of the kind that is named',
  CONFLICT: 'change one of the settings it names',
};

export function checkSettings({ file, values, warnings }: LoadedSettings): CheckOutcome[] {
  const changed = values.filter(({ source }) => source !== 'default').length;
  const origin = file === null ? 'no settings file' : `${file} is valid`;
  return [
    ok(`${origin}, ${changed} of ${values.length} settings are not the default`),
    ...warnings.map((text) => warning(text, 'correct or remove it; docs/settings.md lists all settings')),
  ];
}

/** The same messages that keep `porthole serve` from starting. Throws what is no matter of settings. */
export function reportSettingsError(error: unknown): CheckOutcome[] {
  if (!(error instanceof SettingsError)) throw error;
  return error.problems.map(({ code, message }) => problem(message, REMEDIES[code]));
}
