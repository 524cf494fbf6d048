import { closestMatch } from './closest-match.ts';
import { SETTING_DEFINITIONS, type SettingDefinition, toKebabCase } from './settings.ts';
import { quote } from './show-value.ts';

/** ` - did you mean "http.port"?`, or empty if there is no suggestion. */
export function didYouMean(...meant: (string | undefined)[]): string {
  const quoted = meant.filter((key) => key !== undefined).map(quote);
  return quoted.length === 0 ? '' : ` - did you mean ${quoted.join(' or ')}?`;
}

/** The likeliest first: another spelling in the same table, the right name in the wrong table, a typo. */
export function suggestKey(section: string, name: string): string {
  const spelt = toKebabCase(name);
  const scopes = [listSection(section), SETTING_DEFINITIONS];
  for (const scope of scopes) {
    const same = scope.filter((definition) => definition.name === spelt || definition.property === name);
    if (same.length > 0) return didYouMean(...same.map(({ key }) => key));
  }
  for (const scope of scopes) {
    const near = closestMatch(spelt, listNames(scope));
    if (near !== undefined) return didYouMean(...scope.filter((known) => known.name === near).map(({ key }) => key));
  }
  if (section !== '') return '';
  // Outside any table the name may hold the table's: "httpPort", or "http.port" in quotes.
  const keys = SETTING_DEFINITIONS.map(({ key }) => key);
  const whole = closestMatch(
    spelt.replaceAll('.', '-'),
    keys.map((key) => key.replace('.', '-')),
  );
  return didYouMean(keys.find((key) => key.replace('.', '-') === whole));
}

/** The same for an option of a program: `"http.maxStreams"`. */
export function suggestProperty(section: string, property: string): string {
  const definitions = listSection(section);
  const meant =
    definitions.find(({ name }) => name === property)?.property ??
    closestMatch(
      property,
      definitions.map((known) => known.property),
    );
  return didYouMean(meant && `${section}.${meant}`);
}

function listSection(section: string): SettingDefinition[] {
  return SETTING_DEFINITIONS.filter((definition) => definition.section === section);
}

function listNames(definitions: readonly SettingDefinition[]): string[] {
  return definitions.map(({ name }) => name);
}
