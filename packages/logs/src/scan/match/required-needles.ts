import { MAX_VALUE_BYTES, makeNeedle, type Needle } from '../../kernel/scan-kernel.ts';
import type { FormatName } from '../../parse/format.ts';
import { textsRarity } from '../../regex/required-texts.ts';
import type { QueryNode, RegexNode } from '../../types.ts';
import { fieldTexts, isAscii } from './compile-test.ts';
import type { RecordMatcher } from './record-matcher.ts';
import type { ValueBehind } from './value-behind.ts';

/** Texts of which every matching record contains one. */
export interface RequiredSet {
  texts: readonly RequiredText[];
  /** Other ways to write them, so rare that they do not count when sets are compared. */
  escapes?: readonly RequiredText[];
  /** They are the name of a field, which is often in every record. */
  isName?: boolean;
}

export interface RequiredText {
  text: string;
  caseSensitive: boolean;
  /** Whether what follows it makes a match possible. */
  follows?: ValueBehind;
  /** It is the name of a member of JSON whose value contains this, unless it has escapes. */
  value?: string | undefined;
}

/** Searching for more, one after the other, takes longer than parsing the records. */
const MAX_TEXTS = 8;

/** A name is about as rare as a shorter text: a value of the same length is the better one to search for. */
const NAME_RARITY = 0.7;

/** Sets of texts; every matching record contains one of each set. The presumably rarest comes first. */
export function requiredNeedles({ conditions, findRegex }: RecordMatcher, format: FormatName): Needle[][] {
  return conditions
    .flatMap((node) => requiredSets(node, { format, findRegex }))
    .sort((a, b) => rarity(b) - rarity(a))
    .map(({ texts, escapes = [] }) => [...texts, ...escapes].map(toNeedle));
}

function toNeedle({ text, caseSensitive, follows, value }: RequiredText): Needle {
  return {
    ...makeNeedle(text, { caseSensitive }),
    ...(follows && { follows }),
    ...(value && { value: Buffer.from(value.toLowerCase()).subarray(0, MAX_VALUE_BYTES) }),
  };
}

export type NeedleSearch = Pick<RecordMatcher, 'findRegex'> & { format: FormatName };

function requiredSets(node: QueryNode, search: NeedleSearch): RequiredSet[] {
  switch (node.kind) {
    case 'text':
      return usable([{ texts: [{ text: node.text, caseSensitive: node.caseSensitive ?? false }] }]);
    case 'regex':
      return regexSets(node, search);
    case 'field':
    case 'fieldRegex':
    case 'exists':
      return usable(fieldTexts(node, search));
    case 'and':
      return node.nodes.flatMap((each) => requiredSets(each, search));
    case 'or':
      return unionSet(node.nodes.map((each) => rarest(requiredSets(each, search))));
    case 'not':
      return [];
  }
}

function regexSets(node: RegexNode, { findRegex }: NeedleSearch): RequiredSet[] {
  const sets = findRegex?.(node).prefilter.textSets ?? [];
  const caseSensitive = node.caseSensitive ?? false;
  return usable(sets.map((texts) => ({ texts: texts.map((text) => ({ text, caseSensitive })) })));
}

/** Letters beyond ASCII cannot be searched for ignoring case. */
function usable(sets: readonly RequiredSet[]): RequiredSet[] {
  return sets.filter(({ texts }) =>
    texts.every(({ text, caseSensitive }) => text !== '' && (caseSensitive || isAscii(text))),
  );
}

/** One of several conditions holds, so that a text of one of their sets occurs. */
function unionSet(sets: readonly (RequiredSet | undefined)[]): RequiredSet[] {
  const texts = new Map<string, RequiredText>();
  const escapes = new Map<string, RequiredText>();
  for (const set of sets) {
    if (!set) return [];
    for (const each of set.texts) addText(texts, each);
    for (const each of set.escapes ?? []) addText(escapes, each);
  }
  if (texts.size + escapes.size > MAX_TEXTS) return [];
  return [{ texts: [...texts.values()], escapes: [...escapes.values()] }];
}

/** A text that is there already accepts what either one accepts. */
function addText(texts: Map<string, RequiredText>, added: RequiredText): void {
  const { text, caseSensitive, follows } = added;
  const key = JSON.stringify([text, caseSensitive]);
  const known = texts.get(key);
  if (!known) texts.set(key, added);
  else if (!known.follows || !follows) texts.set(key, { text, caseSensitive });
  else {
    const other = known.follows;
    texts.set(key, { text, caseSensitive, follows: (...at) => follows(...at) || other(...at) });
  }
}

function rarest(sets: readonly RequiredSet[]): RequiredSet | undefined {
  return sets.reduce<RequiredSet | undefined>(
    (best, set) => (best && rarity(best) >= rarity(set) ? best : set),
    undefined,
  );
}

function rarity({ texts, isName = false }: RequiredSet): number {
  return textsRarity(texts.map(({ text }) => text)) * (isName ? NAME_RARITY : 1);
}
