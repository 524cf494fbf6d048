import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import type { FollowedText, FoundRecord } from '@porthole/logs/types';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { Recording, RecordingRefused } from './recording.ts';

const MIB = 1024 ** 2;
const NOW_MS = Date.parse('2026-11-15T04:00:00Z');
const HEAD = '0123456789abcdef.sg';

function bytesBelow(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function openRecording() {
  const dir = tempDir();
  const open = () => Recording.open(dir, { maxBytes: MIB, maxMs: 3_600_000 }, () => NOW_MS);
  const recording = await open();
  recording.facts = { ...recording.facts, sinceMs: 0 };
  return { dir, recording, open };
}

let offset = 0;

function record(raw: string, more: Partial<FoundRecord> = {}): FoundRecord {
  const place = { file: 'app.log', offset, bytes: raw.length + 1, cursor: `${HEAD}.${offset}.1.1s.YQ` };
  offset += place.bytes;
  return { ...place, type: 'record', raw, timeMs: NOW_MS, message: 'm', ...more } as FoundRecord;
}

function text(content: string): FollowedText {
  const deflated = deflateRawSync(content).toString('base64');
  const place = { file: 'app.log', offset, bytes: content.length, cursor: `${HEAD}.${offset}.1.1s.YQ` };
  offset += place.bytes;
  return { ...place, type: 'text', deflated, timeMs: NOW_MS, lastMs: NOW_MS } as unknown as FollowedText;
}

it('a line that does not end is cut at the limit, said to be missing, and refused in the end', async () => {
  const { dir, recording } = await openRecording();
  await recording.append([record('the line before')]);
  const part = 'x'.repeat(MIB - 1);
  const endless = async () => {
    for (let sent = 0; sent < 400; sent++) {
      await recording.append([record(part, { ...(sent > 0 && { continued: true }) })]);
      expect(bytesBelow(dir)).toBeLessThanOrEqual(MIB);
      expect(recording.bytes).toBeLessThanOrEqual(MIB);
    }
  };
  await expect(endless()).rejects.toThrow(RecordingRefused);
  expect(recording.facts.sinceMs).toBe(NOW_MS);
});

it('an honest line of a hundred times the limit is cut, and what follows it is recorded', async () => {
  const { dir, recording, open } = await openRecording();
  const part = 'x'.repeat(MIB - 1);
  for (let sent = 0; sent < 100; sent++)
    await recording.append([record(part, { ...(sent > 0 && { continued: true }) })]);
  await recording.append([record('the line behind it')]);
  expect(bytesBelow(dir)).toBeLessThanOrEqual(MIB);
  const end = recording.resume();
  const again = await open();
  expect(again.bytes).toBe(recording.bytes);
  again.facts = recording.facts;
  expect(again.resume()).toEqual(end);
});

it('what unpacks to many times the limit is never on disk, whatever comes at once', async () => {
  const { dir, recording } = await openRecording();
  await recording.append(Array.from({ length: 30 }, () => text(`${'y'.repeat(MIB - 1)}\n`)));
  expect(bytesBelow(dir)).toBeLessThanOrEqual(MIB);
});

it('positions of files with long names are part of the limit', async () => {
  const { dir, recording, open } = await openRecording();
  const records = Array.from({ length: 8000 }, (_, n) => {
    const file = `${'long'.repeat(45)}-${n % 50}.log`;
    return record('z', { file, offset: n * 1000, cursor: `${HEAD}.${n * 1000}.1.1s.YQ` });
  });
  for (let from = 0; from < records.length; from += 500) {
    await recording.append(records.slice(from, from + 500));
    expect(bytesBelow(dir)).toBeLessThanOrEqual(MIB);
  }
  expect((await open()).bytes).toBe(recording.bytes);
});
