import { describe, expect, test } from 'vitest';
import { pickToml } from './pick-toml.ts';

const text = `# About all of it.

# About the title.
title = "x"
other = 1

# About http.
[http]
# The port.
port = 0x1F # hexadecimal
host = """
a

b"""

[[servers]]
name = "one"
point = { x = 1, y = 2 }
[[servers]]
name = "two"
`;

const below =
  (...wanted: (string | number)[]) =>
  (path: readonly (string | number)[]) =>
    wanted.every((part, index) => path[index] === part);

describe('picking from a TOML text', () => {
  test('gives statements as they are written, with the comments right above them', () => {
    expect(pickToml(text, below('title'))).toBe('# About the title.\ntitle = "x"\n');
    expect(pickToml(text, below('http', 'port'))).toBe(
      '# About http.\n[http]\n# The port.\nport = 0x1F # hexadecimal\n',
    );
  });

  test('gives a whole table', () => {
    expect(pickToml(text, below('http'))).toBe(
      text.slice(text.indexOf('# About http.'), text.indexOf('\n[[servers]]')),
    );
  });

  test('distinguishes tables of an array, and keeps inline tables whole', () => {
    expect(pickToml(text, below('servers', 1))).toBe('[[servers]]\nname = "two"\n');
    expect(pickToml(text, below('servers', 0, 'point', 'y'))).toBe('[[servers]]\npoint = { x = 1, y = 2 }\n');
  });

  test('separates tables by a blank line, and gives nothing where nothing is wanted', () => {
    const isWanted = (path: readonly (string | number)[]) => path.at(-1) === 'port' || path.at(-1) === 'other';
    expect(pickToml(text, isWanted)).toBe(
      'other = 1\n\n# About http.\n[http]\n# The port.\nport = 0x1F # hexadecimal\n',
    );
    expect(pickToml(text, () => false)).toBe('');
  });
});
