import { FORMAT_CORPUS, flattenToml, REDACTION_CORPUS, redactToml, unmark, viewConfig } from '@porthole/server/testing';
import { expect } from 'vitest';
import { fuzz } from './testing/fuzz.ts';

/** Has a name that marks it as a secret, and a position where the changes around it cannot make it part of anything else. */
const SECRET = 'Zqx7Kv9Wm2';
const LAST = `\n[the-end]\npassword = "${SECRET}"\n`;

fuzz('configurations', {
  corpus: REDACTION_CORPUS.map(({ marked }) => unmark(marked).toml),
  runs: 1200,
  check(input) {
    const text = `${input.toString()}${LAST}`;
    for (const show of [(toml: string) => redactToml(toml), (toml: string) => JSON.stringify(flattenToml(toml))]) {
      try {
        expect(show(text)).not.toContain(SECRET);
      } catch (error) {
        if (!(error instanceof Error) || !['TomlError', 'PortholeError'].includes(error.name)) throw error;
        expect(error.message).not.toContain(SECRET);
      }
    }
  },
});

/** The same key and value in each format, at the end of a text that may be anything. */
const LINES: Readonly<Record<string, string>> = {
  yaml: `\n---\npassword: ${SECRET}\n`,
  json: `\n"password": "${SECRET}"\n`,
  ini: `\n[the-end]\npassword = ${SECRET}\n`,
  nginx: `\nthe-end { password ${SECRET}; }\n`,
  xml: `\n<password>${SECRET}</password>\n`,
  'key-value': `\npassword ${SECRET}\n`,
};

fuzz('configurations in other formats', {
  corpus: FORMAT_CORPUS.map(({ path, marked }) => `${path}\n${unmark(marked).toml}`),
  runs: 600,
  async check(input) {
    const given = input.toString();
    const format = FORMAT_CORPUS.find(({ path }) => given.startsWith(path))?.format ?? 'ini';
    const text = `${given.slice(given.indexOf('\n') + 1)}${LINES[format] ?? `\npassword = ${SECRET}\n`}`;
    const path = FORMAT_CORPUS.find((shape) => shape.format === format)?.path ?? 'x.ini';
    try {
      const { toml, source, settings } = await viewConfig([{ path, text }], []);
      expect(toml + source + JSON.stringify(settings.flat)).not.toContain(SECRET);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'PortholeError') throw error;
      expect(error.message).not.toContain(SECRET);
    }
  },
});
