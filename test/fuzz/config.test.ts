import { flattenToml, REDACTION_CORPUS, redactToml, unmark } from '@porthole/server/testing';
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
