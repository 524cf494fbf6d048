import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const FILES = 6;
const ROTATIONS = 20;

const line = (number: number) =>
  `2026-11-15 10:00:${String(number).padStart(2, '0')}.000\tINFO\ta/b.go:1\t[x]: number ${number}\n`;

test('a search while files are being renamed one after the other finds every record once', async () => {
  const dir = tempDir();
  const path = (number: number) => join(dir, number === 0 ? 'app.log' : `app.log.${number}`);
  for (let number = 0; number < FILES; number++) await writeFile(path(number), line(FILES - number));
  const logs = openDir(dir);
  const search = async () => {
    const query = { src: ['app.log'], order: 'oldest', limit: 100, before: 0, after: 0 } as const;
    const messages: string[] = [];
    for await (const items of searchItems(logs, query))
      for (const item of items) if (item.type === 'record') messages.push(item.message);
    return messages.join();
  };
  const found = new Set<string>();
  for (let offset = 0; offset < ROTATIONS; offset++) {
    const rotate = async () => {
      for (let number = FILES - 1; number >= 0; number--)
        await rename(path(number + offset), path(number + offset + 1));
    };
    const [first, second] = await Promise.all([search(), search(), rotate()]);
    found.add(first).add(second);
  }
  expect([...found]).toEqual([Array.from({ length: FILES }, (_, index) => `number ${index + 1}`).join()]);
});
