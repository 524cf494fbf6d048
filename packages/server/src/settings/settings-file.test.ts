import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'smol-toml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderSettings } from './describe-settings.ts';
import { SECTIONS, SETTING_DEFINITIONS } from './settings.ts';
import { settingsSchema, settingsTemplate } from './settings-file.ts';
import { SettingsDir } from './testing/settings-dir.ts';

const docs = (name: string) => fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url));

const validate = new Ajv({ strict: false }).compile(settingsSchema());

/** What an editor would mark in this file. */
function problemsOf(toml: string): string[] {
  validate(parse(toml));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

it('docs/settings.schema.json is the schema (UPDATE_DOCS=1 writes it)', async () => {
  const path = docs('settings.schema.json');
  if (process.env.UPDATE_DOCS === '1') await writeFile(path, `${JSON.stringify(settingsSchema(), null, 2)}\n`);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(settingsSchema());
});

it('the schema and the table in docs/settings.md have the same settings', async () => {
  const page = await readFile(docs('settings.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `([a-z]+\.[a-z-]+)` \|/gm)].map(([, key]) => key);
  const { properties } = settingsSchema() as { properties: Record<string, { properties: object }> };
  const keys = Object.entries(properties).flatMap(([section, { properties: own }]) =>
    Object.keys(own).map((name) => `${section}.${name}`),
  );
  expect(keys).toEqual(listed);
});

it('the schema accepts every example in the documentation, and what a node writes', async () => {
  const page = await readFile(docs('settings.md'), 'utf8');
  const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  expect(examples.length).toBeGreaterThan(0);
  for (const text of examples) expect(problemsOf(text), text).toEqual([]);
  expect(problemsOf(renderSettings(await dir.load()))).toEqual([]);
});

it.each([
  '[http]\nport = 80.5\n',
  '[http]\nport = 65536\n',
  '[http]\nport = "80"\n',
  '[http]\nprot = 80\n',
  '[htpp]\nport = 80\n',
  '[http]\nanswer-timeout = 30\n',
  '[grpc]\nenabled = "yes"\n',
  '[logging]\nlevel = "loud"\n',
  '[http]\nallowed-hosts = "a"\n',
])('the schema refuses what a node refuses: %j', async (toml) => {
  expect(problemsOf(toml)).not.toEqual([]);
  await expect(dir.loadText(toml)).rejects.toThrow();
});

it('the schema accepts the spellings that a node accepts', async () => {
  const toml = '[logging]\nlevel = "WARN"\nmax-file-size = 1048576\nkeep-age = "1h30m"\n';
  expect(problemsOf(toml)).toEqual([]);
  await expect(dir.loadText(toml)).resolves.toBeDefined();
});

it('the template sets nothing, and with every comment removed it is the defaults', async () => {
  const template = settingsTemplate();
  expect(template.startsWith('#:schema porthole.schema.json\n')).toBe(true);
  expect(Object.keys(parse(template))).toEqual([...SECTIONS]);
  expect(Object.values(parse(template)).every((section) => Object.keys(section).length === 0)).toBe(true);
  const all = template.replaceAll(/^#(?=[a-z-]+ = )/gm, '');
  expect(problemsOf(all)).toEqual([]);
  const written = Object.entries(parse(all)).flatMap(([section, values]) =>
    Object.keys(values).map((name) => `${section}.${name}`),
  );
  expect(written).toEqual(SETTING_DEFINITIONS.map(({ key }) => key));
  const { settings: loaded } = await dir.loadText(all);
  expect(loaded).toEqual((await dir.load()).settings);
});

it('settings that are given to the template are set, and all others stay comments', async () => {
  const template = settingsTemplate({ 'logging.dir': '/var/lib/porthole/log', 'http.port': 80 });
  expect(template.match(/^[a-z-]+ = .*/gm)).toEqual(['port = 80', 'dir = "/var/lib/porthole/log"']);
  expect(template.replaceAll(/^.*(port|dir) = .*$/gm, '')).toBe(
    settingsTemplate().replaceAll(/^.*(port|dir) = .*$/gm, ''),
  );
  const { settings } = await dir.loadText(template);
  expect(settings).toMatchObject({ logging: { dir: '/var/lib/porthole/log' }, http: { port: 80 } });
});
