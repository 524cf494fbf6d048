import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LogError } from '../log-error.ts';
import { collect, readTail } from '../testing/read-bytes.ts';
import { openDir } from '../testing/temp-dir.ts';
import { HandleCache } from './handle-cache.ts';
import { assertSafeName } from './open-inside.ts';
import { readRange } from './read-range.ts';
import { SharedReads } from './shared-reads.ts';

describe('a name that could mean more than one entry of the directory is rejected', () => {
  test.each(['.', '..', '/', '\\', 'a/b', 'a\\b', '../a', '/etc/passwd', 'a\0', '\0', 'a\0.log', 'a/', './a'])(
    '%j is invalid',
    (name) => {
      expect(() => assertSafeName(name)).toThrow(expect.objectContaining({ code: 'FILE_NAME_INVALID' }));
    },
  );

  test('the empty name is missing', () => {
    expect(() => assertSafeName('')).toThrow(expect.objectContaining({ code: 'FILE_NAME_MISSING' }));
  });

  test('a name has at most 255 bytes, not characters', () => {
    expect(() => assertSafeName('a'.repeat(255))).not.toThrow();
    expect(() => assertSafeName('a'.repeat(256))).toThrow(expect.objectContaining({ code: 'FILE_NAME_INVALID' }));
    expect(() => assertSafeName(`${'€'.repeat(85)}`)).not.toThrow();
    expect(() => assertSafeName(`${'€'.repeat(85)}a`)).toThrow(expect.objectContaining({ code: 'FILE_NAME_INVALID' }));
  });

  test.each(['a.log', '...', '..a', 'a..', ' ', '-rf', '%2e%2e', 'a\nb', '~', 'C:', '．．', '∕', '\u202egol.a'])(
    '%j is a name like any other',
    (name) => {
      expect(() => assertSafeName(name)).not.toThrow();
    },
  );
});

const EXPECTED_CODES = new Set(['FILE_NAME_INVALID', 'FILE_NAME_MISSING', 'LOG_FILE_NOT_FOUND']);

const SECRET = 'canary: this lies outside of the log directory';

/** Building blocks of attacks; the last two are lone surrogates. */
const PIECES = ['/', '\\', '..', '.', '\0', '%2f', '%2F', '%5c', '%2e%2e', '%252e', '%00', '..%2f', '%c0%af', '%c1%9c']
  .concat(['\u2044', '\u2215', '\uff0f', '\uff3c', '\u29f8', '\uff0e\uff0e', '\u2024\u2024', '\u2025', '\u2026'])
  .concat(['\n', '\r\n', '\t', ' ', '\x7f', '\x1b[2J', '\u202e', '\u200b', '\ufeff', '\ufffd', '\u0000'])
  .concat(['~', '~root', '$HOME', '`id`', '$(id)', '|', ';', '*', '?', '[a-z]', 'file://', 'C:', '\\\\?\\', ':$DATA'])
  .concat(['etc', 'passwd', 'proc', 'self', 'fd', 'environ', 'root', 'canary.txt', 'sibling', 'a.log', 'inside', 'sub'])
  .concat(['x'.repeat(255), 'x'.repeat(5000), '\ud800', '\udc00', '\udbff', '\udfff']);

test('no byte from outside the directory is served for tens of thousands of hostile names', async () => {
  const { dir, outside } = directoryAmongSecrets();
  const logs = openDir(dir);
  const reads = new SharedReads();
  const handles = new HandleCache(dir);
  onTestFinished(() => handles.close());
  /** Below the suggestions for a wrong name, which cost more than all the rest; some calls take the whole path. */
  const read = async (name: string, index: number) => {
    if (index % 16 === 0) return readTail(logs, name, 4096);
    const handle = await handles.acquire(name);
    return collect(readRange({ handle, reads }, 0, handle.sizeBytes)).finally(() => handle.release());
  };
  const ways = outside.flatMap((path) => [path, relative(dir, path), `./${relative(dir, path)}`, basename(path)]);
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 2, arbitrary: fc.constantFrom(...ways) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    // Any code unit, so lone surrogates too.
    { weight: 1, arbitrary: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) },
  );
  const name = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
    fc.tuple(fc.constantFrom(...ways), fc.constantFrom(...ENCODINGS)).map(([way, encode]) => encode(way)),
  );
  const names = fc.sample(name, runs(10_000));
  let served = 0;
  let refused = 0;
  for (let start = 0; start < names.length; start += 64) {
    const tries = names.slice(start, start + 64).map(async (hostile, index) => {
      // Plain comparisons: 100,000 calls of `expect` would take most of the time.
      const outcome = await read(hostile, index).then(String, (error: unknown) => error);
      if (outcome instanceof LogError && EXPECTED_CODES.has(outcome.code) && !outcome.message.includes(SECRET))
        refused++;
      else if (typeof outcome === 'string' && !outcome.includes('canary')) served++;
      else expect.fail(`${JSON.stringify(hostile)} gave ${outcome}`);
    });
    await Promise.all(tries);
  }
  expect(served + refused).toBe(names.length);
  // The generator must also hit existing files, or it would prove nothing.
  expect(served).toBeGreaterThan(50);
  expect(logs.usage.lentBuffers + reads.lentBuffers).toBe(0);
});

const ENCODINGS: ((path: string) => string)[] = [
  (path) => path,
  encodeURIComponent,
  (path) => encodeURIComponent(encodeURIComponent(path)),
  (path) => path.replaceAll('/', '\\'),
  (path) => path.replaceAll('/', '%c0%af'),
  (path) => path.replaceAll('/', '\uff0f'),
  (path) => path.replaceAll('.', '\uff0e'),
  (path) => path.replaceAll('/', '/./'),
  (path) => path.replaceAll('../', '....//'),
  (path) => `a.log/${path}`,
  (path) => `a.log\0/${path}`,
  (path) => `${path}\0.log`,
  (path) => `file://${path}`,
  (path) => Buffer.from(path).toString('base64'),
];

function directoryAmongSecrets(): { dir: string; outside: string[] } {
  const root = tempDir();
  const dir = join(root, 'logs');
  mkdirSync(join(dir, 'sub'), { recursive: true });
  mkdirSync(join(root, 'sibling'));
  // Its name starts with the directory's.
  mkdirSync(join(root, 'logs-old'));
  const outside = ['canary.txt', 'a.log', 'sibling/canary.txt', 'logs-old/canary.txt'].map((name) => join(root, name));
  for (const path of outside) writeFileSync(path, SECRET);
  for (const name of ['a.log', 'inside', '...', '%2e%2e']) writeFileSync(join(dir, name), 'fine\n');
  symlinkSync('../canary.txt', join(dir, 'canary.txt'));
  symlinkSync('../logs-old/canary.txt', join(dir, 'etc'));
  symlinkSync('/', join(dir, 'root'));
  symlinkSync(join(root, 'sibling'), join(dir, 'sibling'));
  return { dir, outside };
}
