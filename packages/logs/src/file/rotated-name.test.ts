import { describe, expect, test } from 'vitest';
import { parseRotatedName } from './rotated-name.ts';

const ALONE: ReadonlySet<string> = new Set();
/** Logs to which the numbers of other names might seem to belong. */
const BESIDE = new Set(['app.log', 'app', 'node.log', 'shard.log', 'error.log', 'redis.log', '.log', '.', '']);

describe('a name that is recognised as rotated by itself', () => {
  test.each([
    // logrotate, numbers
    ['app.log.1', 'app.log', 'numbered', [-1]],
    ['app.log.0', 'app.log', 'numbered', [0]],
    ['gc.log.07', 'gc.log', 'numbered', [-7]],
    ['node-01.log.12', 'node-01.log', 'numbered', [-12]],
    ['messages.1', 'messages', 'numbered', [-1]],
    ['syslog.2', 'syslog', 'numbered', [-2]],
    ['access.json.1', 'access.json', 'numbered', [-1]],
    // logrotate, dates
    ['app.log-20261115', 'app.log', 'dated', [20261115]],
    ['app.log-20261115-1731628800', 'app.log', 'dated', [20261115, 1731628800]],
    ['app.log-2026111500', 'app.log', 'dated', [20261115, 0]],
    ['app.log-202611150021', 'app.log', 'dated', [20261115, 0, 21]],
    ['app.log-20261115002126', 'app.log', 'dated', [20261115, 0, 21, 26]],
    ['app.log-2026-11-15', 'app.log', 'dated', [20261115]],
    ['app-20261115.log', 'app.log', 'dated', [20261115]],
    ['messages-20261115', 'messages', 'dated', [20261115]],
    // LinDB, TiDB and others with lumberjack
    ['lind-broker-2026-11-15T00-21-26.600.log', 'lind-broker.log', 'dated', [20261115, 0, 21, 26, 600]],
    ['tidb-2026-11-15T00-21-26.600.log', 'tidb.log', 'dated', [20261115, 0, 21, 26, 600]],
    // log4j, logback
    ['app.log.2026-11-15', 'app.log', 'dated', [20261115]],
    ['app.log.2026-11-15-03', 'app.log', 'dated', [20261115, 3]],
    ['app.log.2026-11-15.1', 'app.log', 'dated', [20261115, 1]],
    ['app.2026-11-15.log', 'app.log', 'dated', [20261115]],
    ['app-2026-11-15.log', 'app.log', 'dated', [20261115]],
    ['app_2026-11-15_03.log', 'app.log', 'dated', [20261115, 3]],
    ['app.2026-11-15.0.log', 'app.log', 'dated', [20261115, 0]],
    ['app-2026-11-15-1.log', 'app.log', 'dated', [20261115, 1]],
    ['app-2026-11-15-31.log', 'app.log', 'dated', [20261115, 31]],
    ['app.1.log', 'app.log', 'indexed', [1]],
    // winston's daily files, pino-roll
    ['app-2026-11-15.log.1', 'app.log', 'dated', [20261115, 1]],
    ['app.2026-11-15.1.log', 'app.log', 'dated', [20261115, 1]],
    // glog, and its descendant
    ['etcd.h1.root.log.INFO.20261115-002126.12345', 'etcd.h1.root.log.INFO', 'dated', [20261115, 2126, 12345]],
    [
      'cockroach.h1.root.2026-11-15T00_21_26Z.012345.log',
      'cockroach.h1.root.log',
      'dated',
      [20261115, 0, 21, 26, 12345],
    ],
    // PostgreSQL, the kubelet
    ['postgresql-2026-11-15_002126.log', 'postgresql.log', 'dated', [20261115, 0, 21, 26]],
    ['0.log.20261115-002126', '0.log', 'dated', [20261115, 2126]],
    // by hand
    ['app.log.old', 'app.log', 'copy', []],
    ['app.log.bak', 'app.log', 'copy', []],
    ['app.old.log', 'app.log', 'copy', []],
    ['messages.old', 'messages', 'copy', []],
  ])('%s is of %s, %s %j, compressed or not', (name, family, style, rank) => {
    expect(parseRotatedName(name, ALONE)).toMatchObject({ family, style, rank, compressed: false });
    for (const suffix of ['gz', 'zst', 'xz', 'bz2', 'lz4', 'zip']) {
      const packed = { family, style, rank, compressed: true, canBeLive: false };
      expect(parseRotatedName(`${name}.${suffix}`, ALONE)).toMatchObject(packed);
    }
  });

  test('a compressed file without another suffix is a copy of the log it names', () => {
    const copy = { style: 'copy', rank: [], compressed: true, canBeLive: false };
    expect(parseRotatedName('app.log.gz', ALONE)).toEqual({ family: 'app.log', ...copy });
    expect(parseRotatedName('replica-3.log.GZ', ALONE)).toEqual({ family: 'replica-3.log', ...copy });
    expect(parseRotatedName('app.log.Zst', ALONE)).toEqual({ family: 'app.log', ...copy });
  });
});

describe('a number that means a rotation only next to the live file', () => {
  test.each([
    ['replica-3.log', 'replica.log', 'indexed', [3]],
    ['app-1.log.gz', 'app.log', 'indexed', [1]],
    ['app-1234.log.gz', 'app.log', 'indexed', [1234]],
    ['app.1234.log.gz', 'app.log', 'indexed', [1234]],
    ['v1.2.log', 'v1.log', 'indexed', [2]],
    ['app.log.12345', 'app.log', 'numbered', [-12345]],
    ['postgres.5432', 'postgres', 'numbered', [-5432]],
    ['10.0.0.1', '10.0.0', 'numbered', [-1]],
  ])('%s is of %s where that exists', (name, family, style, rank) => {
    expect(parseRotatedName(name, new Set([family]))).toMatchObject({ family, style, rank });
    expect(parseRotatedName(name, ALONE)?.family).not.toBe(family);
  });
});

test.each([
  ...['app.log', 'messages', 'node-01.log', 'node-02.log', 'shard1.log', 'app1.log', 'error-404.log', 'app-v2.log'],
  ...['app-20261345.log', 'app-2026-02-30.log', 'app.log-20261301', 'app.log.2026-11-32', 'app.log-2026111524'],
  ...['app-2026-11-15T24-00-00.600.log', 'app-20261115x.log', 'app-120261115.log', 'app20261115.log', 'x-18991231.log'],
  ...['10.0.0.1.log', 'redis.6379.log', 'app.01.log', 'threshold.log', 'old'],
  ...[
    '',
    '.',
    '.gz',
    '.zst',
    '.1',
    '.old',
    '..1',
    '-1.log',
    '.1.log',
    '-20261115.log',
    '2026-11-15.log',
    '20261115',
    '123',
  ],
])('%j is no rotated name, even beside logs of similar names', (name) => {
  expect(parseRotatedName(name, BESIDE)).toBe(undefined);
});

test('the 29th of February exists in leap years only', () => {
  expect(parseRotatedName('app-2028-02-29.log', ALONE)?.family).toBe('app.log');
  expect(parseRotatedName('app-2026-02-29.log', ALONE)).toBe(undefined);
});

describe('a file of a style that is written directly can be live', () => {
  test.each(['app-2026-11-15.log', 'app-20261115.log', 'app-2026-11-15.log.1', 'app.log.2026-11-15', 'app.7.log'])(
    '%s can',
    (name) => expect(parseRotatedName(name, ALONE)?.canBeLive).toBe(true),
  );

  test.each([
    ...['app-2026-11-15.log.gz', 'app.7.log.gz', 'app.log.1', 'app.log.0', 'app.log-20261115', 'app.log-2026-11-15'],
    ...['app-2026-11-15T00-21-26.600.log', '0.log.20261115-002126', 'app.log.old', 'app-2026-11-15.log.old'],
  ])('%s cannot', (name) => expect(parseRotatedName(name, ALONE)?.canBeLive).toBe(false));
});

test('the name of a glog link consists of program and severity', () => {
  const name = 'etcd.host.example.org.root.log.WARNING.20261115-002126.7';
  expect(parseRotatedName(name, ALONE)).toMatchObject({ link: 'etcd.WARNING', canBeLive: true });
});
