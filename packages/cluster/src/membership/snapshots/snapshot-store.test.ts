import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { member, snapshot } from '../../state/testing/fake-deps.ts';
import { NODE, record } from '../../state/testing/fake-node.ts';
import { serializeSnapshot } from './member-snapshot.ts';
import { createSnapshotStore } from './snapshot-store.ts';

const LIMITS = { maxBytes: 1_000_000 };

const fileMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('what is saved', () => {
  it('is loaded again as it was', async () => {
    const store = createSnapshotStore(join(tempDir(), 'a', 'words'));
    const said = snapshot('a', {
      clock: { offsetMs: 1.5, uncertaintyMs: 2 },
      config: { config: 'a = 1\n', node: NODE },
      records: [record('last', { timeMs: 5 }), record('before')],
    });
    await store.save(said);
    expect(await store.load(LIMITS)).toEqual({ snapshots: [said], skipped: [] });
    await store.remove('a');
    await store.remove('a');
    expect(await store.load(LIMITS)).toEqual({ snapshots: [], skipped: [] });
  });

  it('is for this user only, also in a directory that was open before', async () => {
    const dir = join(tempDir(), 'words');
    mkdirSync(dir, { mode: 0o755 });
    await createSnapshotStore(dir).save(snapshot('a'));
    expect(fileMode(dir)).toBe('700');
    expect(readdirSync(dir).map((name) => fileMode(join(dir, name)))).toEqual(['600']);
  });

  it('is complete despite concurrent writers, and leaves nothing half done', async () => {
    const dir = tempDir();
    const stores = [createSnapshotStore(dir), createSnapshotStore(dir)];
    const texts = Array.from({ length: 20 }, (_, place) => `${place}`.repeat(10_000));
    await Promise.all(texts.map((text, place) => stores[place % 2]?.save(snapshot('a', { records: [record(text)] }))));
    const { snapshots: loaded, skipped } = await createSnapshotStore(dir).load(LIMITS);
    expect(skipped).toEqual([]);
    expect(texts).toContain(loaded[0]?.records[0]?.message);
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it.each(['../../etc/passwd', '..', '.', 'a/b', 'x'.repeat(5000), '\u0000'])(
    'stays in its directory: %j',
    async (id) => {
      const dir = join(tempDir(), 'words');
      await createSnapshotStore(dir).save(snapshot(id));
      expect(readdirSync(dir).every((name) => /^words-[0-9a-f]{32}\.json$/.test(name))).toBe(true);
      expect(readdirSync(join(dir, '..'))).toEqual(['words']);
    },
  );
});

describe('what others put there', () => {
  async function loadWith(put: (dir: string, name: string) => void) {
    const dir = tempDir();
    const store = createSnapshotStore(dir);
    await store.save(snapshot('good'));
    await store.save(snapshot('victim'));
    const good = snapshot('good');
    const name =
      readdirSync(dir).find((file) => readFileSync(join(dir, file), 'utf8') !== serializeSnapshot(good)) ?? '';
    rmSync(join(dir, name));
    put(dir, name);
    const { snapshots: loaded, skipped } = await store.load(LIMITS);
    expect(loaded.map((said) => said.member.id)).toEqual(['good']);
    return skipped.map((problem) => problem.replace(name, 'NAME'));
  }

  const change = (given: object) => JSON.stringify({ ...JSON.parse(serializeSnapshot(snapshot('victim'))), ...given });

  it.each([
    ['broken', '{"version":1,'],
    ['empty', ''],
    ['not words', '[]'],
    ['a later version', change({ version: 2 })],
    ['with an id that is a path', change({ member: member('../x') })],
    ['without a node', change({ member: { ...member('victim'), node: null } })],
    ['with records that are none', change({ records: [{ type: 'end' }] })],
    ['with a time that is none', change({ asOfMs: 1e300 })],
    ['with a configuration that is none', change({ config: 'a = 1' })],
    ['with a clock that is none', change({ clock: { offsetMs: 'x' } })],
  ])('%s is skipped and reported', async (_what, text) => {
    expect(await loadWith((dir, name) => writeFileSync(join(dir, name), text))).toEqual(['NAME: invalid content']);
  });

  it('the snapshot of another member is skipped', async () => {
    const skipped = await loadWith((dir, name) => writeFileSync(join(dir, name), serializeSnapshot(snapshot('other'))));
    expect(skipped).toEqual(['NAME: the file name belongs to another member']);
  });

  it('links, directories and pipes are not read', async () => {
    const secret = join(tempDir(), 'secret');
    writeFileSync(secret, serializeSnapshot(snapshot('victim')));
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
    const store = createSnapshotStore(dir);
    for (const id of ['a', 'b', 'c']) await store.save(snapshot(id, { records: [record('x'.repeat(1000))] }));
    const { snapshots: loaded, skipped } = await store.load({ maxBytes: 5500 });
    expect([loaded.length, skipped.length]).toEqual([2, 1]);
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('files of other names are left alone, what was half written is removed', async () => {
    const dir = tempDir();
    const half = `words-${'0'.repeat(32)}.00000000-0000-4000-8000-000000000000.tmp`;
    for (const name of ['notes.txt', half]) writeFileSync(join(dir, name), 'x');
    expect(await createSnapshotStore(dir).load(LIMITS)).toEqual({ snapshots: [], skipped: [] });
    expect(readdirSync(dir)).toEqual(['notes.txt']);
  });
});
