import type { LoadedSettings, SettingValue } from './load-settings.ts';
import { SECTIONS } from './settings.ts';
import { showText } from './show-value.ts';
import { toMaskedToml } from './write-value.ts';

/** The effective configuration as TOML that a node can be started with; secrets are masked. */
export function renderSettings(loaded: LoadedSettings): string {
  const origin = loaded.file === null ? 'No settings file was read.' : `Settings file: ${showText(loaded.file)}`;
  const head = ['# The settings this node runs with.', `# ${origin}`];
  const sections = SECTIONS.map((section) => {
    const values = loaded.values.filter(({ definition }) => definition.section === section);
    return [`[${section}]`, values.map(renderValue).join('\n\n')].join('\n');
  });
  return `${[head.join('\n'), ...sections].join('\n\n')}\n`;
}

function renderValue({ definition, defaultValue, source, origin, text }: SettingValue): string {
  const byDefault = toMaskedToml(definition, defaultValue);
  return [
    `# ${definition.about}`,
    `# Default: ${byDefault}. Environment: ${definition.env}.`,
    ...(source === 'default' ? [] : [`# Set by ${source === 'file' ? `file ${origin}` : origin}.`]),
    `${definition.name} = ${text}`,
  ].join('\n');
}
