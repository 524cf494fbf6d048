import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { parseUserFormats } from './parse/user-format.ts';
import { createZone } from './parse/zone.ts';
import { eventually } from './testing/eventually.ts';
import { searchItems } from './testing/run-search.ts';
import { openDir } from './testing/temp-dir.ts';
import type { FoundRecord, SearchQuery } from './types.ts';

const { formats } = parseUserFormats([
  {
    name: 'gateway',
    lines: '{level};{time};{device};{message}',
    times: 'dd.MM.yyyy HH:mm:ss',
    levels: { ALARM: 'error', OK: 'info' },
  },
]);
const line = (second: number, level = 'OK') =>
  `${level};15.11.2026 10:00:${String(second).padStart(2, '0')};sensor-7;value ${second}\n  raw\n`;
const FIRST_MS = Date.parse('2026-11-15T10:00:00Z');
const ALL: SearchQuery = { order: 'oldest', limit: 1000, before: 0, after: 0 };

/** A log with a compressed rotated file, read with the format, in the threads that all tests share. */
function gatewayDir(options = {}) {
  const path = tempDir();
  writeFileSync(join(path, 'gateway.log.1.gz'), gzipSync(line(0) + line(1, 'ALARM')));
  writeFileSync(join(path, 'gateway.log'), line(2) + line(3, 'ALARM'));
  return { path, dir: openDir(path, { zone: createZone('UTC'), formats, ...options }) };
}

async function search(dir: ReturnType<typeof openDir>, query: Partial<SearchQuery>): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const batch of searchItems(dir, { ...ALL, ...query }))
    for (const item of batch) if (item.type === 'record') found.push(item);
  return found;
}

it.each([{}, { scansHere: true, workers: 1 }])(
  'a format from the settings works in every query, with %j',
  async (options) => {
    const { path, dir } = gatewayDir(options);
    expect(await dir.details()).toMatchObject([
      { name: 'gateway.log', format: 'gateway', firstTimeMs: FIRST_MS + 2000, lastTimeMs: FIRST_MS + 3000 },
      { name: 'gateway.log.1.gz', format: 'gateway', firstTimeMs: FIRST_MS },
    ]);
    expect(await search(dir, { src: ['gateway.log'], fromMs: FIRST_MS + 1000, minLevel: 'WARN' })).toMatchObject([
      { timeMs: FIRST_MS + 1000, level: 'ERROR', message: 'value 1\n  raw', context: { device: 'sensor-7' } },
      { timeMs: FIRST_MS + 3000, level: 'ERROR', message: 'value 3\n  raw' },
    ]);
    const { buckets } = await dir.histogram({ fromMs: FIRST_MS, toMs: FIRST_MS + 4000, bucketMs: 1000, buckets: 4 });
    expect(buckets.map(({ counts }) => counts)).toEqual([{ INFO: 1 }, { ERROR: 1 }, { INFO: 1 }, { ERROR: 1 }]);
    const { groups } = await dir.digest({ limit: 10 });
    expect(groups.map(({ count, level }) => ({ count, level }))).toEqual(
      expect.arrayContaining([
        { count: 2, level: 'ERROR' },
        { count: 2, level: 'INFO' },
      ]),
    );

    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const followed: object[] = [];
    void (async () => {
      for await (const batch of dir.follow({ start: { back: 1 } }, { signal: leaving.signal }))
        followed.push(...batch.filter(({ type }) => type === 'record'));
    })();
    await eventually(() => expect(followed[0]).toMatchObject({ timeMs: FIRST_MS + 3000, level: 'ERROR' }));
    appendFileSync(join(path, 'gateway.log'), line(4) + line(5));
    await eventually(() => expect(followed[1]).toMatchObject({ timeMs: FIRST_MS + 4000, level: 'INFO' }));
  },
);

it('threads describe many files with it', async () => {
  const path = tempDir();
  for (let index = 0; index < 1000; index++) writeFileSync(join(path, `g${index}.log`), line(2));
  const details = await openDir(path, { zone: createZone('UTC'), formats }).details();
  expect(new Set(details.map(({ format, firstTimeMs }) => `${format} ${firstTimeMs}`))).toEqual(
    new Set([`gateway ${FIRST_MS + 2000}`]),
  );
});

it.each([
  ['docker', (text: string) => JSON.stringify({ log: `${text}\n`, stream: 'stdout', time: '2026-11-15T10:00:09Z' })],
  ['cri', (text: string) => `2026-11-15T10:00:09.000000000Z stdout F ${text}`],
])('applies to the lines inside those of %s', async (wrapper, wrap) => {
  const path = tempDir();
  const lines = [line(2), line(3, 'ALARM')].join('').trimEnd().split('\n');
  writeFileSync(join(path, 'pod.log'), lines.map((text) => `${wrap(text)}\n`).join(''));
  const dir = openDir(path, { zone: createZone('UTC'), formats });
  expect(await dir.details()).toMatchObject([{ format: `${wrapper}+gateway`, firstTimeMs: FIRST_MS + 2000 }]);
  expect(await search(dir, { src: ['pod.log'], minLevel: 'WARN' })).toMatchObject([
    { timeMs: FIRST_MS + 3000, level: 'ERROR', message: 'value 3\n  raw', context: { device: 'sensor-7' } },
  ]);
});
