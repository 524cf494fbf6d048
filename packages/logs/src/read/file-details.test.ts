import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { LogFileDetails } from '../types.ts';
import { describedAt, describeFiles } from './describe-files.ts';
import { KeptFamilies } from './dir-listing.ts';
import { FileDetails } from './file-details.ts';
import { listFiles, type SeenFile, SeenStats } from './list.ts';
import { statEntries } from './stat-entries.ts';

const zone = createZone('UTC');
const isCancelled = () => false;
const CONTRACT = '2026-11-15 05:00:00.000\tINFO\ta.go:1\tline\n';

/** Files of every kind, and other entries. */
const KINDS: Readonly<Record<string, string | Buffer>> = {
  'contract.log': CONTRACT.repeat(3),
  'large.log': CONTRACT.repeat(5000),
  'unended.log': `${CONTRACT}no newline`,
  'json.log': '{"time":"2026-11-15T05:00:00Z","level":"info","msg":"a"}\n',
  'nginx.log': '10.0.0.1 - - [15/Nov/2026:05:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"\n',
  'text.log': 'nothing but text\n',
  'binary.log': Buffer.from([0, 1, 2, 3, 10, 0]),
  'empty.log': '',
  'packed.log.gz': gzipSync(CONTRACT),
  'a b ü.log': CONTRACT,
};

/** Getters are not compared by default. */
function withStats({ stats, ...rest }: SeenFile) {
  const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } = stats;
  return { ...rest, stats: { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } };
}

function writeKinds(): string {
  const dir = tempDir();
  for (const [name, text] of Object.entries(KINDS)) writeFileSync(join(dir, name), text);
  mkdirSync(join(dir, 'folder'));
  symlinkSync('contract.log', join(dir, 'link.log'));
  symlinkSync('/etc/passwd', join(dir, 'outside.log'));
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0x2e, 0x6c])]), CONTRACT);
  return dir;
}

describe('worker threads that examine many files', () => {
  it('return the same as examining each of them', async () => {
    const dir = writeKinds();
    const details = await openDir(dir, { zone }).details();
    const plain = details.filter(({ name, compressed }) => !compressed && Object.hasOwn(KINDS, name));
    expect(plain.length).toBeGreaterThan(7);
    const names = plain.map(({ name }) => name);
    const result = describeFiles({ kind: 'describe', dir, names, zone: 'UTC' }, { zone, isCancelled });
    const described = names.map((_, index) => describedAt(result, index));
    expect(described).toMatchObject(
      plain.map(({ format, firstTimeMs, lastTimeMs }) => ({ format, firstTimeMs, lastTimeMs })),
    );
  });

  it('follow no links and open nothing but files', () => {
    const dir = writeKinds();
    const names = ['link.log', 'outside.log', 'folder', 'missing.log', '../etc'];
    const result = describeFiles({ kind: 'describe', dir, names, zone: 'UTC' }, { zone, isCancelled });
    expect(names.map((_, index) => describedAt(result, index))).toEqual(names.map(() => undefined));
  });

  it('list the same files', async () => {
    const dir = writeKinds();
    const statMany = async (names: readonly string[]) => statEntries({ kind: 'stat', dir, names }, isCancelled);
    const [one, many] = await Promise.all([listFiles(dir), listFiles(dir, { statMany, manyFrom: 1 })]);
    expect(many.map(withStats)).toEqual(one.map(withStats));
    expect(many.map(({ name }) => name)).toContain('link.log');
    expect(many.map(({ name }) => name)).not.toContain('outside.log');
  });

  it('return a directory of thousands completely', async () => {
    const dir = writeKinds();
    for (let number = 0; number < 1200; number++) writeFileSync(join(dir, `s-${number}.log`), CONTRACT);
    const logs = openDir(dir, { zone });
    const details = await logs.details();
    // The last time of an archive is determined after the response.
    const known = (all: LogFileDetails[]) =>
      all.map(({ lastTimeMs, ...rest }) => ({ ...rest, lastTimeMs: rest.compressed ? null : lastTimeMs }));
    expect(known(details)).toEqual(known(await logs.details()));
    expect(details).toHaveLength(1200 + Object.keys(KINDS).length + 2);
    const timeMs = Date.UTC(2026, 10, 15, 5);
    const found = details.filter(({ name }) => name.startsWith('s-'));
    expect(found.every(({ format, lastTimeMs }) => format === 'contract' && lastTimeMs === timeMs)).toBe(true);
    expect(details.find(({ name }) => name === 'link.log')).toMatchObject({ format: 'contract', problem: null });
  });
});

describe('details of many files', () => {
  const stats = new SeenStats(BigInt64Array.of(1n, 1n, 1n, 0n, 0n, 0n), 0);
  const files = Array.from(
    { length: 20_000 },
    (_, n): SeenFile => ({ name: `${n}.log`, size: 1, stats, isLink: false }),
  );
  const look = { format: 'text', firstTimeMs: null, lastTimeMs: null } as const;
  const packed = (names: readonly string[]) => ({
    formats: new Uint16Array(names.length),
    formatNames: ['text'],
    times: new Float64Array(2 * names.length),
  });

  it('are shared by concurrent requests, and yield to others', async () => {
    const seen = { lists: 0, described: 0, turns: 0 };
    const details = new FileDetails({
      list: async () => {
        seen.lists++;
        return files;
      },
      families: (names) => new KeptFamilies().of(names),
      describe: async () => ({ ...look, problem: null }),
      describeMany: async (names) => {
        seen.described += names.length;
        return packed(names);
      },
      lastTime: async () => null,
    });
    let isDone = false;
    const turns = (async () => {
      for (; !isDone; seen.turns++) await nextTurn();
    })();
    const responses = await Promise.all(Array.from({ length: 10 }, () => details.all()));
    isDone = true;
    await turns;
    for (const response of responses) expect(response).toHaveLength(files.length);
    // One is running when the others arrive: they share the next.
    expect(seen).toMatchObject({ lists: 2, described: files.length });
    expect(seen.turns).toBeGreaterThan(10);
  });
});

it('the last time of a compressed file that is found while the files are listed again is kept', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log.1.gz'), gzipSync(CONTRACT));
  const files = await listFiles(dir);
  let foundTime = (_ms: number) => {};
  const found = new Promise<number>((resolve) => {
    foundTime = resolve;
  });
  let whileListing = async () => {};
  const details = new FileDetails({
    list: async () => files,
    families: async (names) => {
      await whileListing();
      return new KeptFamilies().of(names);
    },
    describe: async () => ({ format: 'text', firstTimeMs: null, lastTimeMs: null, problem: null }),
    describeMany: () => expect.unreachable(),
    lastTime: () => found,
  });
  expect(await details.all()).toMatchObject([{ lastTimeMs: null }]);
  whileListing = async () => {
    foundTime(7);
    await nextTurn();
  };
  expect(await details.all()).toMatchObject([{ lastTimeMs: 7 }]);
  expect(await details.all()).toMatchObject([{ lastTimeMs: 7 }]);
});
