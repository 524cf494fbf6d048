/**
 * Characters that could end a line or column, control a terminal or reorder text: C0, DEL, C1, line and paragraph
 * separators, bidirectional controls. Also lone surrogates, which have no UTF-8 form.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, 'gu');

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/** Maximum bytes of one escaped code unit: `\u001b`. */
const MAX_ENCODED_BYTES = 6;

/** Text that stays within one column of one line. Backslashes are not escaped, so paths and patterns remain readable. */
export function escapeText(text: string): string {
  return UNSAFE.test(text) ? text.replace(EVERY_UNSAFE, escapeChar) : text;
}

/** Text between square brackets, which it cannot close. */
export function escapeLabel(text: string): string {
  const safe = escapeText(text);
  return safe.includes('[') || safe.includes(']') ? safe.replace(/[[\]]/g, escapeChar) : safe;
}

/** A JSON string that is also safe as part of a column: JSON itself escapes only C0 and lone surrogates. */
export function quoteJson(text: string): string {
  return escapeText(JSON.stringify(text));
}

/** The encoded text, cut to `maxBytes` of UTF-8, with the number of omitted characters at its end. */
export function encodeWithin(text: string, maxBytes: number, encode: (text: string) => string): string {
  if (text.length <= maxBytes) {
    const whole = encode(text);
    if (whole.length * MAX_UTF8_BYTES <= maxBytes || Buffer.byteLength(whole) <= maxBytes) return whole;
  }
  let keep = Math.min(text.length, Math.max(0, maxBytes));
  for (;;) {
    if (isHighSurrogate(text.charCodeAt(keep - 1))) keep -= 1;
    const encoded = encode(`${text.slice(0, keep)}…(+${text.length - keep} chars)`);
    const bytes = Buffer.byteLength(encoded);
    if (bytes <= maxBytes || keep <= 0) return encoded;
    const shrunk = Math.floor((keep * maxBytes) / bytes);
    keep = Math.max(0, Math.min(shrunk, keep - Math.ceil((bytes - maxBytes) / MAX_ENCODED_BYTES)));
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function escapeChar(char: string): string {
  return SHORT_ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
