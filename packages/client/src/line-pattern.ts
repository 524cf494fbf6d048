import { LEVELS } from '@porthole/contract';
import type { LineRecognizer } from './client-options.ts';

/*
 * Records as our nodes write them, as one regular expression: it is compiled to machine code, and takes half of the time of
 * looking at every byte. What it does not match, such as text beyond ASCII or a deeper context, may still be such a record.
 */

const PLAIN = String.raw`[^"\\\x00-\x1f]`;
const STRING = String.raw`"${PLAIN}*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})${PLAIN}*)*"`;
/** Few enough digits to be exact. */
const COUNT = '(?:0|[1-9][0-9]{0,14})';
const NUMBER = String.raw`-?${COUNT}(?:\.[0-9]+)?`;
const SCALAR = `(?:${STRING}|${NUMBER}|true|false|null)`;
const FIELD = `(?:${SCALAR}|${listOf(SCALAR)})`;
const VALUE = `(?:${FIELD}|${objectOf(FIELD)})`;

const COLUMNS = [
  String.raw`\{"type":"record","file":"${PLAIN}{1,255}"`,
  `,"offset":${COUNT},"bytes":${COUNT},"cursor":"${PLAIN}{1,2048}"`,
  `(?:,"timeMs":${NUMBER})?(?:,"level":"(?:${LEVELS.join('|')})")?(?:,"source":${STRING})?(?:,"tags":${listOf(STRING)})?`,
  `,"message":${STRING}(?:,"context":${objectOf(VALUE)})?(?:,"cut":true)?(?:,"continued":true)?`,
  `(?:,"raw":${STRING})?(?:,"fields":${objectOf(FIELD)})?`,
];

/** Longer pieces are left to the scanner: every escape takes some of the stack of the expression. */
const MAX_BYTES = 256 * 1024;

const STRICT_DECODER = new TextDecoder('utf-8', { fatal: true });

const NOTHING = { bytes: 0, count: 0 };

/** Recognizes lines by a regular expression. For one response. */
export class LinePattern implements LineRecognizer {
  readonly #expression = new RegExp(String.raw`${COLUMNS.join('')}\}\n`, 'y');
  #lines: Uint8Array | undefined;
  /** Of these lines; `undefined` if it has characters beyond ASCII, or is too long. */
  #text: string | undefined;

  recognize(lines: Uint8Array, from: number, most: number): { bytes: number; count: number } {
    if (lines !== this.#lines) this.#decode(lines);
    if (this.#text === undefined) return NOTHING;
    const expression = this.#expression;
    expression.lastIndex = from;
    let end = from;
    let count = 0;
    for (; count < most && expression.test(this.#text); count++) end = expression.lastIndex;
    return { bytes: end - from, count };
  }

  #decode(lines: Uint8Array): void {
    this.#lines = lines;
    this.#text = undefined;
    if (lines.length > MAX_BYTES) return;
    try {
      const text = STRICT_DECODER.decode(lines);
      // Only then its positions are those of the bytes.
      if (text.length === lines.length) this.#text = text;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

function listOf(item: string): string {
  return String.raw`\[(?:${item}(?:,${item})*)?\]`;
}

function objectOf(value: string): string {
  return String.raw`\{(?:${STRING}:${value}(?:,${STRING}:${value})*)?\}`;
}
