import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../packages/logs/src/testing/eventually.ts';
import { startBrowser } from './testing/browser-page.ts';
import { ClusterProcess } from './testing/cluster-process.ts';
import { line, startCluster } from './testing/console-cluster.ts';
import { detailsOf, rowOf, see, visit } from './testing/console-page.ts';
import { tempDir } from './testing/program.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(() => browser.close());

/** A process with an old error in its log. */
function startProcess(id: string, flags: readonly string[] = []): Promise<ClusterProcess> {
  const cwd = tempDir();
  mkdirSync(join(cwd, 'logs'));
  appendFileSync(
    join(cwd, 'logs', 'service.log'),
    line(90, `an old failure of ${id}`, 'ERROR') + line(30, 'all is well'),
  );
  return ClusterProcess.start(id, { cwd, flags });
}

/** Two clicks, and nothing else. */
async function toNewestError(page: Page): Promise<void> {
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('link', { name: /^\d+ errors? .*, last 15 min/ }).click();
  await rowOf(page, 'the newest failure').click();
  await see(detailsOf(page).getByText('the newest failure'));
}

it('tells of a cluster at once who is missing, and leads to the newest error in two clicks', async () => {
  const [n2, n3] = await Promise.all([startProcess('n2'), startProcess('n3')]);
  const n1 = await startProcess('n1', ['--cluster-members', `n2=${n2.url},n3=${n3.url}`]);
  await eventually(async () => {
    const { nodes } = await n1.nodes();
    expect(nodes.map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  });
  await n3.kill();
  appendFileSync(join(n2.cwd, 'logs', 'service.log'), line(0, 'the newest failure', 'ERROR'));
  const { page } = await visit(browser, n1.url);
  await see(page.getByRole('heading', { name: '2 of 3 nodes answer' }));
  await see(page.getByText(/n3 has not answered/));
  expect(await page.getByRole('row', { name: /n3/ }).innerText()).toMatch(/not answering/);
  await toNewestError(page);
  expect(await detailsOf(page).innerText()).toContain('n2');
});

it('tells the same of a node that is alone', async () => {
  const files = { 'a.log': line(60, 'an old failure', 'ERROR') + line(2, 'the newest failure', 'ERROR') };
  const [node] = await startCluster([{ files }]);
  const { page } = await visit(browser, node.url);
  await see(page.getByRole('heading', { name: 'This node answers' }));
  await see(page.getByRole('link', { name: '2 errors on this node, last 15 min' }));
  await toNewestError(page);
});
