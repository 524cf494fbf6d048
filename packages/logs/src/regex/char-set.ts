import type { Nfa } from './nfa.ts';

/**
 * Characters that a position in a pattern can match, as far as bytes can show: which of ASCII, and whether any beyond
 * it. Never fewer than it really matches.
 */
export interface CharSet {
  /** By code: 1 if it may match. */
  may: Uint8Array;
  /** By code: 1 if it certainly matches. Everything else remains possible when the set is negated. */
  sure: Uint8Array;
  beyondAscii: boolean;
}

/** ASCII letters that equal one beyond ASCII when case is ignored: the kelvin sign and the long s. */
const BEYOND_EQUALS: Record<string, number> = { k: 0x212a, s: 0x17f };

const ASCII = 128;
const CASE_BIT = 0x20;

/** Each as pairs of first and last; the bare name is the one in `[:name:]`. */
const NAMED: Record<string, string> = {
  alnum: '09AZaz',
  alpha: 'AZaz',
  ascii: '\0\x7f',
  blank: '\t\t  ',
  cntrl: '\0\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '\t\r  ',
  upper: 'AZ',
  word: '09AZaz__',
  xdigit: '09AFaf',
};

export function emptySet(): CharSet {
  return { may: new Uint8Array(ASCII), sure: new Uint8Array(ASCII), beyondAscii: false };
}

/** Every character; `newlines: false` for a dot. */
export function anyCharacter({ newlines }: { newlines: boolean }): CharSet {
  const set = negated(emptySet());
  if (!newlines) set.may[10] = set.sure[10] = 0;
  return set;
}

/** Adds `[first, last]`, and what equals it when case is ignored. */
export function addRange(set: CharSet, [first, last]: readonly [number, number], { fold }: { fold: boolean }): void {
  for (let code = first; code <= last && code < ASCII; code++) {
    set.may[code] = set.sure[code] = 1;
    if (!fold || !isLetter(code)) continue;
    set.may[code ^ CASE_BIT] = set.sure[code ^ CASE_BIT] = 1;
    if (BEYOND_EQUALS[String.fromCharCode(code | CASE_BIT)] !== undefined) set.beyondAscii = true;
  }
  if (last < ASCII) return;
  set.beyondAscii = true;
  for (const [letter, equal] of fold ? Object.entries(BEYOND_EQUALS) : []) {
    if (equal < first || equal > last) continue;
    set.may[letter.charCodeAt(0)] = set.may[letter.charCodeAt(0) ^ CASE_BIT] = 1;
  }
}

export function addAll(set: CharSet, added: CharSet): void {
  for (let code = 0; code < ASCII; code++) {
    if (added.may[code] === 1) set.may[code] = 1;
    if (added.sure[code] === 1) set.sure[code] = 1;
  }
  if (added.beyondAscii) set.beyondAscii = true;
}

export function negated({ may, sure }: CharSet): CharSet {
  return { may: sure.map((bit) => 1 - bit), sure: may.map((bit) => 1 - bit), beyondAscii: true };
}

/** The set of `[:name:]`; `undefined` if there is no such name. */
export function namedSet(name: string, options: { fold: boolean }): CharSet | undefined {
  const pairs = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  if (pairs === undefined) return undefined;
  const set = emptySet();
  for (let at = 0; at < pairs.length; at += 2) {
    addRange(set, [pairs.charCodeAt(at), pairs.charCodeAt(at + 1)], options);
  }
  return set;
}

/** The set of `\d`, `\w`, `\s` and their negations. */
export function escapedSet(letter: string, options: { fold: boolean }): CharSet | undefined {
  const name = { d: 'digit', w: 'word', s: 'space' }[letter.toLowerCase()];
  const set = name === undefined ? undefined : namedSet(name, options);
  // `\s` does not include the vertical tab.
  if (set && name === 'space') set.sure[11] = 0;
  return set && letter < 'a' ? negated(set) : set;
}

function isLetter(code: number): boolean {
  const lower = code | CASE_BIT;
  return lower >= 97 && lower <= 122;
}

/** Bytes that no state of the pattern distinguishes share a class. */
export interface ByteClasses {
  /** By byte. */
  classByByte: Uint16Array;
  /** A byte of each class. */
  samples: number[];
}

export function byteClasses({ nodes }: Nfa): ByteClasses {
  const sets = new Set<CharSet>();
  for (const node of nodes) if (node.kind === 'set') sets.add(node.set);
  const tests = [isNewline, isContinuation, (byte: number) => byte >= 0x80];
  if (nodes.some((node) => node.kind === 'assertion' && node.assertion !== 'line-start')) tests.push(isWord);
  for (const set of sets) tests.push((byte) => holds(set, byte));
  const classByByte = new Uint16Array(256);
  let count = 1;
  for (const test of tests) {
    // If a class has bytes of both kinds, those of the second kind become a new class.
    const split = new Map<string, number>();
    const first = new Set<number>();
    classByByte.forEach((known, byte) => {
      const key = `${known}:${test(byte)}`;
      if (!split.has(key)) split.set(key, first.has(known) ? count++ : known);
      first.add(known);
      classByByte[byte] = split.get(key) ?? 0;
    });
  }
  const samples: number[] = [];
  classByByte.forEach((known, byte) => {
    samples[known] ??= byte;
  });
  return { classByByte, samples };
}

/** Any byte beyond ASCII may begin a character of the set, including malformed ones. */
export function holds({ may, beyondAscii }: CharSet, byte: number): boolean {
  return byte < 0x80 ? may[byte] === 1 : beyondAscii;
}

export function isNewline(byte: number): boolean {
  return byte === 10;
}

/** A byte that may belong to the character before it. */
export function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

export function isWord(byte: number): boolean {
  return byte < 0x80 && /\w/.test(String.fromCharCode(byte));
}
