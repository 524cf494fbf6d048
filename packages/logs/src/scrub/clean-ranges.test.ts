import { appendFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir, tempDir } from '../testing/temp-dir.ts';
import { Scrubbing } from './scrubber.ts';

const LINE = '2026-11-15 10:00:00.000\tINFO\ta.go:1\tordinary text\n';
const SECRET_LINE = '2026-11-15 10:00:00.000\tINFO\ta.go:1\tcorrect-horse\n';
const LINES = Math.ceil((3 * BLOCK_BYTES) / LINE.length);

async function find(logs: LogDir, text: string): Promise<number> {
  let records = 0;
  const query = { order: 'oldest', limit: 10, before: 0, after: 0, terms: [text] } as const;
  for await (const items of searchItems(logs, query)) records += items.filter(({ type }) => type === 'record').length;
  return records;
}

function textWith(line: string, at: number): string {
  return LINE.repeat(at) + line + LINE.repeat(LINES - at);
}

test('a part known to contain no secret is scanned again after it changed', async () => {
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add(['correct-horse']);
  const logs = openDir(dir, { scrubbing });
  const file = join(dir, 'a.log');
  const hour = Date.now() / 1000 - 3600;
  for (const isQuiet of [false, true]) {
    writeFileSync(file, textWith(LINE, 0));
    if (isQuiet) utimesSync(file, hour, hour);
    // For any query, by any thread: all parts are known afterwards.
    for (const text of ['nothing', 'correct', 'nothing', 'horse']) expect(await find(logs, text)).toBe(0);
    for (const at of [10, Math.floor(LINES / 2), LINES - 10]) {
      writeFileSync(file, textWith(SECRET_LINE, at));
      if (isQuiet) utimesSync(file, hour, hour);
      expect(await find(logs, 'correct-horse')).toBe(0);
      expect(await find(logs, '*************')).toBe(1);
      const { size } = statSync(file);
      appendFileSync(file, LINE);
      expect(statSync(file).size).toBeGreaterThan(size);
      expect(await find(logs, 'correct')).toBe(0);
    }
  }
});

test('a part known to contain no secret is scanned again when there is a new secret', async () => {
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add(['another-secret']);
  const logs = openDir(dir, { scrubbing });
  writeFileSync(join(dir, 'a.log'), textWith(SECRET_LINE, 10));
  for (let turn = 0; turn < 4; turn++) expect(await find(logs, 'correct-horse')).toBe(1);
  scrubbing.add(['correct-horse']);
  expect(await find(logs, 'correct-horse')).toBe(0);
});
