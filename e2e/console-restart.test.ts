import { RestartableNode } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { line, PATIENT } from './testing/console-cluster.ts';
import { findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

/** Maximum age of the data on the page. */
const REFRESH_MS = 10_000;

const browser = shareBrowser();

const offlineBanner = (page: Page) => page.getByRole('alert').filter({ hasText: 'has not responded since' });

/** Advances the clock of the page, so that it refreshes. */
async function waitUntilOffline(page: Page): Promise<void> {
  await page.clock.fastForward(REFRESH_MS);
  await waitUntilVisible(offlineBanner(page));
  await eventually(async () =>
    expect(await offlineBanner(page).innerText()).toMatch(/ · showing data as of \d\d:\d\d:\d\d/),
  );
}

async function waitUntilBack(page: Page): Promise<void> {
  await eventually(async () => {
    await page.clock.fastForward(REFRESH_MS);
    expect(await offlineBanner(page).count()).toBe(0);
  });
}

/** `true` until the page is reloaded. */
const isSamePage = (page: Page) => page.evaluate<boolean>('globalThis.isSamePage === true');

it('the cluster page keeps its data while the node is down, and continues afterwards', async () => {
  const node = new RestartableNode({ 'a.log': line(5, 'one', 'ERROR') }, { cluster: PATIENT });
  await node.start();
  const { page } = await openConsole(browser(), node.url, { hasClock: true });
  await page.evaluate('globalThis.isSamePage = true');
  const errors = page.getByRole('link', { name: '1 error in the last hour' });
  await waitUntilVisible(errors);
  await node.stop();
  await waitUntilOffline(page);
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  await waitUntilVisible(errors);
  await node.start();
  node.append('a.log', line(0, 'two', 'ERROR'));
  await waitUntilBack(page);
  await eventually(async () => {
    await page.clock.fastForward(REFRESH_MS);
    expect(await page.getByRole('link', { name: '2 errors in the last hour' }).count()).toBe(1);
  });
  expect(await isSamePage(page)).toBe(true);
});

it('a followed log keeps its lines while the node is down, and continues without a gap', async () => {
  const node = new RestartableNode({ 'a.log': line(5, 'one') }, { cluster: PATIENT });
  await node.start();
  const { page } = await openConsole(browser(), node.url, { path: '/logs', hasClock: true });
  await page.evaluate('globalThis.isSamePage = true');
  await waitUntilVisible(findRow(page, 'one'));
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  await node.stop();
  await waitUntilVisible(page.getByRole('button', { name: 'Reconnecting…' }));
  await waitUntilOffline(page);
  await waitUntilVisible(findRow(page, 'one'));
  node.append('a.log', line(0, 'two'));
  await node.start();
  node.append('a.log', line(0, 'three'));
  await waitUntilVisible(findRow(page, 'three'));
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  await waitUntilBack(page);
  for (const text of ['one', 'two', 'three'])
    await eventually(async () => expect(await findRow(page, text).count()).toBe(1));
  expect(await isSamePage(page)).toBe(true);
});
