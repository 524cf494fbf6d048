import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatTable, readLnavVerdicts } from '../../testing/formats/format-table.ts';
import { LAYOUT_COLUMNS } from '../columns/layout-table.ts';
import { FORMAT_NAMES } from '../detect-format.ts';
import { LEVEL_WORDS_BY_RANK, LEVELS_BY_RANK } from '../level.ts';
import { OTHER_NAMES } from '../user-format.ts';
import { OWN_LAYOUTS } from './layout/own-layouts.ts';
import {
  LEVEL_KEYS,
  MESSAGE_KEYS,
  NESTED_KEYS,
  PRIORITY_KEYS,
  SOURCE_KEYS,
  TAG_KEYS,
  TIME_KEYS,
} from './lines/known-keys.ts';

const PAGE = new URL('../../../../../docs/formats.md', import.meta.url);
const API_PAGE = new URL('http-api.md', PAGE);

const code = (texts: readonly string[]) => texts.map((text) => `\`${text.replaceAll('|', '\\|')}\``).join(', ');

const table = (head: string, rows: readonly string[]) =>
  [head, head.replace(/[^|]+/g, '---'), ...rows].map((row) => `${row}\n`).join('');

/** What stands between `<!-- name -->` and `<!-- end -->`. */
const SECTIONS: Readonly<Record<string, () => string>> = {
  systems: () => formatTable(readLnavVerdicts()),
  layouts: () =>
    table(
      '| format | written by | layout |',
      [...LAYOUT_COLUMNS, ...OWN_LAYOUTS].map(
        ({ name, programs, lines: [first] }) => `| \`${name}\` | ${programs} | ${code([first])} |`,
      ),
    ),
  keys: () =>
    table('| column | keys |', [
      `| time | ${code(TIME_KEYS)} |`,
      `| level | ${code(LEVEL_KEYS)}; from 0 to 7 ${code(PRIORITY_KEYS)} |`,
      `| message | ${code(MESSAGE_KEYS)} |`,
      `| source | ${code(SOURCE_KEYS)} |`,
      `| logger | ${code(TAG_KEYS)} |`,
      `| objects that hold the message | ${code(NESTED_KEYS)} |`,
    ]),
  levels: () =>
    table(
      '| level | words |',
      LEVELS_BY_RANK.flatMap((level, rank) =>
        level
          ? [`| \`${level}\` | ${code((LEVEL_WORDS_BY_RANK[rank] ?? []).map((word) => word.toUpperCase()))} |`]
          : [],
      ),
    ),
};

it('docs/formats.md names every built-in format, and the documentation of the API refers to it', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(FORMAT_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const [about = ''] = /^`format` is the name of the log format .*?\n\n/ms.exec(readFileSync(API_PAGE, 'utf8')) ?? [];
  expect(about).toContain('](formats.md)');
  const names = [...about.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining([...OTHER_NAMES]));
  expect(names.filter((name) => FORMAT_NAMES.some((format) => format === name))).toEqual([]);
});

it('the tables of docs/formats.md are made from the code (UPDATE_DOCS=1 writes them)', () => {
  const page = readFileSync(PAGE, 'utf8');
  const updated = page.replace(
    /(<!-- (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_section, start: string, name: string, end: string) => `${start}\n${SECTIONS[name]?.()}\n${end}`,
  );
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, updated);
  else expect(page).toBe(updated);
  expect([...page.matchAll(/<!-- end -->/g)]).toHaveLength(Object.keys(SECTIONS).length);
});
