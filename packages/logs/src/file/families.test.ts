import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { openDir } from '../testing/temp-dir.ts';
import { groupFamilies } from './families.ts';

/** One line per family: `name: oldest ... newest`, the live file marked with a star. */
function describeFamilies(names: readonly string[]): string[] {
  return groupFamilies(names).map(({ name, files }) =>
    [`${name}:`, ...files.map((file) => `${file.name}${file.state === 'live' ? '*' : ''}`)].join(' '),
  );
}

/** The files as expected, oldest first; passed to the grouping in the opposite order. */
function expectFamily(name: string, files: string): void {
  const names = files.split(' ').map((file) => file.replace('*', ''));
  expect(describeFamilies(names.toReversed())).toEqual([`${name}: ${files}`]);
}

describe('rotated files come before the live one, oldest first', () => {
  test.each([
    ['app.log', 'app.log.10.gz app.log.9.gz app.log.2.gz app.log.1 app.log*'],
    ['app.log', 'app.log.2 app.log.1 app.log.0 app.log*'],
    ['messages', 'messages.2.gz messages.1 messages*'],
    ['messages', 'messages-20261114.gz messages-20261115 messages*'],
    ['access.json', 'access.json.2.gz access.json.1 access.json*'],
    ['app.log', 'app.log-20261114.gz app.log-20261115-1731628800 app.log-20261115-1731632400 app.log*'],
    ['app.log', 'app.log-2026111423.gz app.log-2026111500 app.log*'],
    ['app.log', 'app-20261114.log.gz app-20261115.log app.log*'],
    [
      'lind-broker.log',
      'lind-broker-2026-11-15T00-21-26.599.log.gz lind-broker-2026-11-15T00-21-26.600.log lind-broker.log*',
    ],
    ['app.log', 'app.log.2026-11-14-23.gz app.log.2026-11-15-03 app.log*'],
    ['app.log', 'app.2026-11-14.0.log.gz app.2026-11-14.1.log.gz app.2026-11-15.0.log.gz app.log*'],
    ['app.log', 'app-2026-11-15-9.log.gz app-2026-11-15-10.log.gz app-2026-11-15-24.log.gz app.log*'],
    ['app.log', 'app-1.log.gz app-2.log.gz app-10.log app.log*'],
    ['app.log', 'app.1.log app.2.log app.log*'],
    ['app.log', 'app.log.old app.log*'],
    ['app.log', 'app.log.bak.gz app.old.log app.log*'],
    ['app.log', 'app.log.gz app.log*'],
    ['app.log', 'app.log.4.bz2 app.log.3.xz app.log.2.zst app.log.1 app.log*'],
  ])('%s: %s', expectFamily);

  test('both forms of a file that is being compressed are listed side by side', () => {
    expectFamily('x.log', 'x.log.2.gz x.log.1 x.log.1.gz x.log*');
    expect(groupFamilies(['x.log.1', 'x.log.1.gz'])[0]?.files.map((file) => file.compressed)).toEqual([false, true]);
  });

  test('styles that cannot be compared come one after the other, dates last', () => {
    expectFamily('app.log', 'app.log.old app.log.2 app.log.1 app.1.log app-2025-01-01.log app.log*');
  });

  test('files of the same age are ordered by name', () => {
    expectFamily('app.log', 'app-2026-11-15.log app-20261115.log app.2026-11-15.log app.log-20261115 app.log*');
  });
});

describe('a family without a file of its name', () => {
  test.each([
    ['app.log', 'app-2026-11-14.log app-2026-11-15.log*'],
    ['app.log', 'app-2026-11-14.log.gz app-2026-11-15.log app-2026-11-15.log.1*'],
    ['app.log', 'app.log.2026-11-14.gz app.log.2026-11-15*'],
    ['app.log', 'app.2026-11-15.1.log app.2026-11-15.2.log*'],
    ['app.log', 'app.9.log app.10.log*'],
    ['app.log', 'app.1.log*'],
    ['app.log', 'app-2026-11-15.log.old app-2026-11-15.log*'],
    ['app.log', 'app-2026-11-15.log-20261116 app-2026-11-15.log*'],
    ['postgresql.log', 'postgresql-2026-11-14_000000.log postgresql-2026-11-15_000000.log*'],
    ['app.log', 'app.log.1 app-2026-11-15.log*'],
  ])('has the newest as its live one where writers write into such files: %s: %s', expectFamily);

  test.each([
    ['app.log', 'app.log.2.gz app.log.1'],
    ['app.log', 'app.log.1 app.log.0'],
    ['app.log', 'app.log-20261114.gz app.log-20261115'],
    ['tidb.log', 'tidb-2026-11-14T00-21-26.600.log tidb-2026-11-15T00-21-26.600.log'],
    ['app.log', 'app-2026-11-14.log app-2026-11-15.log.gz'],
    ['app.log', 'app-2026-11-15.log app-2026-11-15.log.gz'],
    ['app.log', 'app.log.gz'],
    ['app.log', 'app-2026-11-14.log app-2026-11-15.log.zst'],
    ['app.log', 'app.log.old'],
  ])('has no live one where only a rotator names files so: %s: %s', expectFamily);
});

describe("glog's files", () => {
  const first = 'etcd.h1.root.log.INFO.20261114-002126.99';
  const second = 'etcd.h1.root.log.INFO.20261115-002126.7';
  const other = 'etcd.h2.root.log.INFO.20261115-002127.5';
  const errors = 'etcd.h1.root.log.ERROR.20261115-002126.7';

  test('form a family per severity, the newest of which is live', () => {
    expect(describeFamilies([second, errors, first])).toEqual([
      `etcd.h1.root.log.ERROR: ${errors}*`,
      `etcd.h1.root.log.INFO: ${first} ${second}*`,
    ]);
  });

  test('include the link to the newest, which is then the live one', () => {
    expect(describeFamilies(['etcd.INFO', second, first, 'etcd.FATAL'])).toEqual([
      'etcd.FATAL: etcd.FATAL*',
      `etcd.h1.root.log.INFO: ${first} ${second} etcd.INFO*`,
    ]);
  });

  test('of several hosts: the link belongs to the newest of all', () => {
    for (const names of [
      ['etcd.INFO', first, second, other],
      [other, second, first, 'etcd.INFO'],
    ]) {
      expect(describeFamilies(names)).toEqual([
        `etcd.h1.root.log.INFO: ${first} ${second}*`,
        `etcd.h2.root.log.INFO: ${other} etcd.INFO*`,
      ]);
    }
  });

  test('do not affect a log that happens to have the name of the link and rotated files', () => {
    expect(describeFamilies(['etcd.INFO', 'etcd.INFO.1', first])).toEqual([
      'etcd.INFO: etcd.INFO.1 etcd.INFO*',
      `etcd.h1.root.log.INFO: ${first}*`,
    ]);
  });
});

describe('logs whose names contain digits are separate', () => {
  test.each([
    ['node-01.log node-02.log'],
    ['node-01.log node-02.log node.log'],
    ['shard.log shard1.log shard2.log'],
    ['error-404.log error.log'],
    ['app-v2.log app.log'],
    ['replica-3.log replica-4.log'],
    ['10.0.0.1.log 10.0.0.2.log'],
    ['10.0.0.1 10.0.0.2'],
    ['redis.6379.log redis.6380.log'],
    ['app-20261345.log app.log'],
    ['2026-11-14.log 2026-11-15.log'],
    ['-20261115.log .log'],
  ])('%s', (files) => {
    const names = files.split(' ');
    expect(describeFamilies(names)).toEqual(names.map((name) => `${name}: ${name}*`).sort());
  });

  test('and have separate rotated files', () => {
    expect(describeFamilies(['node-01.log', 'node-01.log.1', 'node-02.log.1.gz', 'node-02.log'])).toEqual([
      'node-01.log: node-01.log.1 node-01.log*',
      'node-02.log: node-02.log.1.gz node-02.log*',
    ]);
  });
});

test("LinDB's directory", () => {
  expect(
    describeFamilies([
      ...['access.log', 'lind-broker-2026-11-14T09-00-00.001.log', 'lind-broker-2026-11-15T00-21-26.600.log'],
      ...['lind-broker.log', 'lind-storage.log', 'show_sql.log', 'access-2026-11-15T00-21-26.600.log.gz'],
    ]),
  ).toEqual([
    'access.log: access-2026-11-15T00-21-26.600.log.gz access.log*',
    'lind-broker.log: lind-broker-2026-11-14T09-00-00.001.log lind-broker-2026-11-15T00-21-26.600.log lind-broker.log*',
    'lind-storage.log: lind-storage.log*',
    'show_sql.log: show_sql.log*',
  ]);
});

test('a duplicate name is one file', () => {
  expect(describeFamilies(['a\uFFFD.log', 'a\uFFFD.log'])).toEqual(['a\uFFFD.log: a\uFFFD.log*']);
});

test('no names, no families', () => expect(groupFamilies([])).toEqual([]));

test('searches and follows reject an unknown family with a suggestion', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'broker.log'), 'x\n');
  const logs = openDir(dir);
  const refusal = { code: 'LOG_FAMILY_NOT_FOUND', message: expect.stringContaining('did you mean "broker.log"?') };
  const family = 'brokr.log';
  const search = logs.search({ src: [family], order: 'newest', limit: 1, before: 0, after: 0 });
  await expect(search.next()).rejects.toMatchObject(refusal);
  await expect(logs.follow({ src: [family], start: 'end' }).next()).rejects.toMatchObject(refusal);
});
