import { SETTING_DEFINITIONS, type SettingDefinition } from './settings.ts';
import { toMaskedToml } from './show-value.ts';

/** The table of all settings in `docs/settings.md`. */
export function settingsTable(): string {
  const head = ['Setting', 'Type', 'Default', 'Environment variable', 'Flag', 'Meaning'];
  const rows = [head, head.map(() => '---'), ...SETTING_DEFINITIONS.map(toCells)];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function toCells(definition: SettingDefinition): string[] {
  const { key, kind, env, flag, about } = definition;
  const limits = kind.limits === undefined ? '' : ` (${kind.limits})`;
  const byDefault = toMaskedToml(definition, definition.default);
  return [code(key), `${kind.name}${limits}`, code(byDefault), code(env), code(flag), about];
}

function code(text: string): string {
  return `\`${text}\``;
}
