import { appendFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { FLAT } from '../file/tree.ts';
import { eventually } from '../testing/eventually.ts';
import { DirListing } from './dir-listing.ts';

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

test('a listing is current until an entry of the directory has changed', async () => {
  const dir = tempDir();
  const path = (name: string) => join(dir, name);
  for (const name of ['a.log', 'b.log']) writeFileSync(path(name), 'text\n');
  const listing = new DirListing(dir, { isHidden: () => false, tree: FLAT, statMany: () => Promise.reject() });
  let hours = 0;
  /** A listing of a directory that counts as unchanged for long. */
  const list = async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ++hours * HOUR_MS });
    return listing.all();
  };
  expect(listing.isCurrent(await listing.all())).toBe(false);
  await eventually(async () => expect(listing.isCurrent(await list())).toBe(true));
  const changes = [
    () => writeFileSync(path('c.log'), ''),
    () => renameSync(path('c.log'), path('a.log')),
    () => unlinkSync(path('b.log')),
  ];
  for (const change of changes) {
    const files = await list();
    appendFileSync(path('a.log'), 'more\n');
    expect(listing.isCurrent(files)).toBe(true);
    change();
    expect(listing.isCurrent(files)).toBe(false);
  }
  symlinkSync('a.log', path('link.log'));
  expect(listing.isCurrent(await list())).toBe(false);
});
