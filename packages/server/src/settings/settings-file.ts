import type { SettingScalar } from './setting-kinds.ts';
import { SECTIONS, SETTING_DEFINITIONS, type SettingDefinition } from './settings.ts';
import { toToml } from './show-value.ts';

/* What helps people and editors to write a settings file: a schema, and a file with every setting as a comment. */

/** Editors find the schema by this name, beside the settings file. */
export const SCHEMA_FILE = 'porthole.schema.json';

/** JSON Schema of a settings file, as editors of TOML use it to complete, explain and check; draft 7 is what they know. */
export function settingsSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `https://porthole.example/${SCHEMA_FILE}`,
    title: 'Settings of a Porthole node (porthole.toml)',
    type: 'object',
    properties: Object.fromEntries(SECTIONS.map((section) => [section, sectionSchema(section)])),
    additionalProperties: false,
  };
}

function sectionSchema(section: string): object {
  const own = SETTING_DEFINITIONS.filter((definition) => definition.section === section);
  return {
    type: 'object',
    properties: Object.fromEntries(own.map((definition) => [definition.name, settingSchema(definition)])),
    additionalProperties: false,
  };
}

function settingSchema({ kind, about, env, default: byDefault }: SettingDefinition): object {
  return {
    ...kind.schema,
    description: `${about} Environment variable: ${env}.`,
    default: kind.toJson(byDefault),
  };
}

/**
 * A settings file in which every setting is a comment with its default, but those that are given, by key, have this value.
 * It names the schema for editors.
 */
export function settingsTemplate(given: Readonly<Record<string, SettingScalar>> = {}): string {
  const head = [
    `#:schema ${SCHEMA_FILE}`,
    '# Settings of a Porthole node, each with its default. Remove the # before a name to change it.',
    '# "porthole doctor --config FILE" checks a file; "porthole serve --config FILE" starts a node with it.',
  ];
  const sections = SECTIONS.map((section) => {
    const own = SETTING_DEFINITIONS.filter((definition) => definition.section === section);
    return [
      `[${section}]`,
      own.map((definition) => describedSetting(definition, given[definition.key])).join('\n\n'),
    ].join('\n');
  });
  return `${[head.join('\n'), ...sections].join('\n\n')}\n`;
}

function describedSetting(definition: SettingDefinition, value: SettingScalar | undefined): string {
  const { name, about, env, kind, default: byDefault } = definition;
  const limits = kind.limits === '' ? '' : ` ${kind.limits}.`;
  return [
    `# ${about}`,
    `# Type: ${kind.name}.${limits} Environment: ${env}.`,
    value === undefined ? `#${name} = ${toToml(definition, byDefault)}` : `${name} = ${toToml(definition, value)}`,
  ].join('\n');
}
