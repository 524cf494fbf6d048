import { type LocatedComment, locateComments } from '../toml/locate-comments.ts';
import { type ParsedToml, parseToml } from '../toml/parse-toml.ts';
import { listStatements, type TomlLeaf } from '../toml/toml-statements.ts';
import { openingQuotes } from '../toml/toml-string.ts';
import { findCommentSecrets, mentionsSecret } from './find-comment-secrets.ts';
import { findCredentials } from './find-credentials.ts';
import type { Credential, MaskRange } from './mask-ranges.ts';
import { isSecretKey } from './secret-keys.ts';
import { SecretValues } from './secret-values.ts';

/** What to mask of a value: nothing, all of it, or parts of its string. */
export type LeafMask = 'none' | 'whole' | MaskRange[];

export interface TomlSecrets {
  document: ParsedToml;
  leaves: readonly TomlLeaf[];
  comments: readonly LocatedComment[];
  /** All secret values found, for the check that none is left. */
  values: SecretValues;
  leafMask(leaf: TomlLeaf): LeafMask;
  commentMask(comment: LocatedComment): MaskRange[];
}

/**
 * Everything secret in a TOML text. All secrets are collected before anything is masked, because a comment at the top
 * can repeat a value that follows at the end.
 */
export function findTomlSecrets(source: string, secretKeys: readonly string[]): TomlSecrets {
  const document = parseToml(source);
  const statements = listStatements(document.ast, secretKeys);
  const leaves = statements.flatMap((statement) => statement.leaves);
  const values = new SecretValues();
  const credentials = collectFromLeaves(document.text, leaves, { secretKeys, values });
  const comments = locateComments(document.ast, statements);
  const found = findCommentSecrets(comments, secretKeys, values);
  const inComments = new Map(comments.map((comment, index) => [comment, found[index] ?? []]));
  return {
    document,
    leaves,
    comments,
    values,
    leafMask: (leaf) => computeLeafMask(document.text, leaf, { credentials: credentials.get(leaf) ?? [], values }),
    commentMask: (comment) => {
      let suspect: boolean | undefined;
      const isSuspect = () => (suspect ??= comment.besideSecret || mentionsSecret(comment.text));
      return [...(inComments.get(comment) ?? []), ...values.findInComment(comment.text, isSuspect)];
    },
  };
}

function collectFromLeaves(
  text: string,
  leaves: readonly TomlLeaf[],
  { secretKeys, values }: { secretKeys: readonly string[]; values: SecretValues },
): Map<TomlLeaf, Credential[]> {
  const credentials = new Map<TomlLeaf, Credential[]>();
  const isSecretName = (name: string) => isSecretKey([name], secretKeys);
  const parts = (leaf: TomlLeaf) => leaf.parts.map((part) => ({ ...part, certain: true }));
  for (const leaf of leaves) {
    const raw = text.slice(...leaf.node.range);
    if (leaf.node.kind !== 'string') {
      if (leaf.secret) values.add(plainNumber(raw), raw);
      continue;
    }
    const { value } = leaf.node;
    if (leaf.secret) {
      const { length } = openingQuotes(raw);
      values.add(value, raw.slice(length, raw.length - length));
    }
    const found = leaf.secret
      ? findCredentials(value, { path: [], secretKeys, isSecretName })
      : [...parts(leaf), ...findCredentials(value, { path: leaf.path, secretKeys, isSecretName })];
    if (found.length > 0) credentials.set(leaf, found);
    for (const { start, end, certain } of found) if (certain) addCredential(values, value.slice(start, end));
  }
  return credentials;
}

/** As it is written elsewhere: `1_000` is 1000. */
function plainNumber(raw: string): string {
  return /^[+-]?\d[\d_]*$/.test(raw) ? raw.replace(/[+_]/g, '') : raw;
}

/** Passwords are percent-encoded in URLs, but not elsewhere. */
function addCredential(values: SecretValues, credential: string): void {
  values.add(credential);
  if (!credential.includes('%')) return;
  try {
    values.add(decodeURIComponent(credential));
  } catch (error) {
    // Not percent-encoded after all: the text itself is the password.
    if (!(error instanceof URIError)) throw error;
  }
}

function computeLeafMask(
  text: string,
  leaf: TomlLeaf,
  { credentials, values }: { credentials: Credential[]; values: SecretValues },
): LeafMask {
  const { node } = leaf;
  if (node.kind === 'string') {
    if (leaf.secret) return node.value === '' ? 'none' : 'whole';
    const ranges = [...credentials, ...values.findInValue(node.value)];
    return ranges.length > 0 ? ranges : 'none';
  }
  // A number that is one of the secrets is a copy; one that merely holds it is not.
  return leaf.secret || (node.kind !== 'boolean' && values.has(text.slice(...node.range))) ? 'whole' : 'none';
}
