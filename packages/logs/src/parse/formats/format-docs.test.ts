import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatTable, readLnavVerdicts } from '../../testing/formats/format-table.ts';
import { LAYOUT_COLUMNS } from '../columns/layout-table.ts';
import { LEVEL_WORDS_BY_RANK, LEVELS_BY_RANK } from '../level.ts';
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
