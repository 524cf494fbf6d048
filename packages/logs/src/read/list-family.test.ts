import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupFamilies } from '../file/families.ts';
import { FLAT } from '../file/tree.ts';
import { DirListing, KeptFamilies } from './dir-listing.ts';

const PARTS = ['a', 'b.log', '.log', '-1', '.1', '-12', '.2', '.gz', '.old', '-2026-11-15', '.20261115', '.INFO'];
const name = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const entries = fc.uniqueArray(fc.record({ name, isDir: fc.nat(9).map((n) => n === 0) }), {
  selector: (entry) => entry.name,
  maxLength: 14,
});

test('the files of one log are the same as in a listing of all', async () => {
  const property = fc.asyncProperty(entries, async (all) => {
    const dir = tempDir();
    for (const entry of all) {
      if (entry.isDir) mkdirSync(join(dir, entry.name));
      else writeFileSync(join(dir, entry.name), '');
    }
    const statMany = () => Promise.reject(new Error('for many files only'));
    const listing = new DirListing(dir, { isHidden: () => false, tree: FLAT, statMany });
    const names = (await listing.all()).map((file) => file.name);
    const expected = groupFamilies(names);
    for (const family of expected) {
      const files = (await listing.ofFamily(family.name)).map((file) => file.name);
      expect(groupFamilies(files).find((found) => found.name === family.name)).toEqual(family);
    }
    // A file that is no log of its own does not become one.
    for (const file of all.filter((entry) => !expected.some((family) => family.name === entry.name))) {
      const files = (await listing.ofFamily(file.name)).map((found) => found.name);
      expect(groupFamilies(files).map((family) => family.name)).not.toContain(file.name);
    }
  });
  await fc.assert(property, { numRuns: runs(20) });
});

test('families of many names are kept for as long as the names are the same', async () => {
  const kept = new KeptFamilies();
  const names = Array.from({ length: 1500 }, (_, n) => `log-${n + 1}.log.1`).sort();
  const first = await kept.of(names);
  expect(await kept.of([...names])).toBe(first);
  const changed = names.with(7, 'zzz.log.1');
  const second = await kept.of(changed);
  expect([...second.families]).toEqual([...(await new KeptFamilies().of(changed)).families]);
  expect(second.memberships.get('zzz.log.1')).toEqual({ family: 'zzz.log', state: 'rotated' });
  expect(second.memberships.size).toBe(names.length);
  expect([...(await kept.of(names)).families]).toEqual([...first.families]);
});
