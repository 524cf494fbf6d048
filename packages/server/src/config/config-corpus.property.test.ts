import { PortholeError } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { viewConfig } from './config-view.ts';
import { flattenToml } from './flatten-config.ts';
import { TomlError } from './formats/toml-error.ts';
import { redactToml } from './redact-config.ts';
import { CONFIG_CORPUS } from './testing/config-corpus.ts';
import { FORMAT_CORPUS } from './testing/format-corpus.ts';

const RUNS = 20;

/** Prefixes that make a token recognisable and must stay; and a value that is recognised only in base64. */
const KEPT =
  /^(?:gh[oprsu]_|glpat-|xox\w-|AKIA|sk_live_|SG\.made-up-|npm_|hvs\.|AIza|ya29\.|pypi-|eyJ\w+\.eyJ|LS0tLS1CRUdJTi|SU|\$\w+\$|\{\w+\}|-----BEGIN [A-Z ]+-----|Y2k6RDBja2VyLWF1dGg=|base64:|key-|[?]sv=)/;

it('a random secret in a random shape never survives, be it in use or commented out', () => {
  const shape = fc.constantFrom(...CONFIG_CORPUS);
  fc.assert(
    fc.property(
      shape,
      fc.array(fc.nat(), { minLength: 64, maxLength: 64 }),
      fc.boolean(),
      ({ marked }, random, commented) => {
        const planted: string[] = [];
        let at = 0;
        const toml = marked.replace(/[«‹]([^»›]*)[»›]/g, (mark, secret: string) => {
          const value = mark.startsWith('‹') ? secret : replant(secret, () => random[at++ % random.length] ?? 0);
          if (isRevealing(value)) planted.push(value);
          return value;
        });
        const text = commented ? `x = 1\n${toml.replace(/^/gm, '# ')}` : toml;
        const redacted = redactToml(text);
        const shown = redacted + JSON.stringify(flattenToml(text).map(({ value }) => value));
        expect(
          planted.flatMap((secret) => secret.split('\n')).filter((line) => isRevealing(line) && shown.includes(line)),
        ).toEqual([]);
        expect(redactToml(redacted)).toBe(redacted);
      },
    ),
    { numRuns: runs(RUNS) },
  );
});

it('a random secret in a file of any format never survives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FORMAT_CORPUS),
      fc.array(fc.nat(), { minLength: 64, maxLength: 64 }),
      async ({ path, marked }, random) => {
        const planted: string[] = [];
        let at = 0;
        const text = marked.replace(/[«‹]([^»›]*)[»›]/g, (_mark, secret: string) => {
          // With escapes it is a copy of another one, or continues on the next line.
          if (secret.includes('\\')) return secret;
          const value = replant(secret, () => random[at++ % random.length] ?? 0);
          if (isRevealing(value)) planted.push(value);
          return value;
        });
        const { source, toml, settings } = await viewConfig([{ path, text }], []);
        const shown = source + toml + JSON.stringify(settings.flat);
        const lines = planted.flatMap((secret) => secret.split('\n')).filter(isRevealing);
        expect(lines.filter((line) => shown.includes(line))).toEqual([]);
        expect((await viewConfig([{ path, text: source }], [])).source).toBe(source);
      },
    ),
    { numRuns: runs(RUNS) },
  );
});

it('a string of any kind is masked or shown, and never fails', async () => {
  const words = [
    ...['password', 'token', 'name', 'value', 'key', 'DB_PASSWORD', 'secret', 'auth', 'user', 'x', 'pw1234', '4711'],
    ...['=', ': ', ':', ' ', '\n', '\n  ', '\n- ', '- ', '"', "'", '\\"', '\\', '{', '}', '[', ']', ',', ';', '&', '?'],
    ...[
      '--password ',
      '-p ',
      'mysql ',
      'redis-cli -a ',
      '<',
      '</',
      '>',
      '<password>',
      '<name>',
      '://',
      '@',
      '@tcp(',
      '@/',
    ],
    ...[
      '|\n',
      '#',
      '=>',
      '$2a$',
      'ghp_',
      'Bearer ',
      'IDENTIFIED BY ',
      'machine x ',
      'user a on >',
      '******',
      '\u0000',
      '😀',
    ],
  ];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.constantFrom('a', 'args', 'env', 'basic_auth', 'encryption.x', 'session.key'),
      async (value, key) => {
        const string = JSON.stringify(value).replaceAll('\u007f', '\\u007f');
        const toml = `${key} = ${string}\nlist = [${string}, "--password", ${string}]\n# ${key} = ${string}\n`;
        try {
          const redacted = redactToml(toml);
          expect(redactToml(redacted)).toBe(redacted);
          flattenToml(toml);
          await viewConfig([{ path: 'config.toml', text: toml }], []);
        } catch (thrown) {
          if (!(thrown instanceof TomlError) && !(thrown instanceof PortholeError)) throw thrown;
        }
      },
    ),
    { numRuns: runs(RUNS * 4) },
  );
});

/** The same shape with other letters and digits. */
function replant(secret: string, next: () => number): string {
  const [kept = ''] = KEPT.exec(secret) ?? [];
  return (
    kept +
    secret.slice(kept.length).replace(/-----END.*|[A-Za-z0-9]/g, (sign) => {
      if (sign.startsWith('-----')) return sign;
      if (/\d/.test(sign)) return String(next() % 10);
      const letter = String.fromCharCode(97 + (next() % 26));
      return /[A-Z]/.test(sign) ? letter.toUpperCase() : letter;
    })
  );
}

/** Short ones stand in other words by chance, and numbers in others. */
function isRevealing(secret: string): boolean {
  return secret.trim().length >= 6 && !/^[\d._:x-]+$|^-----|^\[/.test(secret);
}
