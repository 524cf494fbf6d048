import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareWithDisk, settingEntries } from './describe-settings.ts';
import { showText } from './show-value.ts';
import { SettingsDir } from './testing/settings-dir.ts';

const START = '[http]\nport = 8080\nstall-timeout = "60s"\n';

let dir: SettingsDir;
beforeEach(async () => {
  dir = await SettingsDir.create();
});
afterEach(() => dir.remove());

test('entries are spelt as in the file, with the source of each change', async () => {
  const loaded = await dir.loadText(START, { env: { PORTHOLE_HTTP_MAX_STREAMS: '128' } });
  const entries = new Map(settingEntries(loaded).map(({ key, ...entry }) => [key, entry]));
  expect(entries.size).toBe(loaded.values.length);
  expect(entries.get('http.stall-timeout')).toEqual({
    value: '1m',
    default: '30s',
    changed: true,
    source: 'file',
    secret: false,
  });
  expect(entries.get('http.max-streams')).toMatchObject({ value: 128, default: 128, changed: false, source: 'env' });
  expect(entries.get('logging.max-file-size')).toMatchObject({ value: '64MiB', changed: false, source: 'default' });
  expect(entries.get('logging.dir')).toMatchObject({ value: join(dir.path, 'data/log'), changed: false });
  expect(entries.get('http.allowed-hosts')).toMatchObject({ value: [], default: [], changed: false });
});

test('without a file there is nothing to compare', async () => {
  expect(await compareWithDisk(await dir.load())).toEqual({ state: 'none', differs: [], detail: null });
});

test.each([
  ['the same text', START, 'same', []],
  ['other comments, layout and spelling', '# new\nhttp = { stall-timeout = "1m", port = 8080 }', 'same', []],
  ['a default written out', `${START}\n[grpc]\nport = 7301\n`, 'same', []],
  ['a changed value', START.replace('8080', '9090'), 'changed', ['http.port']],
  [
    'removed and added keys',
    '[logging]\nlevel = "warn"\n',
    'changed',
    ['http.port', 'http.stall-timeout', 'logging.level'],
  ],
])('a file with %s is seen', async (_name, text, state, differs) => {
  const loaded = await dir.loadText(START);
  await dir.write(text);
  expect(await compareWithDisk(loaded)).toMatchObject({ state, differs, detail: null });
});

test('a change counts even where the environment covers it', async () => {
  const loaded = await dir.loadText(START, { env: { PORTHOLE_HTTP_PORT: '1' } });
  await dir.write(START.replace('8080', '9090'));
  expect(await compareWithDisk(loaded)).toMatchObject({ state: 'changed', differs: ['http.port'] });
});

test('a file the node could not start with is broken, with the reason', async () => {
  const loaded = await dir.loadText(START);
  const file = join(dir.path, 'porthole.toml');
  await dir.write('[http]\nprot = 1\n');
  expect(await compareWithDisk(loaded)).toEqual({
    state: 'broken',
    differs: [],
    detail: `${showText(file)}:2: unknown key "http.prot" - did you mean "http.port"?`,
  });
  await dir.write('[http]\nport = 7301\n');
  expect(await compareWithDisk(loaded)).toMatchObject({ state: 'broken' });
  await rm(file);
  await mkdir(file);
  expect(await compareWithDisk(loaded)).toMatchObject({
    state: 'broken',
    detail: `${showText(file)}: is a directory, not a file`,
  });
  await rmdir(file);
  expect(await compareWithDisk(loaded)).toMatchObject({ state: 'missing', detail: `${showText(file)}: no such file` });
});
