import { matchesPattern } from '@porthole/logs/query';

/** What an operator calls a node: `zone`, `rack`, `version`, by name. */
export type Labels = Readonly<Record<string, string>>;

/** Labels are in every registration and every list of members, so they stay short. */
export const MAX_LABELS = 16;

/** Names and values of one node together. */
export const MAX_LABEL_CHARACTERS = 512;

export const LABEL_NAME = /^[A-Za-z][A-Za-z0-9_./-]{0,31}$/;
const VALUE = /^[A-Za-z0-9_.:/+@-]{1,64}$/;
const VALUE_PATTERN = /^[A-Za-z0-9_.:/+@*?-]{1,64}$/;

/** For messages. */
export const LABEL_TEXT =
  'NAME=VALUE: a name of at most 32 letters, digits and "_./-" that starts with a letter, a value of at most 64 letters, digits and "_.:/+@-"';

/** Parses `zone=eu-1`; `undefined` if it is no label. */
export function parseLabel(text: string): [name: string, value: string] | undefined {
  const at = text.indexOf('=');
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && isLabelName(name) && VALUE.test(value) ? [name, value] : undefined;
}

/** The labels in texts like `zone=a`. */
export function labelsOf(texts: readonly string[]): Labels {
  return readLabels(
    Object.fromEntries(
      texts.flatMap((text) => {
        const l = parseLabel(text);
        return l ? [l] : [];
      }),
    ),
  );
}

/** Selects members by labels: `zone=a`, whose value may have `*` and `?`. */
export function isLabelPattern(text: string): boolean {
  const at = text.indexOf('=');
  return at > 0 && isLabelName(text.slice(0, at)) && VALUE_PATTERN.test(text.slice(at + 1));
}

/** Whether labels match: of each name one of its patterns. */
export function matchesLabels(labels: Labels, patterns: readonly string[]): boolean {
  const wanted = new Map<string, string[]>();
  for (const pattern of patterns) {
    const at = pattern.indexOf('=');
    const name = pattern.slice(0, at);
    wanted.set(name, [...(wanted.get(name) ?? []), pattern.slice(at + 1)]);
  }
  return [...wanted].every(([name, values]) => {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return value !== undefined && values.some((each) => each === value || matchesPattern(value, each));
  });
}

/** Labels are object keys, where the names of inherited properties have a meaning. */
export function isLabelName(name: string): boolean {
  return LABEL_NAME.test(name) && !(name in Object.prototype);
}

/**
 * The labels in what a registry, a member or a file says, which may be anything: invalid ones are left out, and those beyond
 * the limits, because a member with a bad label is still a member. Ordered by name.
 */
export function readLabels(value: unknown): Labels {
  const labels: Record<string, string> = {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return labels;
  let [count, characters] = [0, 0];
  const valid = Object.entries(value).filter(isLabel);
  for (const [name, text] of valid.sort(([left], [right]) => (left < right ? -1 : 1))) {
    count++;
    characters += name.length + text.length;
    if (count > MAX_LABELS || characters > MAX_LABEL_CHARACTERS) break;
    labels[name] = text;
  }
  return labels;
}

function isLabel(entry: [string, unknown]): entry is [string, string] {
  const [name, text] = entry;
  return isLabelName(name) && typeof text === 'string' && VALUE.test(text);
}
