import type { Ranges } from './ranges.ts';

/** Kinds of secrets that are recognised by their form. */
export const PATTERN_NAMES = ['bearer-token', 'aws-key', 'private-key', 'jwt', 'card-number'] as const;

export type PatternName = (typeof PATTERN_NAMES)[number];

/** Maximum distance between the beginning of a match and a byte masked for it: the longest key, and its first line. */
export const PATTERN_LEFT_BYTES = 8192 + 128;

/** Lookahead required to decide that a match begins. */
export const PATTERN_RIGHT_BYTES = 64;

interface Pattern {
  /** Bounded and without backtracking: linear. Its last group is masked. */
  regex: RegExp;
  isMatch?(text: string): boolean;
  /** Line ends in it are kept, so that lines remain lines. */
  hasLines?: boolean;
}

const PATTERNS: Record<PatternName, readonly Pattern[]> = {
  'bearer-token': [{ regex: /\bbearer(?:[ \t+]|%20){1,4}([\w.~+/%=-]{8,4096})/gi }],
  'aws-key': [
    { regex: /(?<![A-Za-z0-9])((?:A3T|AK|AS|AG|AI|AN|AR|AB|AC)[A-Z]{2}[A-Z0-9]{16})(?![A-Za-z0-9])/g },
    {
      regex:
        /secret[_ -]?(?:access[_ -]?)?key["'\\]{0,2}[ \t]{0,4}[=:][ \t]{0,4}["'\\]{0,2}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
    },
  ],
  'private-key': [
    {
      regex: /-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----((?:[A-Za-z0-9+/=\s\\:,.()]|-(?!-)){1,8192})/g,
      hasLines: true,
    },
  ],
  jwt: [{ regex: /(?<![\w-])(eyJ[\w.-]{17,4093})/g }],
  'card-number': [
    {
      regex: /(?<![\d.-])((?:3[47]|4\d|5[1-5]|2[2-7]|6\d)\d{1,2}(?:[ -]?\d){9,15})(?![\d-])/g,
      isMatch: (text) => isCardNumber(text.replace(/[ -]/g, '')),
    },
  ],
};

/** Adds the ranges where the patterns match. Bytes are decoded as Latin-1: the patterns are ASCII. */
export function findPatterns(names: readonly PatternName[], bytes: Buffer, found: Ranges): void {
  const text = bytes.toString('latin1');
  for (const { regex, isMatch = () => true, hasLines = false } of names.flatMap((name) => PATTERNS[name])) {
    regex.lastIndex = 0;
    for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
      const [whole, secret = ''] = match;
      if (!isMatch(secret)) continue;
      const start = match.index + whole.length - secret.length;
      if (!hasLines) found.add(start, start + secret.length);
      else
        for (const word of secret.matchAll(/[^\r\n]+/g))
          found.add(start + word.index, start + word.index + word[0].length);
    }
  }
}

/** Has the length its first digits require, and a valid check digit (Luhn). */
function isCardNumber(digits: string): boolean {
  const lengths = /^3/.test(digits) ? [15] : /^[25]/.test(digits) ? [16] : [13, 16, 17, 18, 19];
  if (!lengths.includes(digits.length)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
