import type { CharSet } from './char-set.ts';
import type { Nfa } from './nfa.ts';

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
