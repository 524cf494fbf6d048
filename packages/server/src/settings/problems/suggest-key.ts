import { editDistance } from '@porthole/logs';
import { SETTING_DEFINITIONS, type SettingDefinition } from '../settings.ts';
import { quote } from '../show-value.ts';

/** ` - did you mean "http.port"?`, or empty if no setting is close. `section` is empty for a key outside any table. */
export function suggestKey(section: string, name: string): string {
  const meant = meantKeys(section, name).map(quote);
  return meant.length === 0 ? '' : ` - did you mean ${meant.join(' or ')}?`;
}

export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : ` - did you mean ${quote(meant)}?`;
}

/** The likeliest first: another spelling in the same table, the right name in the wrong table, a typo. */
function meantKeys(section: string, name: string): string[] {
  const here = SETTING_DEFINITIONS.filter((definition) => definition.section === section);
  const spelt = toKebabCase(name);
  for (const definitions of [here, SETTING_DEFINITIONS]) {
    const same = definitions.filter((definition) => definition.name === spelt || definition.property === name);
    if (same.length > 0) return same.map(({ key }) => key);
  }
  for (const definitions of [here, SETTING_DEFINITIONS]) {
    const near = closestMatch(spelt, listNames(definitions));
    if (near !== undefined) return definitions.filter((definition) => definition.name === near).map(({ key }) => key);
  }
  if (section !== '') return [];
  // Outside any table the name may hold the table's: "httpPort", or "http.port" in quotes.
  const whole = closestMatch(spelt.replaceAll('.', '-'), SETTING_DEFINITIONS.map(toDashes));
  return SETTING_DEFINITIONS.filter((definition) => toDashes(definition) === whole).map(({ key }) => key);
}

function listNames(definitions: readonly SettingDefinition[]): string[] {
  return definitions.map(({ name }) => name);
}

function toDashes({ key }: SettingDefinition): string {
  return key.replaceAll('.', '-');
}

/** `maxStreams`, `max_streams` and `MAX-STREAMS` are all `max-streams`. */
function toKebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** More edits would make the suggestion a guess. */
const MAX_EDITS = 3;

/**
 * The candidate a misspelt word most likely means, or `undefined` when none is near. Letter case does not count; an
 * exchange of two neighbours (`prot`) is one edit; at most a third of the letters may differ. The first of equals wins.
 */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of candidates) {
    const allowed = Math.min(bestEdits - 1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    // Each letter too many or too few is an edit: most candidates need no comparing.
    if (Math.abs(wanted.length - candidate.length) > allowed) continue;
    const edits = editDistance(wanted, candidate.toLowerCase());
    if (edits > allowed) continue;
    if (edits === 0) return candidate;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}
