import { OTHER, WORD_KINDS } from './typed-word.ts';

/** The words between white space, and for each which kinds of characters it has. */
export function splitWords(line: string): { words: string[]; kinds: number[] } {
  const words: string[] = [];
  const kinds: number[] = [];
  let start = -1;
  let kind = 0;
  for (let at = 0; at <= line.length; at++) {
    const code = at < line.length ? line.charCodeAt(at) : 32;
    if (code > 32) {
      if (start < 0) {
        start = at;
        kind = 0;
      }
      kind |= WORD_KINDS[code] ?? OTHER;
    } else if (start >= 0) {
      words.push(line.slice(start, at));
      kinds.push(kind);
      start = -1;
    }
  }
  return { words, kinds };
}
