import { PortholeError } from '@porthole/contract';
import type { TomlValue } from 'smol-toml';
import { joinRanges, MASK, type MaskRange, maskRanges } from './secrets/mask-ranges.ts';
import { findTomlSecrets, type LeafMask, type TomlSecrets } from './secrets/toml-secrets.ts';
import type { TomlLeaf } from './secrets/toml-statements.ts';
import { openingQuotes, parseValues, readTomlString } from './toml/parse-toml.ts';

export interface RedactOptions {
  /** Patterns of further secret keys, see `isSecretKey`. */
  secretKeys?: readonly string[];
}

/** A part of the text and its replacement. */
interface Edit extends MaskRange {
  replacement: string;
}

/** More passes than any test needed; each pass only masks more, so stopping early is safe. */
const MAX_PASSES = 5;

/**
 * The TOML text with every secret masked: values of secret keys, credentials within other values, commented-out
 * secrets, and copies of all of these in comments and other values. All else stays byte for byte, except that a byte
 * order mark is dropped, because not every parser takes it. Empty values stay empty, arrays keep their length, and a
 * secret number or date becomes a string. Keys are never masked, even if a secret stands in one.
 *
 * Throws `TomlError` when the text is not valid TOML, and `PortholeError` rather than give away a secret.
 */
export function redactToml(text: string, options: RedactOptions = {}): string {
  const { secretKeys = [] } = options;
  let redacted = redactOnce(text, secretKeys);
  // A mask may remove characters that delimited another secret: repeat until nothing changes.
  for (let passes = 1; passes < MAX_PASSES; passes++) {
    const again = redactOnce(redacted, secretKeys);
    if (again === redacted) break;
    redacted = again;
  }
  return redacted;
}

function redactOnce(text: string, secretKeys: readonly string[]): string {
  const secrets = findTomlSecrets(text, secretKeys);
  const source = secrets.document.text;
  const redacted = applyEdits(source, [...leafEdits(source, secrets), ...commentEdits(secrets)]);
  checkRedacted(secrets, redacted);
  return redacted;
}

function leafEdits(source: string, secrets: TomlSecrets): Edit[] {
  const edits: Edit[] = [];
  for (const leaf of secrets.leaves) {
    const mask = secrets.leafMask(leaf);
    if (mask === 'none') continue;
    const [start, end] = leaf.node.range;
    const replacement = maskLeaf(source.slice(start, end), leaf, mask);
    edits.push({ start, end, replacement });
  }
  return edits;
}

function maskLeaf(raw: string, { node }: TomlLeaf, mask: Exclude<LeafMask, 'none'>): string {
  if (node.kind !== 'string') return `"${MASK}"`;
  const quotes = openingQuotes(raw);
  if (mask === 'whole') return quotes + MASK + quotes;
  const { value, positions } = readTomlString(raw);
  // The ranges count in the parser's value; if we read the string differently they would hit the wrong place.
  if (value !== node.value) return quotes + MASK + quotes;
  const at = (index: number) => positions[index] ?? raw.length - quotes.length;
  return maskRanges(
    raw,
    joinRanges(mask).map(({ start, end }) => ({ start: at(start), end: at(end) })),
  );
}

function commentEdits(secrets: TomlSecrets): Edit[] {
  return secrets.comments.flatMap((comment) => {
    const { start, text } = comment;
    const ranges = secrets.commentMask(comment);
    if (ranges.length === 0) return [];
    const replacement = maskRanges(text, ranges);
    return [{ start, end: start + text.length, replacement }];
  });
}

function applyEdits(text: string, edits: Edit[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, replacement } of edits.sort((a, b) => a.start - b.start)) {
    parts.push(text.slice(from, start), replacement);
    from = end;
  }
  return parts.join('') + text.slice(from);
}

/** The last check: a text that is not valid TOML, or still contains a secret, is never returned. */
function checkRedacted(secrets: TomlSecrets, redacted: string): void {
  const values = parseValues(redacted);
  const isSafe = (before: TomlValue | undefined, after: TomlValue): boolean => {
    if (typeof after === 'string') return secrets.values.findInValue(after).length === 0;
    if (!isNested(after)) return !isNested(before);
    if (!isNested(before)) return false;
    const keys = Object.keys(after);
    const original: Record<string, TomlValue> = Object.assign(Object.create(null), before);
    return (
      keys.length === Object.keys(before).length &&
      Object.entries(after).every(([key, value]) => isSafe(original[key], value))
    );
  };
  if (isSafe(secrets.document.values, values)) return;
  throw new PortholeError('CONFIG_UNAVAILABLE', 'the configuration cannot be shown without revealing a secret in it');
}

function isNested(value: TomlValue | undefined): value is Record<string, TomlValue> | TomlValue[] {
  return typeof value === 'object' && !(value instanceof Date);
}
