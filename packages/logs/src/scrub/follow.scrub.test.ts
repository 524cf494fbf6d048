import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem } from '../types.ts';
import { Scrubbing } from './scrubber.ts';

const SECRET = 'correct-horse';

interface Followed {
  file: string;
  rename(to: string): void;
  copyAndCut(to: string): void;
  records(): { raw: string; cursor: string }[];
}

async function followDir(first: string): Promise<Followed> {
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add([SECRET]);
  const file = join(dir, 'a.log');
  writeFileSync(file, first);
  const logs = openDir(dir, { scrubbing, pollMs: 20 });
  const items: FollowItem[] = [];
  const follow = logs.follow({ start: { back: 100 }, raw: true });
  await follow.next();
  // Ends when the directory is closed.
  void (async () => {
    for await (const batch of follow) items.push(...batch);
  })();
  return {
    file,
    rename: (to) => renameSync(file, join(dir, to)),
    copyAndCut(to) {
      copyFileSync(file, join(dir, to));
      truncateSync(file);
    },
    records: () => items.filter((item) => item.type === 'record').map(({ raw = '', cursor }) => ({ raw, cursor })),
  };
}

function line(index: number, text: string): string {
  return `2026-11-15 10:00:${String(index).padStart(2, '0')}.000\tINFO\ta.go:1\t${text}\n`;
}

test('secrets are masked before, during and after a rotation by rename, and no record is emitted twice', async () => {
  const { file, rename, records } = await followDir(line(1, `one ${SECRET}`));
  await eventually(() => expect(records()).toHaveLength(1));
  appendFileSync(file, `${line(2, `two ${SECRET}`)}${line(3, 'three correct-').trimEnd()}`);
  rename('a.log.1');
  writeFileSync(file, line(4, `four ${SECRET}`));
  appendFileSync(`${file}.1`, 'horse\n');
  await eventually(() =>
    expect(
      records()
        .map(({ raw }) => raw)
        .join('\n'),
    ).toMatch(/four \*{13}/),
  );
  const texts = records()
    .map(({ raw }) => raw)
    .join('\n');
  expect(texts).not.toContain(SECRET);
  for (const word of ['one ', 'two ', 'three ', 'four ']) expect(texts.split(word)).toHaveLength(2);
});

test('secrets are masked through a rotation by copying, including partially written ones', async () => {
  const { file, copyAndCut, records } = await followDir(line(1, `one ${SECRET}`));
  await eventually(() => expect(records()).toHaveLength(1));
  appendFileSync(file, line(2, `two ${SECRET}`));
  await eventually(() => expect(records()).toHaveLength(2));
  appendFileSync(file, line(3, 'three correct-ho').trimEnd());
  copyAndCut('a.log.1');
  appendFileSync(file, line(4, `four ${SECRET}`));
  await eventually(() =>
    expect(
      records()
        .map(({ raw }) => raw)
        .join('\n'),
    ).toMatch(/four \*{13}/),
  );
  const texts = records()
    .map(({ raw }) => raw)
    .join('\n');
  expect(texts).not.toContain('correct');
  for (const word of ['one ', 'two ', 'three ', 'four ']) expect(texts.split(word)).toHaveLength(2);
});
