import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { share, tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { countedLines, line, type Member, startCluster } from './testing/console-cluster.ts';
import { findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

/** Tolerance for a centred line: rows are not aligned to the pixel. */
const NEAR_PX = 60;

const browser = shareBrowser();

/** Lines of the last minutes, and two nodes that are configured differently. */
const cluster = share(() =>
  startCluster([
    { files: { 'a.log': countedLines(200) }, config: 'limit = 1\nother = 2\n' },
    { config: 'limit = 2\nother = 3\n' },
  ]),
);

async function startAlone(files: Readonly<Record<string, string>>): Promise<Member> {
  const [node] = await startCluster([{ files }]);
  return node;
}

const urlQuery = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Resolves when the URL has exactly this query. */
function address(page: Page, wanted: Readonly<Record<string, string>>): Promise<void> {
  return eventually(() => expect(urlQuery(page)).toEqual(wanted));
}

/** Texts of the records in view. */
async function shown(page: Page): Promise<string[]> {
  const texts = await findRow(page, /line \d+/).allInnerTexts();
  return texts.map((text) => /line \d+/.exec(text)?.[0] ?? '');
}

it('a reload shows the same filters, search and range, and back and forward go through the steps', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url, { path: '/logs' });
  await waitUntilVisible(findRow(page, 'line 200'));

  await page.getByRole('button', { name: /^Error and above/ }).click();
  await address(page, { level: 'error' });
  await page.getByLabel(/^Time range/).click();
  await page.getByRole('button', { name: 'Last 5 min' }).click();
  await address(page, { level: 'error', last: '5m' });
  const field = page.getByRole('combobox', { name: 'Find in the logs' });
  await field.fill('line 15');
  await address(page, { level: 'error', last: '5m', q: 'line 15' });
  await page.getByRole('button', { name: 'only matches' }).click();
  const all = { level: 'error', last: '5m', q: 'line 15', only: '1' };
  await address(page, all);
  await eventually(async () => expect(await shown(page)).toEqual(['line 150']));

  await page.reload();
  await eventually(async () => expect(await shown(page)).toEqual(['line 150']));
  await eventually(async () => expect(await field.inputValue()).toBe('line 15'));
  await eventually(() => expect(urlQuery(page)).toEqual(all));

  await page.goBack();
  await address(page, { level: 'error', last: '5m', q: 'line 15' });
  await eventually(async () => expect(await shown(page)).toContain('line 200'));
  await page.goBack();
  await address(page, { level: 'error' });
  await page.goBack();
  await address(page, {});
  await eventually(async () => expect(await field.inputValue()).toBe(''));
  await eventually(async () => expect(await shown(page)).toContain('line 199'));
  for (const step of ['level', 'last', 'only']) {
    await page.goForward();
    await eventually(() => expect(Object.keys(urlQuery(page))).toContain(step));
  }
  await eventually(async () => expect(await shown(page)).toEqual(['line 150']));
});

it('a reload shows the same text of a configuration', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url, { path: '/config?tab=compare' });
  const field = page.getByRole('searchbox', { name: 'Find key or value' });
  await waitUntilVisible(page.getByRole('row', { name: /^other/ }));
  await field.fill('limit');
  await address(page, { tab: 'compare', q: 'limit' });
  await page.reload();
  await waitUntilVisible(page.getByRole('row', { name: /^limit/ }));
  await eventually(async () => expect(await field.inputValue()).toBe('limit'));
  await eventually(async () => expect(await page.getByRole('row', { name: /^other/ }).count()).toBe(0));
});

it('a reload shows the same tab and version of a configuration', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url, { path: '/config' });
  await page.getByRole('navigation', { name: 'Versions of n1' }).getByRole('link').click();
  await eventually(() => expect(Object.keys(urlQuery(page))).toEqual(['node', 't']));
  await page.reload();
  await waitUntilVisible(page.getByRole('region', { name: 'Changes of n1' }));
  await page.getByRole('tab', { name: 'Text' }).click();
  await eventually(() => expect(urlQuery(page)).toMatchObject({ tab: 'text', node: 'n1' }));
  await page.reload();
  await waitUntilVisible(page.getByRole('region', { name: 'TOML of n1' }));
  await page.goBack();
  await eventually(() => expect(Object.keys(urlQuery(page))).toEqual(['node', 't']));
});

it('a link to a line shows that line in the middle, also after the log was rotated', async () => {
  const node = await startAlone({ 'a.log': countedLines(600) });
  const first = await openConsole(browser(), node.url, { path: '/logs?q=line 300&level=ERROR' });
  await first.page.getByRole('button', { name: 'Older match' }).click();
  await findRow(first.page, 'line 300').click();
  await eventually(() => expect(urlQuery(first.page)).toHaveProperty('at'));
  // The link must show the line with its context.
  const link = new URL(first.page.url());
  link.searchParams.delete('level');
  link.searchParams.delete('q');
  await centred(link.href);

  renameSync(join(node.logDir, 'a.log'), join(node.logDir, 'a-2026-11-15T10-00-00.000.log'));
  writeFileSync(join(node.logDir, 'a.log'), line(0, 'written after'));
  await centred(link.href);
  await first.page.reload();
  await waitUntilVisible(findRow(first.page, 'line 300'));
  await eventually(async () =>
    expect(await findRow(first.page, 'line 300').getAttribute('aria-selected')).toBe('true'),
  );
});

/** Opens the link in a new browser context; returns where the line is. */
async function centred(link: string): Promise<void> {
  const { page } = await openConsole(browser(), link, { path: link });
  const row = findRow(page, 'line 300');
  await waitUntilVisible(row);
  await eventually(async () => {
    const [list, found] = await Promise.all([page.getByRole('grid').boundingBox(), row.boundingBox()]);
    if (!list || !found) throw new Error('not seen');
    const distance = found.y + found.height / 2 - (list.y + list.height / 2);
    expect(Math.abs(distance)).toBeLessThan(NEAR_PX);
  });
  await eventually(async () => expect(await row.getAttribute('aria-selected')).toBe('true'));
  await waitUntilVisible(findRow(page, 'line 301'));
}

it('a range is typed with a preview, compared with the time before, and never live once it is closed', async () => {
  const node = await startAlone({ 'a.log': line(5400, 'before', 'ERROR') + countedLines(30) });
  const { page } = await openConsole(browser(), node.url, { path: '/logs?last=1h' });
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  const open = () => page.getByRole('button', { name: /^Time range/ }).click();
  await open();
  await waitUntilVisible(page.getByText('30 records, 1 before (× 30)'));
  await waitUntilVisible(page.getByText('3 errors, 1 before (× 3)'));
  await page.getByLabel('From', { exact: true }).fill('yesterday 14:00');
  await page.getByLabel('To', { exact: true }).fill('yesterday 15:00');
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await waitUntilVisible(page.getByText(/^\d+ \w+ \d+ 14:00:00\.000 UTC$/));
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await address(page, { from: `${day}T14:00:00.000Z`, to: `${day}T15:00:00.000Z` });
  expect(await page.getByRole('button', { name: /^(Live|Paused)/ }).count()).toBe(0);
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await address(page, { from: `${day}T14:00:00.000Z`, to: `${day}T15:00:00.000Z` });
});

async function openViewsDialog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByRole('button', { name: 'Save or manage views' }).click();
}

it('a saved view survives a reload, and is renamed, opened, exported, deleted and imported', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url, { path: '/logs?level=error' });
  await waitUntilVisible(findRow(page, 'line 200'));
  const dialog = page.getByRole('dialog', { name: 'Saved views' });
  const views = dialog.getByRole('list', { name: 'Saved views' }).getByRole('link');
  const openViews = () => openViewsDialog(page);
  await openViews();
  await dialog.getByLabel('Save this view as').fill('Errors only');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await waitUntilVisible(views.getByText('Errors only'));
  await dialog.getByRole('button', { name: 'Rename Errors only' }).click();
  await dialog.getByLabel('New name of Errors only').fill('Errors');
  await page.keyboard.press('Enter');
  await waitUntilVisible(dialog.getByRole('button', { name: 'Rename Errors', exact: true }));

  await page.goto(new URL('/logs', node.url).href);
  await waitUntilVisible(findRow(page, 'line 199'));
  await openViews();
  await views.filter({ hasText: 'Errors' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await address(page, { level: 'error' });

  await openViews();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export' }).click(),
  ]);
  const file = readFileSync(await download.path());
  await dialog.getByRole('button', { name: 'Delete Errors' }).click();
  await waitUntilVisible(dialog.getByText('No saved views yet.'));
  const chooseFile = (buffer: Buffer) =>
    dialog
      .getByLabel('File with saved views')
      .setInputFiles({ name: 'views.json', mimeType: 'application/json', buffer });
  await chooseFile(Buffer.from('{"version":1,"views":[{"name":"x","query":"https://evil.example/?level=error"}]}'));
  await waitUntilVisible(dialog.getByText(/^0 views imported · skipped x: .* is not a parameter of this page$/));
  await chooseFile(file);
  await waitUntilVisible(dialog.getByText('1 view imported'));
  await waitUntilVisible(views.filter({ hasText: 'Errors' }));
});

it('a view saved for everyone is there on the other node, and only the role config may save one', async () => {
  const etcd = await startTestEtcd();
  const start = (nodeId: string) =>
    startTestNode({ files: { 'a.log': countedLines(30) }, settings: { cluster: { etcd: [etcd.url], nodeId } } });
  const [one, two] = await Promise.all([start('n1'), start('n2')]);
  const { page } = await openConsole(browser(), `http://127.0.0.1:${one.port}`, { path: '/logs?level=error' });
  await openViewsDialog(page);
  await page.getByLabel('Save this view as').fill('Errors');
  await page.getByRole('button', { name: 'For everyone' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await waitUntilVisible(page.getByText('all nodes · anonymous'));

  const other = await openConsole(browser(), `http://127.0.0.1:${two.port}`, { path: '/logs' });
  await other.page.getByRole('button', { name: 'Views', exact: true }).click();
  await other.page.getByRole('link', { name: 'Errors', exact: true }).click();
  await address(other.page, { level: 'error' });
});

it('whoever may not save views for everyone reads them, and saves their own in the browser', async () => {
  const tokens = (['viewer', 'config'] as const).map((role) =>
    createToken(`ada-${role}`, role === 'viewer' ? [role] : ['viewer', role]),
  );
  const tokenFile = join(tempDir(), 'tokens');
  writeFileSync(tokenFile, tokens.map((token) => `${token.line}\n`).join(''), { mode: 0o600 });
  const [node] = await startCluster([{ files: { 'a.log': countedLines(30) }, settings: { auth: { tokenFile } } }]);
  const [viewer = '', config = ''] = tokens.map(({ token }) => token);
  await createClient({ url: node.url, token: config }).saveView('Errors', 'level=error');
  const { page } = await openConsole(browser(), node.url, { path: '/logs' });
  await page.getByLabel('Token', { exact: true }).fill(viewer);
  await page.getByRole('button', { name: 'Use token' }).click();
  await openViewsDialog(page);
  await waitUntilVisible(page.getByText('on n1 · ada-config'));
  expect(await page.getByRole('button', { name: 'Delete Errors' }).count()).toBe(0);
  expect(await page.getByText('For everyone').count()).toBe(0);
  await page.getByLabel('Save this view as').fill('Mine');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await waitUntilVisible(page.getByText('this browser'));
  await page.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Session' }).click();
  await waitUntilVisible(page.getByText('ada-viewer · viewer'));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitUntilVisible(page.getByRole('dialog', { name: 'Enter a token' }));
  expect(await findRow(page, 'line').count()).toBe(0);
});

it('a field of a record becomes a column, which is moved, kept by the URL and removed', async () => {
  const records = [12, 13, 130].map((shard) => line(1, `shard is hot\t{"shard":${shard},"note":"<b>${shard}"}`));
  const node = await startAlone({ 'a.log': records.join('') });
  const { page } = await openConsole(browser(), node.url, { path: '/logs?columns=note' });
  const cell = (text: string) => page.getByRole('gridcell', { name: text, exact: true });
  await waitUntilVisible(cell('<b>130'));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  const details = page.getByRole('complementary', { name: 'Details of the record' });
  await details.getByRole('button', { name: 'More about shard' }).click();
  await details.getByRole('button', { name: 'Show shard as column' }).click();
  for (const shard of ['12', '13', '130']) await waitUntilVisible(cell(shard));
  await page.getByLabel('Column shard', { exact: true }).click();
  await page.getByRole('button', { name: 'Move left' }).click();
  const columns = () => new URL(page.url()).searchParams.get('columns');
  await eventually(() => expect(columns()).toBe('shard,note'));
  await page.reload();
  await waitUntilVisible(cell('13'));
  await page.getByLabel('Column note', { exact: true }).click();
  await page.getByRole('button', { name: 'Remove column', exact: true }).click();
  await eventually(() => expect(columns()).toBe('shard'));
  await eventually(async () => expect(await cell('<b>130').count()).toBe(0));
  await page.goBack();
  await waitUntilVisible(cell('<b>130'));
});

it('a value in the field list, a row or the details selects records, and Back undoes it', async () => {
  const shards = [13, 130, 13, 7];
  const node = await startAlone({
    'a.log': shards.map((shard) => line(1, `shard is hot\t{"shard":${shard}}`)).join('') + line(0, 'no shard'),
  });
  const { page } = await openConsole(browser(), node.url, { path: '/logs?columns=shard' });
  const rows = findRow(page, 'shard');
  const hasRows = (count: number) => eventually(async () => expect(await rows.count()).toBe(count));
  const query = () => new URL(page.url()).searchParams.get('query');
  await hasRows(5);
  const fields = page.getByRole('complementary', { name: 'Facets' });
  await waitUntilVisible(fields.getByText(/^5 records/));
  await fields.getByRole('searchbox', { name: 'Filter fields by name' }).fill('sha');
  await fields.getByRole('button', { name: 'shard', exact: true }).click();
  const counts = fields.locator('.facet', { hasText: /^shard/ }).getByRole('listitem');
  const texts = async () => (await counts.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  await eventually(async () => expect(await texts()).toEqual(['13 2', '130 1', '7 1', 'without shard 1']));
  await fields.getByRole('button', { name: '13', exact: true }).click();
  await hasRows(2);
  await eventually(() => expect(query()).toBe('shard=13'));
  await eventually(async () => expect(await texts()).toEqual(['13 2']));
  await page.goBack();
  await hasRows(5);
  await eventually(() => expect(query()).toBeNull());

  await page.getByRole('gridcell', { name: '130', exact: true }).getByText('130').click();
  const menu = page.getByRole('region', { name: 'Values of shard' });
  await menu.getByRole('button', { name: 'Without shard = 130' }).click();
  await hasRows(4);
  await rows.getByText('no shard').click();
  await page
    .getByRole('complementary', { name: 'Details of the record' })
    .getByRole('button', { name: 'Only records with source = query/search.go:42' })
    .click();
  await eventually(() => expect(query()).toBe('-shard=130 source=query/search.go:42'));
  await hasRows(4);
});
