import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderSettings } from './describe-settings.ts';
import { loadLogFormats } from './load-log-formats.ts';
import { formatList } from './setting-kinds.ts';
import { describeKind } from './testing/describe-kind.ts';
import { SettingsDir } from './testing/settings-dir.ts';

const TABLE = {
  name: 'own',
  lines: ['{time} <{level}> {message}'],
  times: ['HH:mm'],
  levels: { 'A "b"': 'warn' },
  samples: [{ line: '10:00 <A "b"> x' }],
};
const TEXT = JSON.stringify({ ...TABLE, levels: { 'A "b"': 'WARN' } });
const BARE = { name: 'bare', lines: ['{time}'], times: ['epoch'] };

const FILE = `
[[log.formats]]
name = "own"
lines = "{time} <{level}> {message}"
times = ["HH:mm"]
levels = { 'A "b"' = "warn" }
samples = ['10:00 <A "b"> x']
`;

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

describeKind('list of formats', {
  kind: formatList,
  text: [
    ['', []],
    [JSON.stringify([TABLE]), [TEXT]],
    [`${JSON.stringify(TABLE)},${JSON.stringify(BARE)}`, [TEXT, JSON.stringify(BARE)]],
  ],
  toml: [
    [
      [TABLE, BARE],
      [TEXT, JSON.stringify(BARE)],
    ],
    [{ bare: { lines: '{time}', times: 'epoch' } }, [JSON.stringify(BARE)]],
  ],
  refusedText: ['{', '5', '{"name":"own"}', 'own'],
  refusedToml: [5n, 'own', [5n], [{ name: 'json', lines: '{time}', times: 'epoch' }], { own: {} }],
});

test('formats of a file are rendered as tables, and load back', async () => {
  const loaded = await dir.loadText(FILE);
  expect(loaded.settings.log.formats).toEqual([TEXT]);
  const rendered = renderSettings(loaded);
  expect(rendered).toContain(
    'formats = [{ name = "own", lines = ["{time} <{level}> {message}"], times = ["HH:mm"], levels = { "A \\"b\\"" = "WARN" }, samples = [{ line = "10:00 <A \\"b\\"> x" }] }]',
  );
  expect((await dir.loadText(rendered)).settings).toEqual(loaded.settings);
});

test('a rejected format is reported with the setting, its name and the reason', async () => {
  expect(await dir.messages(FILE.replace('{time} ', '').concat('[log.format]\n'))).toEqual([
    'porthole.toml:2: log.formats: format "own": the layout "<{level}> {message}" has no {time}',
    'porthole.toml:8: unknown key "log.format" - did you mean "log.formats"?',
  ]);
  const env = { PORTHOLE_LOG_FORMATS: '[' };
  expect((await dir.problems({ env })).map(({ message }) => message)).toEqual([
    'environment PORTHOLE_LOG_FORMATS: not valid JSON',
  ]);
});

test('programs without a node load only the formats of a settings file', async () => {
  const file = `${dir.path}/porthole.toml`;
  await dir.write(`[http]\nport = "x"\n${FILE}`);
  expect((await loadLogFormats({ file, env: {} })).map(({ name }) => name)).toEqual(['own']);
  const env = { PORTHOLE_LOG_FORMATS: JSON.stringify(BARE) };
  expect((await loadLogFormats({ file, env })).map(({ name }) => name)).toEqual(['bare']);
  expect(await loadLogFormats({ file: undefined, env: {} })).toEqual([]);
  await dir.write(FILE.replace('HH:mm', 'HH'));
  await expect(loadLogFormats({ file, env: {} })).rejects.toThrow('format "own": the time layout "HH" has no mm');
  await expect(loadLogFormats({ file: `${file}.none`, env: {} })).rejects.toThrow('no such file');
});
