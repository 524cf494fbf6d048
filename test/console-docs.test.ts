import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_LOGS, keyGroups, type LogsView, logsQuery } from '@porthole/console/testing';
import { expect, it } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../docs/console.md'), 'utf8');

/** The cells of the table under a heading, without its head. */
function readTable(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const rows = section.split('\n## ')[0]?.match(/^\| .* \|$/gm) ?? [];
  return rows.slice(1).map((row) => row.slice(2, -2).split(' | '));
}

it('the page about the console lists the keys of the log list', () => {
  const keys = keyGroups().find(({ name }) => name === 'Log lines')?.keys ?? [];
  const expected = keys.map(({ shown, meaning }) => [
    shown
      .split(' ')
      .map((key) => `\`${key}\``)
      .join(' '),
    meaning,
  ]);
  expect(readTable('Keys')).toEqual(expected);
});

it('the page about the console lists every URL parameter', () => {
  const views: LogsView[] = [
    {
      ...ALL_LOGS,
      sources: [{ node: 'n1', log: null }],
      labels: ['zone=a'],
      range: { kind: 'fixed', fromMs: 0, toMs: 1 },
      minLevel: 'WARN',
      query: 'a=1',
      text: 'x',
      isRegex: true,
      isCaseSensitive: true,
      isOnlyMatches: true,
      excluded: ['y'],
      callSite: 'a.go',
      component: 'A',
      columns: ['shard'],
      hasFields: false,
      countedBy: ['shard'],
      splitBy: 'shard',
      at: { node: 'n1', cursor: 'c' },
      timeMs: 0,
      isLive: true,
      isWrapped: true,
      isPlain: true,
      hasHistogram: false,
    },
    { ...ALL_LOGS, range: { kind: 'last', spanMs: 60_000 } },
  ];
  const written = new Set(views.flatMap((view) => [...logsQuery(view).keys()]));
  const documented = readTable('Addresses').flatMap(([names = '']) =>
    names.split(', ').map((name) => name.slice(1, -1)),
  );
  expect(documented.toSorted()).toEqual([...written].toSorted());
});
