import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { member, profile } from '../../state/testing/fake-deps.ts';
import { file, NODE } from '../../state/testing/fake-node.ts';
import { serializeProfile } from './member-profile.ts';
import { createProfileStore } from './profile-store.ts';

const LIMITS = { maxBytes: 1_000_000 };

const fileMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('what is saved', () => {
  it('is loaded again as it was', async () => {
    const store = createProfileStore(join(tempDir(), 'a', 'words'));
    const said = profile('a', {
      clock: { offsetMs: 1.5, uncertaintyMs: 2 },
      config: { config: 'a = 1\n', node: NODE },
      files: [file()],
    });
    await store.save(said);
    expect(await store.load(LIMITS)).toEqual({ profiles: [said], skipped: [] });
    await store.remove('a');
    await store.remove('a');
    expect(await store.load(LIMITS)).toEqual({ profiles: [], skipped: [] });
  });

  it('is for this user only, also in a directory that was open before', async () => {
    const dir = join(tempDir(), 'words');
    mkdirSync(dir, { mode: 0o755 });
    await createProfileStore(dir).save(profile('a'));
    expect(fileMode(dir)).toBe('700');
    expect(fileMode(join(dir, 'a'))).toBe('700');
    expect(fileMode(join(dir, 'a', 'member.json'))).toBe('600');
  });

  it('is complete despite concurrent writers, and leaves nothing half done', async () => {
    const dir = tempDir();
    const stores = [createProfileStore(dir), createProfileStore(dir)];
    const texts = Array.from({ length: 20 }, (_, place) => `${place}`.repeat(10_000));
    await Promise.all(
      texts.map((text, place) => stores[place % 2]?.save(profile('a', { config: { config: text, node: NODE } }))),
    );
    const { profiles: loaded, skipped } = await createProfileStore(dir).load(LIMITS);
    expect(skipped).toEqual([]);
    expect(texts).toContain(loaded[0]?.config?.config);
    expect(readdirSync(join(dir, 'a'))).toEqual(['member.json']);
  });

  it('leaves what was recorded of a member, which is deleted for itself', async () => {
    const dir = tempDir();
    const store = createProfileStore(dir);
    await store.save(profile('a'));
    mkdirSync(join(dir, 'a', 'log'));
    await store.remove('a');
    expect(readdirSync(join(dir, 'a'))).toEqual(['log']);
  });
});

describe('what others put there', () => {
  async function loadWith(put: (dir: string, name: string) => void) {
    const dir = tempDir();
    const store = createProfileStore(dir);
    await store.save(profile('good'));
    await store.save(profile('victim'));
    const name = join('victim', 'member.json');
    rmSync(join(dir, name));
    put(dir, name);
    const { profiles: loaded, skipped } = await store.load(LIMITS);
    expect(loaded.map((said) => said.member.id)).toEqual(['good']);
    return skipped.map((problem) => problem.replace('victim', 'NAME'));
  }

  const change = (given: object) => JSON.stringify({ ...JSON.parse(serializeProfile(profile('victim'))), ...given });

  it.each([
    ['broken', '{"version":1,'],
    ['empty', ''],
    ['not words', '[]'],
    ['a later version', change({ version: 2 })],
    ['with an id that is a path', change({ member: member('../x') })],
    ['without a node', change({ member: { ...member('victim'), node: null } })],
    ['with files that are none', change({ files: [{ type: 'end' }] })],
    ['with a time that is none', change({ asOfMs: 1e300 })],
    ['with a configuration that is none', change({ config: 'a = 1' })],
    ['with a clock that is none', change({ clock: { offsetMs: 'x' } })],
  ])('%s is skipped and reported', async (_what, text) => {
    expect(await loadWith((dir, name) => writeFileSync(join(dir, name), text))).toEqual(['NAME: invalid content']);
  });

  it('the profile of another member is skipped', async () => {
    const skipped = await loadWith((dir, name) => writeFileSync(join(dir, name), serializeProfile(profile('other'))));
    expect(skipped).toEqual(['NAME: the directory belongs to another member']);
  });

  it('links, directories and pipes are not read', async () => {
    const secret = join(tempDir(), 'secret');
    writeFileSync(secret, serializeProfile(profile('victim')));
    expect(await loadWith((dir, name) => symlinkSync(secret, join(dir, name)))).toEqual([
      expect.stringContaining('ELOOP'),
    ]);
    expect(await loadWith((dir, name) => mkdirSync(join(dir, name)))).toEqual(['NAME: not a regular file']);
    const pipe = (dir: string, name: string) => execFileSync('mkfifo', [join(dir, name)]);
    expect(await loadWith(pipe)).toEqual(['NAME: not a regular file']);
  });

  it('what is too large, by itself or in all, is not read', async () => {
    const huge = (dir: string, name: string) => writeFileSync(join(dir, name), Buffer.alloc(9 * 1024 * 1024));
    expect(await loadWith(huge)).toEqual([expect.stringContaining('larger than')]);
    const dir = tempDir();
    const store = createProfileStore(dir);
    for (const id of ['a', 'b', 'c'])
      await store.save(profile(id, { config: { config: 'x'.repeat(1000), node: NODE } }));
    const { profiles: loaded, skipped } = await store.load({ maxBytes: 3500 });
    expect([loaded.length, skipped.length]).toEqual([2, 1]);
    expect(readdirSync(dir).filter((id) => readdirSync(join(dir, id)).length > 0)).toHaveLength(2);
  });

  it('files of other names are left alone', async () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'a'));
    for (const name of ['notes.txt', 'a/notes.txt']) writeFileSync(join(dir, name), 'x');
    expect(await createProfileStore(dir).load(LIMITS)).toEqual({ profiles: [], skipped: [] });
    expect(readdirSync(dir, { recursive: true }).sort()).toEqual(['a', 'a/notes.txt', 'notes.txt']);
  });
});
