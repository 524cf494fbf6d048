import { readCommentedToml, readCommentedValue, readContinuation } from '../toml/commented-toml.ts';
import type { LocatedComment } from '../toml/locate-comments.ts';
import { findCommentedTomlSecrets } from './find-commented-toml-secrets.ts';
import { findCredentials } from './find-credentials.ts';
import type { MaskRange } from './mask-ranges.ts';
import { isSecretKey } from './secret-keys.ts';
import type { SecretValues } from './secret-values.ts';

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
export function findCommentSecrets(
  comments: readonly LocatedComment[],
  secretKeys: readonly string[],
  secrets: SecretValues,
): MaskRange[][] {
  const scan = new CommentScan(secretKeys, secrets);
  const inToml = findCommentedTomlSecrets(comments, secretKeys);
  return comments.map((comment) => [...scan.next(comment), ...(inToml.get(comment) ?? [])]);
}

/** Whether a word of a comment names a secret. */
export function mentionsSecret(text: string): boolean {
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
