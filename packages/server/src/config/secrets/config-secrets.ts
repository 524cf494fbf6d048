import type {
  ConfigDocument,
  ConfigLanguage,
  ConfigLeaf,
  ConfigStatement,
  TextRange,
} from '../formats/config-document.ts';
import {
  type LocatedComment,
  locateComments,
  readCommentedAssignment,
  readCommentedValue,
  readContinuation,
} from './comments.ts';
import { findTreeSecrets } from './config-tree.ts';
import { findCredentials } from './find-credentials.ts';
import { findStrictly } from './find-strictly.ts';
import type { Credential } from './mask-ranges.ts';
import { isSecretKey } from './secret-keys.ts';
import { SecretValues } from './secret-values.ts';

/** What to mask of a value: nothing, all of it, or parts of its string. */
export type LeafMask = 'none' | 'whole' | TextRange[];

export interface ConfigSecrets {
  /** All secret values found, for the check that none is left. */
  values: SecretValues;
  leafMask(leaf: ConfigLeaf, document: ConfigDocument): LeafMask;
  /** The comments with something to mask. */
  commentMasks(document: ConfigDocument): { comment: LocatedComment; ranges: TextRange[] }[];
}

/**
 * Everything secret in the texts of a configuration. All secrets are collected before anything is masked, because a
 * comment at the top can repeat a value that follows at the end, or in another file.
 */
export function findSecrets(documents: readonly ConfigDocument[], secretKeys: readonly string[]): ConfigSecrets {
  const values = new SecretValues();
  const credentials = new Map<ConfigLeaf, Credential[]>();
  for (const document of documents) {
    markSecrets(document, secretKeys);
    collectFromLeaves(document, { secretKeys, values, credentials });
  }
  const comments = new Map(
    documents.map((document) => {
      const located = locateComments(document);
      const found = findCommentSecrets(located, { secretKeys, secrets: values, language: document.language });
      return [document, located.map((comment, index) => ({ comment, found: found[index] ?? [] }))];
    }),
  );
  return {
    values,
    leafMask: (leaf, document) => computeLeafMask(leaf, { document, credentials: credentials.get(leaf) ?? [], values }),
    commentMasks: (document) =>
      (comments.get(document) ?? []).flatMap(({ comment, found }) => {
        let suspect: boolean | undefined;
        const isSuspect = () => (suspect ??= comment.besideSecret || mentionsSecret(comment.text));
        // It may be the end of a secret value.
        const isDoubtful = document.language.hasLooseComments && !comment.ownLine && comment.besideSecret;
        const all = isDoubtful ? [{ start: 0, end: comment.text.trimEnd().length }] : [];
        const ranges = [...all, ...found, ...values.findInComment(comment.text, isSuspect)];
        return ranges.length > 0 ? [{ comment, ranges }] : [];
      }),
  };
}

/** Marks what is secret by its key; `around` are the names of tables the text stands in. */
function markSecrets(document: ConfigDocument, secretKeys: readonly string[], around: readonly string[] = []): void {
  for (const { leaves } of document.statements)
    for (const leaf of leaves) Object.assign(leaf, { secret: false, parts: [] });
  const onSecret = (leaf: ConfigLeaf, part: 'whole' | TextRange) => {
    if (part !== 'whole') leaf.parts.push(part);
    else if (!isSwitch(leaf) && !document.language.openKeys?.test(leaf.path.at(-1) ?? ''))
      for (const each of [leaf, leaf.original]) if (each) each.secret = true;
  };
  for (const { path, entries } of document.tables) {
    const names = path.filter((name) => typeof name === 'string');
    findTreeSecrets({ kind: 'table', entries }, { path: [...around, ...names], secretKeys, onSecret });
  }
  for (const statement of document.statements)
    statement.secret =
      statement.leaves.length === 0
        ? isSecretKey([...around, ...statement.table], secretKeys)
        : statement.leaves.some(({ secret }) => secret);
}

/** A boolean reveals nothing, nor does what stands for one where a format has none. */
function isSwitch({ value, text, isQuoted }: ConfigLeaf): boolean {
  return typeof value === 'boolean' || (!isQuoted && /^(?:on|off|yes|no)$/i.test(text ?? ''));
}

interface Collection {
  secretKeys: readonly string[];
  values: SecretValues;
  credentials: Map<ConfigLeaf, Credential[]>;
}

function collectFromLeaves(document: ConfigDocument, { secretKeys, values, credentials }: Collection): void {
  for (const statement of document.statements) {
    for (const leaf of statement.leaves) {
      const raw = document.text.slice(leaf.start, leaf.end);
      if (leaf.text === undefined) {
        if (leaf.secret) values.add(plainNumber(raw), raw);
        continue;
      }
      if (leaf.secret) values.add(leaf.text, raw);
      const found = findInLeaf(leaf, { document, statement, secretKeys });
      if (found.length > 0) credentials.set(leaf, found);
      for (const { start, end, certain } of found) if (certain) addCredential(values, leaf.text.slice(start, end));
    }
  }
}

interface LeafContext {
  document: ConfigDocument;
  statement: ConfigStatement;
  secretKeys: readonly string[];
  around?: readonly string[];
}

/** The credentials within the text of a value. */
function findInLeaf(leaf: ConfigLeaf, { document, statement, secretKeys, around = [] }: LeafContext): Credential[] {
  const { text = '', parts } = leaf;
  const isSecretName = (name: string) => isSecretKey([name], secretKeys);
  if (leaf.secret) return findCredentials(text, { path: [], secretKeys, isSecretName });
  const found = [
    ...parts.map((part) => ({ ...part, certain: true })),
    ...findCredentials(text, { path: [...around, ...leaf.path], secretKeys, isSecretName }),
  ];
  if (document.language.isSecret) found.push({ start: 0, end: text.length, certain: false });
  else if (leaf.isLines) found.push(...findStrictly(text, isSecretName));
  if (!document.language.hasDirectives || leaf.positions !== undefined || isSwitch(leaf)) return found;
  const before = leaf.start - statement.start;
  // Directives end with their line.
  const inStatement = findCredentials(`${document.text.slice(statement.start, leaf.end)}\n`, {
    ...{ path: [...around, ...statement.table], secretKeys, isSecretName },
  });
  for (const { start, end, certain } of inStatement)
    if (end > before) {
      const part = { start: Math.max(0, start - before), end: Math.min(text.length, end - before) };
      if (part.end > part.start) found.push({ ...part, certain });
    }
  return found;
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
  leaf: ConfigLeaf,
  { document, credentials, values }: { document: ConfigDocument; credentials: Credential[]; values: SecretValues },
): LeafMask {
  if (leaf.text !== undefined) {
    if (leaf.secret) return leaf.text === '' ? 'none' : 'whole';
    const ranges = [...credentials, ...values.findInValue(leaf.text)];
    return ranges.length > 0 ? ranges : 'none';
  }
  // A number that is one of the secrets is a copy; one that merely holds it is not.
  const isCopy = typeof leaf.value !== 'boolean' && values.has(document.text.slice(leaf.start, leaf.end));
  return leaf.secret || isCopy ? 'whole' : 'none';
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
  { secretKeys, secrets, language }: { secretKeys: readonly string[]; secrets: SecretValues; language: ConfigLanguage },
): TextRange[][] {
  const scan = new CommentScan(secretKeys, secrets);
  const commentedOut = findCommentedOut(comments, secretKeys, language);
  return comments.map((comment) => [...scan.next(comment), ...(commentedOut.get(comment) ?? [])]);
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

  next(comment: LocatedComment): TextRange[] {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && comment.ownLine && comment.line === open.nextLine) return this.#continue(comment, open);
    const found = readCommentedAssignment(comment.text);
    if (found?.kind === 'header') this.#header = { path: found.path, statementIndex: comment.statementIndex };
    const credentials = this.#findCredentials(comment);
    if (found?.kind !== 'assignment') return credentials;
    if (!this.#isSecret(found.path, comment)) return credentials;
    // The range of an assignment is more exact: it handles brackets and values of several words.
    return [
      ...this.#findAssigned(comment, found.valueStart),
      ...credentials.filter((credential) => credential.start !== found.valueStart),
    ];
  }

  #continue(comment: LocatedComment, open: OpenValue): TextRange[] {
    const { secret, ends } = readContinuation(comment.text, open.closer);
    if (!ends) this.#open = { ...open, nextLine: comment.line + 1 };
    return secret === undefined ? [] : [secret];
  }

  #findAssigned(comment: LocatedComment, valueStart: number): TextRange[] {
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

  #findCredentials(comment: LocatedComment): TextRange[] {
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

/**
 * Secrets of configuration that is commented out, found as if it were not: whole tables, lists of arguments, names and
 * their values. Of a run of comments that is not of the format as a whole, the lines that look like it are read; at last
 * each line.
 */
function findCommentedOut(
  comments: readonly LocatedComment[],
  secretKeys: readonly string[],
  language: ConfigLanguage,
): Map<LocatedComment, TextRange[]> {
  const found = new Map<LocatedComment, TextRange[]>();
  for (const run of groupRuns(comments)) {
    if (!run.lines.some(({ text }) => language.statement.test(text))) continue;
    for (const { index, range } of findRunSecrets(run, secretKeys, language)) {
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
    const by = /^[#!;]*[ \t]?/.exec(comment.text)?.[0].length ?? 0;
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
  range: TextRange;
}

function findRunSecrets(run: Run, secretKeys: readonly string[], language: ConfigLanguage): Found[] {
  const isStatement = ({ text }: { text: string }) => language.statement.test(text);
  const read = (lines: Run['lines']) => readRun({ ...run, lines }, secretKeys, language);
  const statements = run.lines.filter(isStatement);
  return read(run.lines) ?? read(statements) ?? statements.flatMap((line) => read([line]) ?? []);
}

function readRun({ lines, table }: Run, secretKeys: readonly string[], language: ConfigLanguage): Found[] | undefined {
  const document = language.readPart(lines.map((line) => line.text).join('\n'));
  if (!document) return undefined;
  markSecrets(document, secretKeys, table);
  const ranges = document.statements.flatMap((statement) =>
    statement.leaves.flatMap((leaf) => rangesIn(leaf, { document, statement, secretKeys, around: table })),
  );
  return splitByLine(ranges, lines);
}

/** The secret parts of a value, with positions in the text. */
function rangesIn(leaf: ConfigLeaf, context: LeafContext): TextRange[] {
  const { start, end } = leaf;
  if (leaf.secret) return [{ start, end }];
  const parts = leaf.text === undefined ? [] : findInLeaf(leaf, context);
  return parts.length === 0 ? [] : (toSource(leaf, parts) ?? [{ start, end }]);
}

/** Where parts of the text of a value are written; `undefined` if it is not known. */
export function toSource(leaf: ConfigLeaf, parts: readonly TextRange[]): TextRange[] | undefined {
  const { start: from, end, positions } = leaf;
  if (positions === undefined) return parts.map((part) => ({ start: from + part.start, end: from + part.end }));
  const known = positions();
  return known && parts.map((part) => ({ start: known[part.start] ?? end, end: known[part.end] ?? end }));
}

function splitByLine(ranges: readonly TextRange[], lines: Run['lines']): Found[] {
  const found: Found[] = [];
  let from = 0;
  const starts = lines.map(({ text }) => {
    const start = from;
    from += text.length + 1;
    return start;
  });
  let first = 0;
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    while (first + 1 < lines.length && (starts[first + 1] ?? 0) <= range.start) first++;
    for (let at = first; at < lines.length && (starts[at] ?? 0) < range.end; at++) {
      const { index = 0, by = 0, text = '' } = lines[at] ?? {};
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
