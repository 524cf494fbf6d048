import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import type { LogDirOptions } from '../log-dir.ts';
import { eventually } from '../testing/eventually.ts';
import { readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const TREE = { depth: 3, maxEntries: 100, roots: [] as string[] };

const line = (second: number, text: string) =>
  `2026-06-01 10:00:${String(second).padStart(2, '0')}.000\tINFO\ta.go:1\t${text}\n`;

/** A directory with these files; names may have directories. */
function dirWith(files: Record<string, string | Buffer>): string {
  const dir = tempDir();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

const POD = 'pods/shop_cart-7d9f_0c1d/cart';
const FILES = {
  'app.log': line(1, 'app'),
  'nginx/access.log': line(3, 'nginx'),
  'nginx/access.log.1.gz': gzipSync(line(2, 'nginx before')),
  [`${POD}/0.log`]: line(5, 'cart'),
  [`${POD}/0.log.20260601-100004`]: line(4, 'cart before'),
};

const open = (dir: string, options: LogDirOptions = {}) => openDir(dir, { tree: TREE, ...options });
const names = async (dir: string, options?: LogDirOptions) =>
  (await open(dir, options).details()).map(({ name }) => name);

describe('files in directories below', () => {
  test('are logs of their own, with their rotated files', async () => {
    const logs = open(dirWith(FILES));
    const details = await logs.details();
    expect(details.map(({ name, family, state, format }) => [name, family, state, format])).toEqual([
      ['app.log', 'app.log', 'live', 'contract'],
      ['nginx/access.log', 'nginx/access.log', 'live', 'contract'],
      ['nginx/access.log.1.gz', 'nginx/access.log', 'rotated', 'contract'],
      [`${POD}/0.log`, `${POD}/0.log`, 'live', 'contract'],
      [`${POD}/0.log.20260601-100004`, `${POD}/0.log`, 'rotated', 'contract'],
    ]);
    const { records, end } = await runSearch(logs, {});
    expect(records.map(({ message }) => message)).toEqual(['app', 'nginx before', 'nginx', 'cart before', 'cart']);
    expect(end.problems).toEqual([]);
    const family = await runSearch(logs, { src: ['/nginx/access.log'], order: 'newest' });
    expect(family.records.map(({ file }) => file)).toEqual(['nginx/access.log', 'nginx/access.log.1.gz']);
    const file = await runSearch(logs, { src: [`=${POD}/0.log`] });
    expect(file.records).toHaveLength(1);
    const log = await logs.open('nginx/access.log');
    expect(log.sizeBytes).toBe(line(3, 'nginx').length);
    await log.close();
  });

  test('are not part of the three basic operations, and not read unless that is on', async () => {
    const dir = dirWith(FILES);
    expect(await open(dir).list()).toEqual([{ name: 'app.log', size: line(1, 'app').length }]);
    const refusal = { code: 'FILE_NAME_INVALID' };
    await expect(readTail(open(dir), 'nginx/access.log', 100)).rejects.toMatchObject(refusal);
    const flat = openDir(dir);
    expect((await flat.details()).map(({ name }) => name)).toEqual(['app.log']);
    await expect(flat.open('nginx/access.log')).rejects.toMatchObject(refusal);
  });

  test('are followed through rotation, and new ones are found', async () => {
    const dir = dirWith({ 'nginx/access.log': line(1, 'old') });
    const logs = open(dir, { pollMs: 20 });
    const leaving = new AbortController();
    const messages: string[] = [];
    const following = (async () => {
      for await (const batch of logs.follow({ start: 'end' }, { signal: leaving.signal })) {
        for (const item of batch) if (item.type === 'record') messages.push(`${item.file} ${item.message}`);
        if (batch.length === 0) appendFileSync(join(dir, 'nginx/access.log'), line(2, 'appended'));
      }
    })();
    const waitFor = (wanted: string) => eventually(() => expect(messages).toContain(wanted));
    await waitFor('nginx/access.log appended');
    renameSync(join(dir, 'nginx/access.log'), join(dir, 'nginx/access.log.1'));
    writeFileSync(join(dir, 'nginx/access.log'), line(3, 'rotated'));
    await waitFor('nginx/access.log rotated');
    mkdirSync(join(dir, 'new/pod'), { recursive: true });
    writeFileSync(join(dir, 'new/pod/0.log'), line(4, 'created'));
    await waitFor('new/pod/0.log created');
    leaving.abort();
    await following;
  });

  test('are limited in depth and number, and what is left out is reported', async () => {
    const dir = dirWith({ 'a.log': line(1, 'a'), 'b/1/2/3/deep.log': line(2, 'deep'), 'b/1/2/ok.log': line(3, 'ok') });
    expect(await names(dir)).toEqual(['a.log', 'b/1/2/ok.log']);
    await expect(open(dir).open('b/1/2/3/deep.log')).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
    const many = dirWith(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`d/${i + 10}.log`, line(i, 'x')])));
    const logs = open(many, { tree: { ...TREE, maxEntries: 5 } });
    const { records, end } = await runSearch(logs, {});
    expect(records).toHaveLength(5);
    expect(end.problems).toMatchObject([{ file: 'd', code: 'TOO_MANY_FILES' }]);
  });
});

describe('links', () => {
  test('lead to other directories only if those are allowed', async () => {
    const outside = dirWith({ 'docker/json.log': line(1, 'container'), 'secret.log': line(2, 'secret') });
    const dir = dirWith({ 'a.log': line(3, 'a'), 'pods/b.log': line(4, 'b') });
    symlinkSync(join(outside, 'docker/json.log'), join(dir, 'pods/0.log'));
    symlinkSync(join(outside, 'docker'), join(dir, 'linked'));
    symlinkSync(join(outside, 'secret.log'), join(dir, 'pods/secret.log'));
    symlinkSync(join(outside, 'secret.log'), join(dir, 'top.log'));
    expect(await names(dir)).toEqual(['a.log', 'pods/b.log']);
    for (const name of ['pods/0.log', 'linked/json.log', 'pods/secret.log', 'top.log']) {
      await expect(open(dir).open(name)).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
    }
    const tree = { ...TREE, roots: [join(outside, 'docker'), '/does/not/exist'] };
    expect(await names(dir, { tree })).toEqual(['a.log', 'linked/json.log', 'pods/0.log', 'pods/b.log']);
    const { records } = await runSearch(open(dir, { tree }), {});
    expect(records.map(({ message }) => message)).toEqual(['container', 'a', 'b']);
    await expect(open(dir, { tree }).open('top.log')).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  });

  test('that form a cycle, or lead to a directory twice, list it once', async () => {
    const dir = dirWith({ 'a/x.log': line(1, 'x') });
    symlinkSync('..', join(dir, 'a/up'));
    symlinkSync('.', join(dir, 'self'));
    symlinkSync('a', join(dir, 'b'));
    expect(await names(dir)).toEqual(['a/x.log']);
  });

  test('a directory that becomes a link after the listing leads nowhere', async () => {
    const outside = dirWith({ 'x.log': line(2, 'secret') });
    const dir = dirWith({ 'a/x.log': line(1, 'x') });
    const logs = open(dir);
    expect((await runSearch(logs, {})).records).toHaveLength(1);
    rmSync(join(dir, 'a'), { recursive: true });
    symlinkSync(outside, join(dir, 'a'));
    await expect(logs.open('a/x.log')).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
    expect((await runSearch(logs, {})).records).toEqual([]);
  });
});

test.each(['../x', 'a/../../x', 'a//x', '/etc/passwd', 'a/.', 'a/', 'a\\b/x', 'a/\0', `a/${'n'.repeat(256)}`])(
  'the path %j is refused without looking at the disk',
  async (name) => {
    await expect(open(dirWith(FILES)).open(name)).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
  },
);

test('hidden names are hidden in every directory, and so are directories with such names', async () => {
  const dir = dirWith({ 'a/audit.log': line(1, 'x'), 'audit.log/b.log': line(2, 'x'), 'a/b.log': line(3, 'ok') });
  symlinkSync('../a/audit.log', join(dir, 'a/c.log'));
  const hidden = ['audit.log'];
  expect(await names(dir, { hidden })).toEqual(['a/b.log']);
  for (const name of ['a/audit.log', 'audit.log/b.log', 'a/c.log']) {
    await expect(open(dir, { hidden }).open(name)).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  }
});
