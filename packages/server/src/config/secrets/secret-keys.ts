import { matchesPattern } from '@porthole/contract';
import {
  COUNTING_WORDS,
  CRYPTO_TABLES,
  NOT_PASS,
  QUALIFIERS,
  SECRET_KEY_KINDS,
  SECRET_KEY_TABLES,
  SECRET_PHRASES,
  SECRET_REFERENCES,
  SECRET_WORDS,
  WHICH_KEY,
} from './secret-words.ts';

/** Stems so specific that they match inside a longer word too: `dbpassword`, `authtoken`, `secretsfile`. */
const STEMS = ['password', 'passwd', 'passphrase', 'credential', 'secret', 'token'];

/** What makes another word of a stem: tokenizer, tokenised, secretary, secretion. */
const OTHER_WORD = /^(?:iz|is|ary|ari|ion)/;

/**
 * What a name says of the values below it:
 * `none`: nothing; `one`: it names a secret, so that everything below is one unless it is named as something about it
 * (`[token] ttl`); `group`: it names a collection of secrets, each under a name of its own (`[secrets] db`).
 */
type Secrecy = 'none' | 'one' | 'group';

/**
 * Whether the value under this key path is a secret, by the names alone. `extra` holds patterns of further secret
 * keys, matched against the last key and the dotted path, also of the tables around it, ignoring case. In doubt the
 * answer is yes.
 */
export function isSecretKey(path: readonly string[], extra: readonly string[]): boolean {
  let inherits = false;
  for (const [index, name] of path.entries()) {
    const words = splitWords(name);
    const secrecy = isKeyOfTable(words, path.slice(0, index)) ? 'one' : classifyWords(words);
    const isLast = index === path.length - 1;
    if (secrecy === 'group' || (isLast && secrecy === 'one')) return true;
    if (secrecy === 'one') inherits = true;
    else if (isQualified(words)) inherits = false;
  }
  return inherits || (extra.length > 0 && matchesExtra(path, extra));
}

function matchesExtra(path: readonly string[], extra: readonly string[]): boolean {
  const names = path.map((name) => name.toLowerCase());
  return names.some((name, index) => {
    const dotted = names.slice(0, index + 1).join('.');
    return extra.some((pattern) =>
      [name, dotted].some((candidate) => matchesPattern(candidate, pattern.toLowerCase())),
    );
  });
}

/** Digits part words like any other sign: `token2` is a token. Capitals part them as in `userAPIKey`. */
export function splitWords(name: string): string[] {
  return name
    .split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

function classifyWords(words: readonly string[]): Secrecy {
  if (SECRET_REFERENCES.has(words.join(' '))) return 'none';
  for (let index = words.length - 1; index >= 0; index--) {
    const word = words[index] ?? '';
    const first = isSecretWord(word) ? index : isSecretPair(words[index - 1], word) ? index - 1 : -1;
    if (first < 0) continue;
    const rest = words.slice(index + 1);
    if (SECRET_PHRASES.has([...words.slice(first, index + 1), ...rest].join(' '))) return 'one';
    if (isQualified(rest) || COUNTING_WORDS.has(words[first - 1] ?? '')) return 'none';
    return isGroup(word) ? 'group' : 'one';
  }
  return 'none';
}

function isSecretPair(before: string | undefined, word: string): boolean {
  if (before === undefined) return false;
  if (word === 'key' || word === 'keys') return SECRET_KEY_KINDS.has(before);
  return SECRET_PHRASES.has(`${before} ${word}`);
}

function isSecretWord(word: string): boolean {
  if (SECRET_WORDS.has(word)) return true;
  if (word.endsWith('pass')) return !NOT_PASS.has(word);
  if (/(?:pwd|pw|connectionstring)$/.test(word)) return true;
  const kind = /keys?$/.exec(word);
  if (kind !== null && SECRET_KEY_KINDS.has(word.slice(0, kind.index))) return true;
  return STEMS.some((stem) => {
    const at = word.lastIndexOf(stem);
    if (at < 0) return false;
    const tail = word.slice(at + stem.length);
    return !QUALIFIERS.has(tail) && !QUALIFIERS.has(tail.replace(/^s/, '')) && !OTHER_WORD.test(tail);
  });
}

/** `[secret]` holds secrets under names as `[secrets]` does; `[password]` and `[token]` describe one. */
function isGroup(word: string): boolean {
  return word.endsWith('secret') || /^cred(?:ential)?$/.test(word) || /[^s]s$/.test(word);
}

function isQualified(words: readonly string[]): boolean {
  const last = words.at(-1);
  if (last === undefined) return false;
  if (words.at(-2) === 'public' && last.startsWith('key')) return true;
  return QUALIFIERS.has(last) || COUNTING_WORDS.has(words[0] ?? '');
}

function isKeyOfTable(words: readonly string[], tables: readonly string[]): boolean {
  const last = words.at(-1);
  if (tables.length === 0 || (last !== 'key' && last !== 'keys')) return false;
  if (words.length === 1 && SECRET_KEY_TABLES.has(splitWords(tables.at(-1) ?? '').at(-1) ?? '')) return true;
  return (words.length === 1 || WHICH_KEY.has(words.at(-2) ?? '')) && hasKeyTable(tables);
}

/** Whether one of the names is that of a table about keys: of encryption, signatures or sessions. */
export function hasKeyTable(path: readonly string[]): boolean {
  return path.some((name) => CRYPTO_TABLES.has(splitWords(name).at(-1) ?? ''));
}
