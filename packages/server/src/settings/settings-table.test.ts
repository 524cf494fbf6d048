import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settingsTable } from './describe-settings.ts';
import { SettingsDir } from './testing/settings-dir.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/settings.md', import.meta.url));
const TABLE = /(<!-- settings table: begin -->\n\n)([\s\S]*?)(\n\n<!-- settings table: end -->)/;

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

test('the documentation holds the table of the settings as they are', async () => {
  const page = await readFile(PAGE, 'utf8');
  if (process.env.UPDATE_DOCS === '1') {
    await writeFile(
      PAGE,
      page.replace(TABLE, (_all, begin: string, _old, end: string) => begin + settingsTable() + end),
    );
    return;
  }
  const hint =
    'docs/settings.md is out of date: UPDATE_DOCS=1 npx vitest run packages/server/src/settings/settings-table.test.ts';
  expect(TABLE.exec(page)?.[2], hint).toBe(settingsTable());
});

test('every example file in the documentation loads', async () => {
  const page = await readFile(PAGE, 'utf8');
  const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  expect(examples.length).toBeGreaterThan(0);
  for (const text of examples) await expect(dir.loadText(text)).resolves.toBeDefined();
});

test('a cell never ends its row early', () => {
  const columns = settingsTable()
    .split('\n')
    .map((row) => row.split('|').length);
  expect(new Set(columns)).toEqual(new Set([8]));
});
