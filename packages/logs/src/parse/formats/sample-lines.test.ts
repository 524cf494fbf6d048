import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { runSearch } from '../../testing/run-search.ts';
import { openDir } from '../../testing/temp-dir.ts';
import { createZone } from '../zone.ts';
import { joinSamples, samplePlaces } from './sample-lines.ts';

const KIB = 1024;
const zone = createZone('UTC');
const PRINTED = 'loaded plug-in from /opt/app/plug-ins\n';
const BEFORE = '17.11.2026 18:00:00 INFO old version\n';
const AFTER = '2026-11-18T06:00:00.000Z [ERROR] new version\n';

function repeat(line: string, bytes: number): string {
  return line.repeat(Math.ceil(bytes / line.length));
}

describe('samples of a file', () => {
  test('stay the same while it grows by less than a third', () => {
    expect(samplePlaces(64 * KIB)).toEqual([]);
    expect(samplePlaces(100 * KIB).map(({ start }) => start / KIB)).toEqual([80]);
    expect(samplePlaces(200 * KIB).map(({ start }) => start / KIB)).toEqual([96, 176]);
    expect(samplePlaces(255 * KIB)).toEqual(samplePlaces(192 * KIB));
    expect(samplePlaces(256 * KIB).map(({ start }) => start / KIB)).toEqual([128, 240]);
  });

  test('have whole lines only, but for a first line that is longer', () => {
    const parts = [Buffer.from('st of a\nb\nc'), Buffer.from('no line feed')];
    expect(joinSamples(Buffer.from('1\n2\n3'), parts).toString()).toBe('1\n2\nb\n');
    expect(joinSamples(Buffer.from('{"a":'), parts).toString()).toBe('{"a":\nb\n');
    expect(joinSamples(Buffer.from('1\n2'), []).toString()).toBe('1\n2');
  });

  test('show what a file has behind a long start without times', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), repeat(PRINTED, 70 * KIB) + repeat(AFTER, 200 * KIB));
    const opened = openDir(dir, { zone });
    expect(await opened.details()).toMatchObject([{ format: 'iso', lastTimeMs: Date.parse('2026-11-18T06:00:00Z') }]);
    const { records } = await runSearch(opened, { limit: 1, order: 'newest' });
    expect(records).toMatchObject([{ level: 'ERROR', timeMs: Date.parse('2026-11-18T06:00:00Z') }]);
  });

  test('show both heads of a file whose program was updated', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), repeat(BEFORE, 100 * KIB) + repeat(AFTER, 100 * KIB));
    const { records } = await runSearch(openDir(dir, { zone }), { limit: 1, order: 'newest' });
    expect(records).toMatchObject([{ level: 'ERROR', timeMs: Date.parse('2026-11-18T06:00:00Z') }]);
  });
});
