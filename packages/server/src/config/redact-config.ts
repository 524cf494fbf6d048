import { PortholeError } from '@porthole/contract';
import {
  type ConfigDocument,
  type ConfigLeaf,
  type ConfigTree,
  FormatError,
  listSettings,
  type TextRange,
} from './formats/config-document.ts';
import { TOML } from './formats/read-toml.ts';
import { type ConfigSecrets, findSecrets, toSource } from './secrets/config-secrets.ts';
import { joinRanges, MASK, maskRanges } from './secrets/mask-ranges.ts';

export interface RedactOptions {
  /** Patterns of further secret keys, see `isSecretKey`. */
  secretKeys?: readonly string[];
}

/** A part of the text and its replacement. */
interface Edit extends TextRange {
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
export function redactToml(text: string, { secretKeys = [] }: RedactOptions = {}): string {
  return redactDocuments([TOML.read(text)], secretKeys)[0] ?? '';
}

/** The texts of a configuration, masked in the same way, whatever their formats. */
export function redactDocuments(
  documents: readonly ConfigDocument[],
  secretKeys: readonly string[],
  found: ConfigSecrets = findSecrets(documents, secretKeys),
): string[] {
  let current = documents;
  // A mask may remove characters that delimited another secret: repeat until nothing changes.
  for (let passes = 0; passes < MAX_PASSES; passes++) {
    const secrets = current === documents ? found : findSecrets(current, secretKeys);
    const redacted = current.map((document) => redactOnce(document, secrets));
    const next = current.map((document, index) => {
      const text = redacted[index] ?? '';
      return text === document.text ? document : readAgain(document, text);
    });
    if (next.every((document, index) => document === current[index])) break;
    for (const [index, document] of next.entries()) checkRedacted(current[index] ?? document, document, secrets);
    current = next;
  }
  return current.map(({ text }) => text);
}

function readAgain({ language }: ConfigDocument, redacted: string): ConfigDocument {
  try {
    return language.read(redacted);
  } catch (error) {
    if (error instanceof FormatError) throw cannotShow();
    throw error;
  }
}

function redactOnce(document: ConfigDocument, secrets: ConfigSecrets): string {
  const leaves = document.statements.flatMap((statement) => statement.leaves);
  const edits = leaves.flatMap((leaf): Edit[] => {
    const mask = secrets.leafMask(leaf, document);
    // An alias is written elsewhere.
    if (mask === 'none' || leaf.original) return [];
    return [{ start: leaf.start, end: leaf.end, replacement: maskLeaf(document, leaf, mask) }];
  });
  for (const { comment, ranges } of secrets.commentMasks(document)) {
    const { start, text } = comment;
    edits.push({ start, end: start + text.length, replacement: maskRanges(text, ranges) });
  }
  return applyEdits(document.text, edits);
}

function maskLeaf({ text, language }: ConfigDocument, leaf: ConfigLeaf, mask: 'whole' | TextRange[]): string {
  const whole = leaf.isQuoted ? MASK : language.plainMask;
  const ranges = mask === 'whole' ? undefined : toSource(leaf, joinRanges(mask));
  if (ranges === undefined) return whole;
  const masked = maskRanges(
    text.slice(leaf.start, leaf.end),
    ranges.map(({ start, end }) => ({ start: start - leaf.start, end: end - leaf.start })),
  );
  // Where a whole mask needs quotes, a text must not begin with one.
  return !leaf.isQuoted && whole !== MASK && masked.startsWith(MASK) ? whole : masked;
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

/** The last check: a text that has become another configuration, or still contains a secret, is never returned. */
function checkRedacted(before: ConfigDocument, after: ConfigDocument, { values }: ConfigSecrets): void {
  const leaves = after.statements.flatMap((statement) => statement.leaves);
  const isOpen = leaves.some(({ text }) => text !== undefined && values.findInValue(text).length > 0);
  if (!isOpen && describeShape(before) === describeShape(after)) return;
  throw cannotShow();
}

function cannotShow(): PortholeError {
  const message = 'the configuration cannot be shown without revealing a secret in it';
  return new PortholeError('CONFIG_UNAVAILABLE', message);
}

/** The keys, and the lengths of lists. */
function describeShape({ tables }: ConfigDocument): string {
  const shape = (node: ConfigTree<ConfigLeaf>): string =>
    node.kind === 'list' ? `[${node.items.map(shape).join()}]` : node.kind;
  return [...listSettings(tables)].map(([key, node]) => `${key} ${shape(node)}`).join('\n');
}
