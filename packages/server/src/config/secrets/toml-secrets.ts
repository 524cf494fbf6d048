import { openingQuotes, type ParsedToml, parseLoosely, parseToml, readTomlString } from '../toml/parse-toml.ts';
import {
  type LocatedComment,
  locateComments,
  readCommentedToml,
  readCommentedValue,
  readContinuation,
} from './commented-toml.ts';
import { findCredentials } from './find-credentials.ts';
import type { Credential, MaskRange } from './mask-ranges.ts';
import { isSecretKey } from './secret-keys.ts';
import { SecretValues } from './secret-values.ts';
import { listStatements, type TomlLeaf } from './toml-statements.ts';

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

/** Beside a secret key these words announce a value of it: LinDB repeats the running value after "Default:". */
const VALUE_WORDS = /^(?:default|defaults|example|current|previous|old|was|value)$/i;

/** A commented-out value that continues in the next comment. */
interface OpenValue {
  closer: string;
  nextLine: number;
}

/**
 * Secrets that comments give away by themselves: commented-out assignments of secret keys, also under a secret table
 * or a commented-out header of one; values announced beside a secret key; credentials as in any text. What is a
 * secret for sure is added to `secrets`.
 */
function findCommentSecrets(
  comments: readonly LocatedComment[],
  secretKeys: readonly string[],
  secrets: SecretValues,
): MaskRange[][] {
  const scan = new CommentScan(secretKeys, secrets);
  const inToml = findCommentedTomlSecrets(comments, secretKeys);
  return comments.map((comment) => [...scan.next(comment), ...(inToml.get(comment) ?? [])]);
}

/** Whether a word of a comment names a secret. */
function mentionsSecret(text: string): boolean {
  for (const word of text.matchAll(/[\w.-]+/g)) if (isSecretKey([word[0]], [])) return true;
  return false;
}

class CommentScan {
  readonly #secretKeys: readonly string[];
  readonly #secrets: SecretValues;
  #open: OpenValue | undefined;
  #header: { path: string[]; statementIndex: number } | undefined;

  constructor(secretKeys: readonly string[], secrets: SecretValues) {
    this.#secretKeys = secretKeys;
    this.#secrets = secrets;
  }

  next(comment: LocatedComment): MaskRange[] {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && comment.ownLine && comment.line === open.nextLine) return this.#continue(comment, open);
    const toml = readCommentedToml(comment.text);
    if (toml?.kind === 'header') this.#header = { path: toml.path, statementIndex: comment.statementIndex };
    const credentials = this.#findCredentials(comment);
    if (toml?.kind !== 'assignment') return credentials;
    if (!this.#isSecret(toml.path, comment)) return credentials;
    // The range of an assignment is more exact: it handles brackets and values of several words.
    return [
      ...this.#findAssigned(comment, toml.valueStart),
      ...credentials.filter((credential) => credential.start !== toml.valueStart),
    ];
  }

  #continue(comment: LocatedComment, open: OpenValue): MaskRange[] {
    const { secret, ends } = readContinuation(comment.text, open.closer);
    if (!ends) this.#open = { ...open, nextLine: comment.line + 1 };
    return secret === undefined ? [] : [secret];
  }

  #findAssigned(comment: LocatedComment, valueStart: number): MaskRange[] {
    const { secret, closer } = readCommentedValue(comment.text, valueStart);
    if (closer !== undefined) this.#open = { closer, nextLine: comment.line + 1 };
    if (secret === undefined) return [];
    const isQuoted = /["']/.test(comment.text[secret.start - 1] ?? '');
    if (isQuoted) this.#secrets.add(comment.text.slice(secret.start, secret.end));
    return [secret];
  }

  /** Under the commented-out header above it, or in the table it really stands in: secret in either is secret. */
  #isSecret(path: string[], comment: LocatedComment): boolean {
    const header = this.#header?.statementIndex === comment.statementIndex ? this.#header.path : [];
    return (
      isSecretKey([...header, ...path], this.#secretKeys) || isSecretKey([...comment.table, ...path], this.#secretKeys)
    );
  }

  #findCredentials(comment: LocatedComment): MaskRange[] {
    const { text, besideSecret, line } = comment;
    const isSecretName = (name: string) =>
      isSecretKey([name], this.#secretKeys) || (besideSecret && VALUE_WORDS.test(name));
    if (/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(text) && !text.includes('-----END')) {
      this.#open = { closer: '-----END', nextLine: line + 1 };
    }
    return findCredentials(text, { path: comment.table, secretKeys: this.#secretKeys, isSecretName, isComment: true });
  }
}

/** Consecutive comment lines, without their comment characters. */
interface Run {
  /** For each line: its comment, and the offset within it. */
  lines: { index: number; by: number; text: string }[];
  table: readonly string[];
}

const STATEMENT = /^\s*(?:\[|(?:[\w-]+|"[^"]*"|'[^']*')[\w."' \t-]*=)/;

/**
 * Secrets of configuration that is commented out, found as if it were not: whole tables, lists of arguments, names and
 * their values. Of a run of comments that is not TOML as a whole, the lines that look like it are read; at last each line.
 */
function findCommentedTomlSecrets(
  comments: readonly LocatedComment[],
  secretKeys: readonly string[],
): Map<LocatedComment, MaskRange[]> {
  const found = new Map<LocatedComment, MaskRange[]>();
  for (const run of groupRuns(comments)) {
    if (!run.lines.some(({ text }) => STATEMENT.test(text))) continue;
    for (const { index, range } of findRunSecrets(run, secretKeys)) {
      const comment = comments[index];
      if (comment) found.set(comment, [...(found.get(comment) ?? []), range]);
    }
  }
  return found;
}

function groupRuns(comments: readonly LocatedComment[]): Run[] {
  const runs: Run[] = [];
  let previous: LocatedComment | undefined;
  for (const [index, comment] of comments.entries()) {
    const by = /^[#!]*[ \t]?/.exec(comment.text)?.[0].length ?? 0;
    const line = { index, by, text: comment.text.slice(by).replace(/\r$/, '') };
    const continues =
      previous?.ownLine &&
      comment.ownLine &&
      comment.line === previous.line + 1 &&
      comment.statementIndex === previous.statementIndex;
    if (continues) runs.at(-1)?.lines.push(line);
    else runs.push({ lines: [line], table: comment.table });
    previous = comment;
  }
  return runs;
}

interface Found {
  index: number;
  range: MaskRange;
}

function findRunSecrets(run: Run, secretKeys: readonly string[]): Found[] {
  const isStatement = ({ text }: { text: string }) => STATEMENT.test(text);
  return (
    readAsToml(run, secretKeys) ??
    readAsToml({ ...run, lines: run.lines.filter(isStatement) }, secretKeys) ??
    run.lines.filter(isStatement).flatMap((line) => readAsToml({ ...run, lines: [line] }, secretKeys) ?? [])
  );
}

function readAsToml({ lines, table }: Run, secretKeys: readonly string[]): Found[] | undefined {
  const text = lines.map((line) => line.text).join('\n');
  const ast = parseLoosely(text);
  if (!ast) return undefined;
  const leaves = listStatements(ast, secretKeys, table).flatMap((statement) => statement.leaves);
  const ranges = leaves.flatMap((leaf) => rangesIn(leaf, { text, secretKeys }));
  return splitByLine(ranges, lines);
}

/** The secret parts of a value, with positions in the text. */
function rangesIn(leaf: TomlLeaf, { text, secretKeys }: { text: string; secretKeys: readonly string[] }): MaskRange[] {
  const [start, end] = leaf.node.range;
  if (leaf.node.kind !== 'string') return leaf.secret ? [{ start, end }] : [];
  const raw = text.slice(start, end);
  const quotes = openingQuotes(raw).length;
  const whole = { start: start + quotes, end: end - quotes };
  if (leaf.secret) return [whole];
  const isSecretName = (name: string) => isSecretKey([name], secretKeys);
  const parts = [...leaf.parts, ...findCredentials(leaf.node.value, { path: leaf.path, secretKeys, isSecretName })];
  if (parts.length === 0) return [];
  const { value, positions } = readTomlString(raw);
  if (value !== leaf.node.value) return [whole];
  return parts.map((part) => ({
    start: start + (positions[part.start] ?? quotes),
    end: start + (positions[part.end] ?? raw.length - quotes),
  }));
}

function splitByLine(ranges: readonly MaskRange[], lines: Run['lines']): Found[] {
  const found: Found[] = [];
  let from = 0;
  const starts = lines.map(({ text }) => {
    const start = from;
    from += text.length + 1;
    return start;
  });
  for (const range of ranges) {
    for (const [at, { index, by, text }] of lines.entries()) {
      const lineStart = starts[at] ?? 0;
      const start = Math.max(range.start, lineStart) - lineStart;
      const end = Math.min(range.end, lineStart + text.length) - lineStart;
      if (end > start && text.slice(start, end).trim() !== '') {
        const blanks = text.slice(start, end).search(/\S/);
        found.push({ index, range: { start: start + blanks + by, end: end + by } });
      }
    }
  }
  return found;
}
