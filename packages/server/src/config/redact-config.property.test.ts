import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { expect, it } from 'vitest';
import { flattenToml } from './flatten-config.ts';
import { redactToml } from './redact-config.ts';
import { keyShape } from './testing/key-shape.ts';
import { TRACES, tomlWithSecrets } from './testing/toml-with-secrets.ts';

/** Some two seconds. Runs of 20,000 with other seeds have passed. */
const RUNS = 50;

it('whatever the place and writing of a secret, no part of it survives and nothing else changes', () => {
  fc.assert(
    fc.property(tomlWithSecrets, fc.constantFrom('\n', '\r\n'), (pieces, newline) => {
      const toml = pieces.map(({ text }) => text).join(newline);
      const redacted = redactToml(toml);
      expect(redacted).not.toMatch(TRACES);
      expect(redactToml(redacted)).toBe(redacted);
      expect(keyShape(parse(redacted))).toEqual(keyShape(parse(toml)));
      expect(JSON.stringify(flattenToml(toml))).not.toMatch(TRACES);
      let from = 0;
      for (const { text } of pieces.filter(({ plain }) => plain)) {
        const at = redacted.indexOf(text, from);
        expect(at, text).toBeGreaterThanOrEqual(0);
        from = at + text.length;
      }
    }),
    { numRuns: runs(RUNS) },
  );
});

it('a text of any kind is redacted or refused, and what is redacted is redacted for good', () => {
  const word = fc.constantFrom(
    ...[
      'password',
      'token',
      'a',
      '=',
      '"',
      "'",
      '"""',
      '#',
      '\n',
      '.',
      '[',
      ']',
      '{',
      '}',
      ',',
      ' ',
      'x:y@z',
      '://',
      ':',
    ],
    ...[
      '"pw"',
      'pw',
      '1',
      'true',
      '\\',
      'Bearer ',
      '-----BEGIN PRIVATE KEY-----',
      '-----END',
      '******',
      ' = ',
      '# ',
      ';',
      '&',
    ],
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.boolean(), (words, commented) => {
      const text = commented ? `x = 1\n# ${words.join('').replaceAll('\n', '\n# ')}\npassword = "pw"` : words.join('');
      let redacted: string;
      try {
        redacted = redactToml(text);
      } catch (thrown) {
        expect(thrown).toHaveProperty('name', 'TomlError');
        return;
      }
      expect(redactToml(redacted)).toBe(redacted);
    }),
    { numRuns: runs(RUNS) },
  );
});
