import { byteRarity } from '../kernel/scan-kernel.ts';
import type { CharSet } from './char-set.ts';
import type { Syntax } from './parse.ts';

/** Searching for more, one after the other, would take longer than a pass of the automaton. */
const MAX_TEXTS = 8;

/** Longer ones are not rarer. */
const MAX_LENGTH = 64;

/** They are tried in order. */
const MAX_SETS = 3;

/** The information of a byte in bits, more for rare ones; roughly, from a count. */
const LEAST_BITS = 4;
const RARITY_PER_BIT = 12;

/** Texts of which at least one is required. */
export type TextSet = readonly string[];

/** What is known of a part of a pattern. */
interface Known {
  /** All texts it can match, if they are few. */
  exact?: TextSet | undefined;
  /** Sets of texts, rarest first; everything it matches contains one of each set. */
  required?: readonly TextSet[] | undefined;
}

/**
 * Sets of a few ASCII texts; everything the pattern matches contains at least one text of each set. Empty if there are
 * none. The presumably rarest comes first. Unless `caseSensitive` they are in lower case and must be searched for in
 * either case.
 */
export function requiredTexts(syntax: Syntax, { caseSensitive = false } = {}): readonly TextSet[] {
  return requiredSets(known(syntax, caseSensitive));
}

/** Roughly how rare the most frequent of them is in logs, in bits; each further text costs a pass. */
export function textsRarity(texts: TextSet): number {
  return Math.min(...texts.map(bits)) - Math.log2(texts.length) * 2;
}

function known(syntax: Syntax, exactly: boolean): Known {
  switch (syntax.kind) {
    case 'assertion':
      return { exact: [''] };
    case 'set':
      return { exact: charTexts(syntax.set, exactly) };
    case 'sequence':
      return sequence(syntax.parts.map((part) => known(part, exactly)));
    case 'choice':
      return choice(syntax.choices.map((part) => known(part, exactly)));
    case 'repeat':
      return repeat(known(syntax.of, exactly), syntax);
  }
}

function charTexts({ may, beyondAscii }: CharSet, exactly: boolean): string[] | undefined {
  if (beyondAscii) return undefined;
  const letters = new Set<string>();
  may.forEach((bit, code) => {
    const letter = String.fromCharCode(code);
    if (bit === 1) letters.add(exactly ? letter : letter.toLowerCase());
  });
  return letters.size <= MAX_TEXTS ? [...letters] : undefined;
}

function sequence(parts: readonly Known[]): Known {
  const sets: TextSet[] = [];
  let run: TextSet = [''];
  let isWhole = true;
  for (const part of parts) {
    const longer = part.exact && joined(run, part.exact);
    if (longer) {
      run = longer;
      continue;
    }
    isWhole = false;
    sets.push(...requiredSets({ exact: run }), ...(part.required ?? []));
    // What could not be concatenated may begin a new run.
    run = part.exact ?? [''];
  }
  if (isWhole) return { exact: run };
  sets.push(...requiredSets({ exact: run }));
  return { required: sets.sort((a, b) => textsRarity(b) - textsRarity(a)).slice(0, MAX_SETS) };
}

function joined(heads: readonly string[], tails: readonly string[]): string[] | undefined {
  if (heads.length * tails.length > MAX_TEXTS) return undefined;
  const texts = heads.flatMap((head) => tails.map((tail) => head + tail));
  return texts.every(({ length }) => length <= MAX_LENGTH) ? [...new Set(texts)] : undefined;
}

function choice(choices: readonly Known[]): Known {
  const exact = union(choices.map((known) => known.exact));
  if (exact) return { exact };
  const required = union(choices.map((known) => requiredSets(known)[0]));
  return { required: required ? [required] : [] };
}

function union(sets: readonly (TextSet | undefined)[]): TextSet | undefined {
  const all = new Set<string>();
  for (const texts of sets) {
    if (!texts) return undefined;
    for (const text of texts) all.add(text);
  }
  return all.size <= MAX_TEXTS ? [...all] : undefined;
}

function repeat(of: Known, { min, max }: { min: number; max: number }): Known {
  if (max === 0) return { exact: [''] };
  if (min === 0) return max === 1 && of.exact ? choice([{ exact: [''] }, of]) : {};
  const once: Known = { required: requiredSets(of) };
  if (min !== max || !of.exact || min > MAX_LENGTH) return once;
  const whole = sequence(Array.from({ length: min }, () => of));
  return whole.exact ? whole : once;
}

/** A set with an empty text requires nothing. */
function requiredSets({ exact, required = [] }: Known): readonly TextSet[] {
  return exact && exact.length > 0 && exact.every((text) => text !== '') ? [exact] : required;
}

function bits(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => sum + LEAST_BITS + byteRarity(byte) / RARITY_PER_BIT, 0);
}
