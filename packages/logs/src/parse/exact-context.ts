import { parseJson } from '@porthole/records';

/**
 * The fields of a structured record: as an object, and as the original text if the object would not serialize to it.
 */
export interface ExactContext {
  context: Record<string, unknown>;
  contextText?: string;
}

/** A member of a JSON object, its value as written. */
export interface JsonMember {
  key: string;
  /** `"key":value`, as written. */
  text: string;
  valueText: string;
}

/**
 * Text nested deeper is not parsed as JSON but shown as is: `JSON.parse` has no limit, `JSON.stringify` and the parsers
 * of other languages have, and a record must not break any of them.
 */
const MAX_DEPTH = 200;

const QUOTE = 34;
const BACKSLASH = 92;

/** Parses a JSON object; `undefined` if the text is something else, or nested too deeply. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  if (isTooDeep(text)) return undefined;
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Parses a JSON object, with its text if numbers, duplicate keys or the order of keys would be lost. */
export function readContext(text: string): ExactContext | undefined {
  const context = parseJsonObject(text);
  if (!context) return undefined;
  return isRestorable(text, context) ? { context } : { context, contextText: text };
}

/** Fields that were not JSON in the log. An object keeps neither duplicate keys nor the order of numeric ones. */
export function contextFromEntries(entries: readonly (readonly [string, unknown])[]): ExactContext {
  const context: Record<string, unknown> = Object.fromEntries(entries);
  const names = Object.keys(context);
  const isSame = names.length === entries.length && entries.every(([name], index) => name === names[index]);
  if (isSame) return { context };
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return { context, contextText: `{${members.join(',')}}` };
}

/** A number if it serializes to the same text; otherwise the text itself. */
export function exactNumber(text: string): number | string {
  const value = Number(text);
  return String(value) === text ? value : text;
}

/**
 * Whether the value serializes to the tokens it was parsed from. White space and the way characters are escaped do not
 * matter. Most loggers write what `JSON.stringify` does, so comparing two strings is usually enough.
 */
export function isRestorable(text: string, value: unknown): boolean {
  const written = JSON.stringify(value);
  return written === text || hasSameTokens(text, written);
}

function hasSameTokens(text: string, written: string): boolean {
  let at = 0;
  let writtenAt = 0;
  for (;;) {
    at = skipSpace(text, at);
    if (at >= text.length || writtenAt >= written.length) return at >= text.length && writtenAt >= written.length;
    if (text.charCodeAt(at) !== written.charCodeAt(writtenAt)) return false;
    if (text.charCodeAt(at) !== QUOTE) {
      at++;
      writtenAt++;
      continue;
    }
    const [end, writtenEnd] = [stringEnd(text, at), stringEnd(written, writtenAt)];
    const [one, other] = [text.slice(at, end), written.slice(writtenAt, writtenEnd)];
    if (one !== other && JSON.parse(one) !== JSON.parse(other)) return false;
    at = end;
    writtenAt = writtenEnd;
  }
}

/** The members of an object in the order of the text, duplicates included. The text must be valid JSON. */
export function splitMembers(text: string): JsonMember[] {
  const members: JsonMember[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    const valueAt = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = findValueEnd(text, valueAt);
    const valueText = text.slice(valueAt, valueEnd);
    members.push({
      key: JSON.parse(text.slice(at, keyEnd)) as string,
      text: text.slice(at, valueEnd),
      valueText,
    });
    at = skipSpace(text, skipSpace(text, valueEnd) + 1);
  }
  return members;
}

function findValueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (isOpening(code)) depth++;
    else if (isClosing(code)) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === 44 || isSpace(code))) return at;
    at++;
  }
  return text.length;
}

/** The position after the closing quote of the string at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

function isTooDeep(text: string): boolean {
  if (text.length < 2 * MAX_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (isOpening(code) && ++depth > MAX_DEPTH) return true;
    else if (isClosing(code)) depth--;
  }
  return false;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

function isOpening(code: number): boolean {
  return code === 123 || code === 91;
}

function isClosing(code: number): boolean {
  return code === 125 || code === 93;
}
