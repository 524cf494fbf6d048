import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { TomlError } from './formats/toml-error.ts';
import { redactToml } from './redact-config.ts';
import { keyShape } from './testing/key-shape.ts';
import { REDACTION_CORPUS, unmark } from './testing/redaction-corpus.ts';

describe('secrets are masked and nothing else is touched in', () => {
  it.each(REDACTION_CORPUS)('$name', ({ marked }) => {
    const { toml, redacted } = unmark(marked);
    expect(redactToml(toml)).toBe(redacted);
    expect(redactToml(redacted)).toBe(redacted);
    expect(keyShape(parse(redacted))).toEqual(keyShape(parse(toml)));
  });
});

describe('a whole file', () => {
  it.each(['lindb-broker', 'influxdb', 'tikv'])('like one of %s loses its secrets and nothing else', (name) => {
    const marked = readFileSync(new URL(`testing/fixtures/${name}.toml`, import.meta.url), 'utf8');
    const { toml, redacted } = unmark(marked);
    expect(redactToml(toml)).toBe(redacted);
    expect(redactToml(redacted)).toBe(redacted);
    expect(keyShape(parse(redacted))).toEqual(keyShape(parse(toml)));
  });
});

describe('further secret keys', () => {
  it('are matched by name, by path and by table, whatever their case', () => {
    const toml = 'Motto = "abc"\n[x.y]\nnote = "def"\nkeep = "k"\n[vault]\na.b = "ghi"\n# c = "jkl"\n';
    expect(redactToml(toml, { secretKeys: ['mott', 'y.note', 'vaul'] })).toBe(toml);
    expect(redactToml(toml, { secretKeys: ['motto', 'X.*NOTE', 'vault'] })).toBe(
      'Motto = "******"\n[x.y]\nnote = "******"\nkeep = "k"\n[vault]\na.b = "******"\n# c = "******"\n',
    );
  });
});

describe('a text that is not valid TOML', () => {
  it.each([
    ['an open string', 'a = 1\npassword = "hunter2\n', 2],
    ['a key given twice', 'password = "hunter2"\npassword = "hunter2"\n', 2],
    ['a word without quotes', 'password = hunter2\n', 1],
    ['a day that only one parser refuses', 'x = 1\ny = 2024-02-30\n# hunter2\n', 2],
    ['a table that is a value', 'x = "hunter2"\n[x]\n', 2],
  ])('is refused without showing it: %s', (_, toml, line) => {
    const error = catchError(toml);
    expect(error).toBeInstanceOf(TomlError);
    expect(error).toMatchObject({ line });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2');
    expect(error.cause).toBeUndefined();
  });

  it.each([
    ['arrays', `a = ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['inline tables', `a = ${'{a='.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['dotted keys', `${'a.'.repeat(10_000)}a = 1`],
    ['table headers', `[${'a.'.repeat(10_000)}a]\nb = 1`],
  ])('or nests too deeply is refused: %s', (_, toml) => {
    expect(catchError(toml)).toBeInstanceOf(TomlError);
  });

  it('or holds a string beyond what the parser takes is refused', () => {
    expect(catchError(`a = "${'x'.repeat(1 << 20)}"`)).toBeInstanceOf(TomlError);
  });
});

it('a byte order mark is dropped', () => {
  expect(redactToml('\uFEFFpassword = "x"\n')).toBe('password = "******"\n');
});

it('a key that holds a secret stays, because keys are never changed', () => {
  expect(redactToml('hunter22 = 1\npassword = "hunter22"\n')).toBe('hunter22 = 1\npassword = "******"\n');
});

it('a mebibyte with 20,000 keys, half of them secret, is masked without searching each secret in each comment', () => {
  // Which would take minutes, and the test would time out.
  const keys = Array.from(
    { length: 20_000 },
    (_, i) => `# Note ${i}.\n${i % 2 ? 'key' : 'password'}-${i}x = "value ${i} of the key"\n`,
  );
  const redacted = redactToml(keys.join(''));
  expect(redacted.match(/"\*{6}"/g)).toHaveLength(10_000);
});

function catchError(toml: string): Error {
  try {
    redactToml(toml);
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
  }
  throw new Error('it did not fail');
}

it('masks until nothing changes: a mask may remove what delimited another secret', () => {
  const redacted = redactToml('x = 1\n# [password:}x:y@z\npassword = "pw"');
  expect(redacted).not.toContain('x:y');
  expect(redactToml(redacted)).toBe(redacted);
});
