import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterNodes } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { serviceConfig, startCluster } from './testing/cluster-process.ts';
import { countedLines, startCluster as startInProcess } from './testing/console-cluster.ts';
import { openConsole, waitUntilVisible } from './testing/open-console.ts';

const browser = shareBrowser();

const runs = async (page: Page) =>
  (await page.getByRole('table', { name: 'Runs, newest first' }).getByRole('row').allInnerTexts())
    .slice(1)
    .map((text) => text.replaceAll(/\s+/g, ' '));

const columns = (page: Page) =>
  page
    .getByRole('table', { name: /^Log files of/ })
    .getByRole('columnheader')
    .allInnerTexts();

it('a node has its runs and growing files; killed, its page is frozen, with what was recorded of it', async () => {
  const { nodes, start } = await startCluster('static', ['n1', 'n2']);
  const [n1, first] = nodes;
  if (!n1 || !first) throw new Error('two nodes were started');
  first.program.kill('SIGTERM');
  await first.program.end();
  writeFileSync(join(first.cwd, 'service.toml'), serviceConfig('n2', 'wal-dir = "/mnt/wal"\n'));
  const n2 = await start('n2');
  n2.write('the first line');
  const { page } = await openConsole(browser(), n1.url, { path: '/nodes/n2' });
  await waitUntilVisible(page.getByText(/^up for \d/));
  await eventually(async () => {
    const [now, before] = await runs(page);
    expect(now).toMatch(/^\d\d:\d\d:\d\d running/);
    expect(before).toMatch(/^\d\d:\d\d:\d\d \d\d:\d\d:\d\d stopped in order/);
  });
  await waitUntilVisible(page.getByText('service.wal-dir absent → /mnt/wal'));
  const growth = page.locator('td[data-name="Growth"]');
  await eventually(async () => {
    n2.write('one more line');
    expect(await growth.innerText()).toMatch(/^\+\S+ \S+\/min$/);
  });
  const dot = page.locator('h1 .dot');
  const colour = await dot.evaluate((element: unknown) => (element as { style: { color: string } }).style.color);

  n2.write('the last line');
  await n2.waitForRecording(n1);
  await n2.kill();
  await waitUntilVisible(page.getByText(/^gone since \d\d:\d\d:\d\d; recorded by n1, until \S+/));
  await waitUntilVisible(page.getByRole('heading', { name: 'Last recorded lines' }));
  await waitUntilVisible(page.getByRole('link', { name: /the last line/ }));
  await eventually(async () => expect((await runs(page))[0]).toMatch(/stopped responding/));
  await eventually(async () => expect(await columns(page)).toContain('Written, last known'));
  expect(await columns(page)).not.toContain('Growth');
  expect(await page.locator('main').innerText()).not.toMatch(/ ago|running|up for/);
  expect(await page.locator('main .ok').count()).toBe(0);
  expect(await dot.evaluate((element: unknown) => (element as { style: { color: string } }).style.color)).toBe(colour);

  await page.getByRole('link', { name: /the last line/ }).click();
  await eventually(async () => expect(new URL(page.url()).searchParams.get('at')).toMatch(/^n2\//));
  await page.goto(`${n1.url}/nodes`);
  const rows = page.getByRole('table', { name: 'Nodes of the cluster' }).getByRole('row');
  await eventually(async () => expect(await rows.nth(1).innerText()).toMatch(/^n2.*gone since/s));
  await page.getByLabel('Find nodes').fill('n1');
  await waitUntilVisible(page.getByText('1 other node hidden, not healthy · show all'));
  await eventually(async () => expect(await rows.count()).toBe(2));

  // A mark, and a range that is dragged, lead to what happened then.
  await page.goto(n1.url);
  await page
    .getByRole('link', { name: /n2 stopped responding/ })
    .first()
    .click();
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/incidents'));
});

const single = share(() => startInProcess([{ files: { 'a.log': countedLines(30) } }]));

/** The cluster with many more nodes, of which one does not respond. */
async function showMany(page: Page, count: number): Promise<void> {
  await page.route('**/api/v1/nodes', async (route) => {
    const response = await route.fetch({ timeout: 0 });
    const answer = (await response.json()) as ClusterNodes;
    const [node] = answer.nodes;
    if (!node) throw new Error('the cluster has a node');
    const more = Array.from({ length: count }, (_, index): ClusterNodes['nodes'][number] => ({
      ...node,
      id: `lindb-prod-${index % 3 ? 'storage' : 'broker'}-${index}.example.org`,
      role: index % 3 ? 'storage' : 'broker',
      labels: { zone: `eu-${index % 2}` },
      isSelf: false,
      recentErrors: 0,
      ...(index === 200 && { state: 'unreachable', report: { ...node.report, outcome: 'refused' } }),
    }));
    await route.fulfill({ response, json: { ...answer, nodes: more } });
  });
}

it('three hundred nodes are grouped, problems first, by short names, and found by role, zone and name', async () => {
  const [{ url }] = single();
  const { page } = await openConsole(browser(), url, { path: '/config' });
  await showMany(page, 300);
  await page.goto(url);
  await waitUntilVisible(page.getByRole('heading', { name: /^storage-200 is down/ }));
  const groups = page.locator('.strip-group');
  await eventually(async () => expect(await groups.allInnerTexts()).toEqual(['storage', 'broker']));
  await eventually(async () =>
    expect(await page.locator('.strip-row:not(.strip-group) .node-name').allInnerTexts()).toEqual(['storage-200']),
  );
  await page.getByRole('button', { name: '100 nodes' }).click();
  expect(await page.locator('.strip-row:not(.strip-group)').count()).toBe(101);

  await page.getByRole('link', { name: 'Nodes', exact: true }).click();
  await waitUntilVisible(page.getByRole('rowheader', { name: /^storage · 199 of 200 nodes up/ }));
  const rows = page.getByRole('row');
  await eventually(async () => expect(await rows.nth(2).innerText()).toMatch(/^storage-200\b/));
  await page.getByLabel('Find nodes').fill('broker zone=eu-1 -29');
  await eventually(async () => expect(await page.getByRole('rowheader').allInnerTexts()).toHaveLength(2));
  expect(new URL(page.url()).searchParams.get('q')).toBe('broker zone=eu-1 -29');
  await page.getByLabel('Find nodes').fill('nothing');
  await waitUntilVisible(page.getByRole('heading', { name: 'No such node' }));
  await page.getByLabel('Find nodes').fill('');
  await page.getByLabel('Group by').selectOption('zone');
  await waitUntilVisible(page.getByRole('rowheader', { name: /^zone=eu-0 · 149 of 150 nodes up/ }));
});

it('a range that is dragged over the strip leads to what happened in it; on a phone a row is one link', async () => {
  const [{ url }] = single();
  const { page } = await openConsole(browser(), url);
  const cells = page.locator('a.cell');
  await eventually(async () => expect(await cells.count()).toBe(60));
  const [from, to] = [await cells.nth(20).boundingBox(), await cells.nth(29).boundingBox()];
  if (!from || !to) throw new Error('cells are visible');
  await page.mouse.move(from.x + 2, from.y + 2);
  await page.mouse.down();
  await page.mouse.move(to.x + 2, to.y + 2, { steps: 5 });
  await page.mouse.up();
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/incidents'));
  const range = new URL(page.url()).searchParams;
  expect(Date.parse(range.get('to') ?? '') - Date.parse(range.get('from') ?? '')).toBe(600_000);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(url);
  const row = page.getByRole('link', { name: 'n1: up' });
  await eventually(async () => expect(await row.locator('.cell').count()).toBe(30));
  await row.click();
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/nodes/n1'));
  await page.goto(`${url}/nodes/n1/logs`);
  await waitUntilVisible(page.getByRole('link', { name: 'a.log', exact: true }));
});
