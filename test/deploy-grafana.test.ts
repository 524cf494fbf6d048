import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveFixture, startClickHouse, type TestClickHouse } from '@porthole/archive/testing';
import type { FoundRecord } from '@porthole/logs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Dashboard {
  panels: { title: string; gridPos: Record<'x' | 'y' | 'w' | 'h', number>; targets: { rawSql: string }[] }[];
  templating: { list: { name: string; type: string; query: string }[] };
}

const FILE = 'deploy/grafana/porthole-archive.json';
const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, '..', FILE), 'utf8')) as Dashboard;
const DAY_MS = 24 * 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 12, 12);

/** As Grafana writes them into the SQL. */
const VALUES: Readonly<Record<string, string>> = {
  '${cluster:singlequote}': "'c'",
  '${node:singlequote}': "'web-1','it\\'s'",
  '${log:singlequote}': "'a.log'",
  '${text:singlequote}': "'disk'",
  '${__from}': String(NOW_MS - DAY_MS),
  '${__to}': String(NOW_MS),
  '${__interval_ms}': '60000',
};

let server: TestClickHouse;
let archive: ArchiveFixture;

beforeAll(async () => {
  server = await startClickHouse();
  archive = await ArchiveFixture.create(server.connect({ database: server.newDatabase() }));
  const ages = [1000, 2000, 2 * DAY_MS];
  const records = ages.map((ageMs, index): FoundRecord => {
    const raw = `Disk ${index} failed`;
    const cursor = `0123456789abcdef.s.${index}.1.1s.${Buffer.from('a.log').toString('base64url')}`;
    const position = { file: 'a.log', offset: index, bytes: 20, cursor };
    return { type: 'record', ...position, timeMs: NOW_MS - ageMs, level: 'ERROR', source: 'a.go:1', message: raw, raw };
  });
  // The second time is a retry.
  await archive.ship(records, { node: 'web-1' });
  await archive.ship(records, { node: 'web-1' });
  await archive.ship(records, { node: 'other' });
});

afterAll(() => server.stop());

function withValues(sql: string): string {
  const filled = Object.entries(VALUES).reduce((text, [name, value]) => text.replaceAll(name, value), sql);
  expect(filled).not.toContain('$');
  return filled;
}

const sqlOf = (title: string) => dashboard.panels.find((panel) => panel.title === title)?.targets[0]?.rawSql ?? '';

describe(FILE, () => {
  it('asks what the tables can answer, in every panel and variable', async () => {
    for (const { title, targets } of dashboard.panels)
      for (const { rawSql } of targets) {
        const rows = await archive.clickhouse.query(withValues(rawSql));
        expect([title, rows.length > 0]).toEqual([title, true]);
      }
    for (const { name, type, query } of dashboard.templating.list)
      if (type === 'query') {
        const rows = await archive.clickhouse.query(withValues(query));
        expect([name, rows.length > 0]).toEqual([name, true]);
      }
  });

  it('counts each record of the selected nodes and time once', async () => {
    const counts = await archive.clickhouse.query<{ records: number }>(withValues(sqlOf('Records by level')));
    expect(counts.reduce((sum, { records }) => sum + records, 0)).toBe(2);
    expect(await archive.clickhouse.query(withValues(sqlOf('Records')))).toMatchObject([
      { level_name: 'error', body: 'Disk 0 failed', node: 'web-1' },
      { body: 'Disk 1 failed' },
    ]);
    expect(await archive.clickhouse.query(withValues(sqlOf('Call sites of errors')))).toMatchObject([
      { source: 'a.go:1', errors: 2, nodes: 1 },
    ]);
    expect(await archive.clickhouse.query(withValues(sqlOf('Shipped, by node')))).toHaveLength(2);
  });

  it('names only variables that it has', () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !names.includes(name) && !name.startsWith('__'))).toEqual([]);
  });
});
