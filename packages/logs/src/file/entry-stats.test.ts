import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { EntryStats } from './entry-stats.ts';

describe('the stats of entries', () => {
  it('are left to the pool until the file system is known', async () => {
    const entries = new EntryStats(tempDir());
    expect(entries.isLocal).toBe(false);
    await entries.check();
    expect(entries.isLocal).toBe(true);
  });

  it('are those of the entry now, of a link its own', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    const entries = new EntryStats(dir);
    await entries.check();
    expect(() => entries.statNow(path)).toThrow('ENOENT');
    writeFileSync(path, 'one\n');
    expect(entries.statNow(path).size).toBe(4n);
    writeFileSync(`${path}.new`, 'three\n');
    renameSync(`${path}.new`, path);
    expect(entries.statNow(path).size).toBe(6n);
    symlinkSync(path, join(dir, 'link.log'));
    expect(entries.statNow(join(dir, 'link.log')).isSymbolicLink()).toBe(true);
  });

  it.each(['/proc', '/nowhere/at/all'])('of %s, which may hang or is not there, stay with the pool', async (dir) => {
    const entries = new EntryStats(dir);
    await entries.check();
    expect(entries.isLocal).toBe(false);
  });
});
