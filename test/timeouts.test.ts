import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkMarkers, linesWith, type MarkerRule } from './markers.ts';

const root = join(import.meta.dirname, '..');

/** What fails on a busy machine although nothing is wrong, and what to write instead. */
const FIXED: readonly [pattern: RegExp, instead: string][] = [
  [/\bvi\.waitFor|\bvi\.waitUntil|\bexpect\.poll\b/, 'eventually()'],
  [/\btimeout: (?!scaled\()[\d_]{4,}/, 'no timeout, or scaled()'],
  [/^\s*\}, [\d_]{4,}\);/m, 'no timeout, or scaled()'],
  // What finds a test that hangs is the same for all of them.
  [/^\s*(?:it|test|describe)\b[^\n]*\{\s*timeout\b|^\s*\}, scaled\(/m, 'the timeout of all tests'],
  [/AbortSignal\.timeout\([\d_]{4,}\)/, 'AbortSignal.timeout(scaled(…))'],
];

/** Whatever is waited for has a condition (`eventually()`); where time itself is meant, the reason says what for. */
const PAUSE: MarkerRule = {
  word: 'pause',
  findUses: (text) =>
    linesWith(/\bawait (?:delay|sleep|setTimeout)\(|new Promise(?:<\w+>)?\(\((\w+)\) => setTimeout\(\1\b/, text),
};

const files = ['packages', 'e2e', 'test']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter(
    (file) => /(^e2e|^test|\/testing)\/.*\.ts$|\.test\.ts$/.test(file) && !/\/(node_modules|dist|lib)\//.test(file),
  )
  .filter((file) => file !== 'test/timeouts.test.ts');

it('no test waits or may take a fixed time', () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return FIXED.filter(([pattern]) => pattern.test(text)).map(([, instead]) => `${file}: use ${instead}`);
  });
  expect(found).toEqual([]);
});

it('a test pauses only where it says why, not to wait for something', () => {
  const found = files.flatMap((file) =>
    checkMarkers(readFileSync(join(root, file), 'utf8'), PAUSE).map((problem) => `${file}:${problem}`),
  );
  expect(found).toEqual([]);
});
