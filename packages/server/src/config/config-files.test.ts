import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { readConfigFiles } from './config-files.ts';
import { viewConfig } from './config-view.ts';

const MIB = 1024 ** 2;

/** Files by their names in a directory of their own, and what is read of them. */
function writeFiles(files: Record<string, string | Buffer>) {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  const read = async (configFile: string, configFiles: readonly string[] = [], { maxBytes = MIB } = {}) => {
    const named = configFile === '' ? '' : join(dir, configFile);
    const options = { configFile: named, configFiles: configFiles.map((name) => join(dir, name)), maxBytes };
    const { files: found, problems } = await readConfigFiles({ ...options, format: undefined });
    const view = await viewConfig(found, []);
    const settings = Object.fromEntries(view.settings.flat.map(({ key, value }) => [key, value]));
    return { settings, problems: [...problems, ...view.problems].map((text) => text.replaceAll(dir, '')), view };
  };
  return { dir, read };
}

it('files, directories and patterns are read in order, and the last one wins', async () => {
  const { read } = writeFiles({
    'my.cnf': '[mysqld]\na = 1\nb = 1\nc = 1\n',
    'conf.d/20.cnf': '[mysqld]\nb = 3\n',
    'conf.d/10.cnf': '[mysqld]\nb = 2\nc = 2\n',
    'conf.d/.hidden.cnf': '[mysqld]\nc = 9\n',
    'conf.d/readme.txt': 'not a configuration',
    'more/x.cnf': '[mysqld]\nd = 4\n',
  });
  const { settings } = await read('my.cnf', ['conf.d/*.cnf', 'more', 'none/*.cnf']);
  expect(settings).toEqual({ 'mysqld.a': 1, 'mysqld.b': 3, 'mysqld.c': 2, 'mysqld.d': 4 });
});

it('PostgreSQL: included files take the place of the directive, and ALTER SYSTEM comes last', async () => {
  const { read } = writeFiles({
    'postgresql.conf':
      "port = 1\nwork_mem = 1MB\ninclude_dir 'conf.d'\ninclude_if_exists 'absent.conf'\ninclude = 'more.conf'\nport = 2\n",
    'conf.d/a.conf': 'port = 3\nwork_mem = 2MB\n',
    'more.conf': 'max_connections = 7\n',
    'postgresql.auto.conf': "work_mem = '3MB'\n",
  });
  const { settings, problems, view } = await read('postgresql.conf');
  expect(settings).toMatchObject({ port: 2, work_mem: '3MB', max_connections: 7 });
  expect(problems).toEqual([]);
  expect(view.settings.flat.find(({ key }) => key === 'work_mem')).toMatchObject({
    file: expect.stringMatching(/postgresql\.auto\.conf$/),
    line: 1,
  });
});

it('nginx: what a block includes belongs to the block', async () => {
  const { read } = writeFiles({
    'nginx.conf': 'http {\n  server { listen 80; }\n  include sites/*;\n}\n',
    'sites/b': 'server { listen 82; }\n',
    'sites/a': 'server { listen 81; }\n',
  });
  const { settings } = await read('nginx.conf');
  expect(settings).toMatchObject({
    'http.server[0].listen': 80,
    'http.server[1].listen': 81,
    'http.server[2].listen': 82,
  });
});

it('a file that includes itself, is absent or lies elsewhere is left out, and said to be', async () => {
  const { dir, read } = writeFiles({ 'redis.conf': 'port 1\ninclude a.conf\ninclude absent.conf\n' });
  const other = tempDir();
  writeFileSync(join(other, 'secret.conf'), 'outside 1\n');
  writeFileSync(
    join(dir, 'a.conf'),
    `include redis.conf\ninclude ${join(other, 'secret.conf')}\ninclude link.conf\nx 2\n`,
  );
  symlinkSync(join(other, 'secret.conf'), join(dir, 'link.conf'));
  const { settings, problems } = await read('redis.conf');
  expect(settings).toMatchObject({ port: 1, x: 2 });
  expect(settings).not.toHaveProperty('outside');
  expect(problems).toEqual([
    expect.stringContaining('it includes itself'),
    expect.stringContaining('outside the directory'),
    expect.stringMatching(/link\.conf.*outside the directory/),
    expect.stringMatching(/absent\.conf.*ENOENT/),
  ]);
});

it('no link leads out of the directories: not from the data of PostgreSQL, nor from a directory of files', async () => {
  const { dir, read } = writeFiles({
    'etc/postgresql.conf': "port = 1\ndata_directory = '../data'\n",
    'data/server.key': 'private 1\n',
    'conf.d/a.conf': 'a 1\n',
    token: 'of_the_cluster 1\n',
  });
  symlinkSync(join(dir, 'token'), join(dir, 'data/postgresql.auto.conf'));
  symlinkSync(join(dir, 'token'), join(dir, 'conf.d/link.conf'));
  const linked = await read('etc/postgresql.conf');
  expect(linked.view.source).not.toContain('of_the_cluster');
  expect(linked.problems).toEqual([expect.stringMatching(/auto\.conf.*outside the directory/)]);
  await expect(read('', ['conf.d'])).rejects.toMatchObject({ code: 'CONFIG_UNAVAILABLE' });
  rmSync(join(dir, 'data/postgresql.auto.conf'));
  writeFileSync(join(dir, 'data/postgresql.auto.conf'), "work_mem = '3MB'\ninclude 'server.key'\n");
  const { settings, view } = await read('etc/postgresql.conf');
  expect(settings).toMatchObject({ port: 1, work_mem: '3MB' });
  expect(view.source).not.toContain('private');
});

it('the names in other directories are not told', async () => {
  const { read } = writeFiles({ 'etc/nginx.conf': 'include ../home/*;\n', 'home/some-name.conf': 'a 1;\n' });
  const { problems } = await read('etc/nginx.conf');
  expect(problems).toEqual([expect.stringContaining('outside the directory')]);
  expect(problems.join()).not.toContain('some-name');
});

it('UTF-16 is read, with its mark or without, and what is not text is refused', async () => {
  const text = 'name = a\npassword = Some-pw\n';
  const { read } = writeFiles({
    'a.ini': Buffer.from(`\uFEFF${text}`, 'utf16le'),
    'b.ini': Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    'c.ini': Buffer.from(text, 'utf16le'),
    'd.ini': Buffer.from(`x\ny${[...text].map((sign) => `\0\0\0${sign}`).join('')}`, 'latin1'),
  });
  for (const name of ['a.ini', 'b.ini', 'c.ini'])
    expect((await read(name)).view.source).toBe('name = a\npassword = ******\n');
  await expect(read('d.ini')).rejects.toThrow('it is not text');
});

it('files that include each other without end are bounded, and so is their size', async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d/${n}.conf`, `k${n} 1\n`]));
  const { read } = writeFiles({ 'redis.conf': 'include d/*.conf\n', ...many });
  expect((await read('redis.conf')).problems).toEqual([expect.stringContaining('more than 200 files')]);
  expect((await read('redis.conf', [], { maxBytes: 100 })).problems).toEqual([
    expect.stringContaining('config.max-bytes'),
  ]);
});

it('a file that is not UTF-8 is text, unless its format says otherwise', async () => {
  const { read } = writeFiles({
    'a.ini': Buffer.from('name = M\xfcller\npassword = Latin-1-pw\n', 'latin1'),
    'a.properties': Buffer.from('name=M\xfcller\n', 'latin1'),
  });
  const { view, problems } = await read('a.ini');
  expect(view.format).toBe('text');
  expect(view.source).toBe('name = Müller\npassword = ******\n');
  expect(problems).toEqual(['/a.ini: it is not UTF-8 text']);
  expect((await read('a.properties')).settings).toEqual({ name: 'Müller' });
});

it('a file that is named and absent is an error', async () => {
  const { read } = writeFiles({ 'a.ini': 'a = 1\n' });
  await expect(read('b.ini')).rejects.toMatchObject({ code: 'CONFIG_UNAVAILABLE' });
  await expect(read('', ['x/*.ini'])).rejects.toMatchObject({ code: 'CONFIG_UNAVAILABLE' });
});
