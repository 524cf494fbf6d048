import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceFiles } from '../scripts/source-files.mjs';

/** Where clients make sentences. */
const CLIENTS = /^packages\/(cli|console|server\/src\/mcp)\//;

/** Statements that something is not there, or is all there is. */
const ABSENCE =
  /['"`>][^'"`<{}]*\b(no (older )?(match|matches|records?|differences?|drift|timestamped records)|nothing (new|within)|no .* differs|every match is shown|is empty)\b/i;

/** What decides whether it may be said. */
const KNOWS = /\b(absenceText|isPart|isEverything|Coverage|coverageOf)\b/;

/** Not about what was read (usage, errors of the user, a field of records that were printed), or it says what was compared. */
const OTHER: Readonly<Record<string, RegExp>> = {
  'packages/cli/src/command-tree.ts': /Exit codes/,
  'packages/cli/src/commands/config/definition.ts': /Exit codes/,
  'packages/console/src/config/drift-rows.ts': /that could be compared.* among|differs \$\{among\}/,
  'packages/cli/src/commands/logs/definition.ts': /Exit codes/,
  'packages/cli/src/sources/open-sources.ts': /standard input is empty/,
  'packages/cli/src/records/record-run.ts': /no record has the field|absenceText/,
  'packages/cli/src/records/merge-records.ts': /no record buffered/,
  'packages/console/src/state/view-url.ts': /the time range is empty/,
};

it('a client says that something is not there only where it knows how much was read', () => {
  const found = sourceFiles()
    .filter((path) => CLIENTS.test(path) && /\.tsx?$/.test(path) && !/\.test\.|\/testing\//.test(path))
    .flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      const lines = text.split('\n').filter((line) => ABSENCE.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line));
      const others = OTHER[path];
      return lines.filter((line) => !(others?.test(line) ?? KNOWS.test(text))).map((line) => `${path}: ${line.trim()}`);
    });
  expect(found).toEqual([]);
});
