import type { SettingScalar } from './kinds/setting-kind.ts';
import type { SettingDefinition } from './settings.ts';

const MASK = '******';

/** A value as JSON, spelt as in the file. A secret is masked; an empty one stays empty, which says that it is not set. */
export function toMaskedJson(
  definition: Pick<SettingDefinition, 'kind' | 'secret'>,
  value: SettingScalar,
): SettingScalar {
  const json = definition.kind.toJson(value);
  if (!definition.secret || json === '' || (Array.isArray(json) && json.length === 0)) return json;
  return Array.isArray(json) ? json.map(() => MASK) : MASK;
}

/** The same as a TOML literal. */
export function toMaskedToml(definition: Pick<SettingDefinition, 'kind' | 'secret'>, value: SettingScalar): string {
  const json = toMaskedJson(definition, value);
  return Array.isArray(json) ? `[${json.map(tomlLiteral).join(', ')}]` : tomlLiteral(json);
}

/** JSON's literals are TOML's, but for DEL, which TOML wants escaped. */
function tomlLiteral(value: string | number | boolean): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
