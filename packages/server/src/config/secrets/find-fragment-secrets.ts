import { type ConfigTree, findTreeSecrets } from './config-tree.ts';
import { readWholeJson } from './json-fragment.ts';
import { readLines } from './line-fragment.ts';
import type { Credential, MaskRange } from './mask-ranges.ts';
import { secretArguments } from './secret-arguments.ts';

export interface FragmentOptions {
  /** Names around the text. */
  path: readonly string[];
  secretKeys: readonly string[];
  isSecretName(name: string): boolean;
  /** A colon may be followed by a sentence. */
  isComment?: boolean;
}

/** Longest word that is taken for an argument. */
const ARGUMENT = /"[^"\r\n]{0,512}"|'[^'\r\n]{0,512}'|[^\s"']+/g;

/** Secrets of a configuration within a text: JSON, YAML, INI, properties, dotenv; and of a command line. */
export function findFragmentSecrets(text: string, options: FragmentOptions): Credential[] {
  const found: Credential[] = [];
  const take = (tree: ConfigTree<MaskRange>, path: readonly string[]) =>
    findTreeSecrets(tree, {
      path,
      secretKeys: options.secretKeys,
      onSecret: ({ start, end }, part) => found.push(toCredential({ start, end }, part)),
    });
  const json = readWholeJson(text);
  if (json) take(json, options.path);
  else if (hasLines(text, options))
    for (const { path, tree } of readLines(text)) take(tree, [...options.path, ...path]);
  for (const line of splitLines(text))
    found.push(...findInCommand(line.text, options).map((part) => shift(part, line.start)));
  return found.filter(({ start, end }) => end > start);
}

/** Of a single line, all behind a colon is the value; a connection string has several on its line. */
function hasLines(text: string, { isComment }: FragmentOptions): boolean {
  if (text.includes('\n')) return true;
  return (
    !isComment && /^\s*["']?[\w.-]{1,128}["']?:[ \t]/.test(text) && !/^\W*[\w-]*(?:authorization|cookie)\W/i.test(text)
  );
}

function toCredential(leaf: MaskRange, part: 'whole' | MaskRange): Credential {
  if (part === 'whole') return { ...leaf, certain: true };
  return { start: leaf.start + part.start, end: Math.min(leaf.end, leaf.start + part.end), certain: true };
}

function findInCommand(text: string, { isSecretName }: FragmentOptions): Credential[] {
  if (!/(?:^|\s)["']?-/.test(text)) return [];
  const words = [...text.matchAll(ARGUMENT)].map(({ 0: word, index }) => {
    const isQuoted = /^["']/.test(word) && word.length > 1;
    return { start: isQuoted ? index + 1 : index, end: isQuoted ? index + word.length - 1 : index + word.length };
  });
  const texts = words.map(({ start, end }) => text.slice(start, end));
  return secretArguments(texts, (name) => name.length > 1 && isSecretName(name)).flatMap(({ index, part }) => {
    const word = words[index];
    // The comma of a list within a text; the list itself is parsed elsewhere.
    return word && texts[index] !== ',' ? [toCredential(word, part)] : [];
  });
}

function splitLines(text: string): { text: string; start: number }[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line, start: at };
  });
}

function shift({ start, end, certain }: Credential, by: number): Credential {
  return { start: start + by, end: end + by, certain };
}
