import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RestartableNode } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { createToken } from '@porthole/server/tokens';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { startCluster } from './testing/cluster-process.ts';
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

/** Writes numbered lines to a member until it is told to end; returns how many. */
function writeLines(write: (text: string) => void): () => number {
  let count = 0;
  const timer = setInterval(() => write(`line ${++count}.`), 400);
  return () => {
    clearInterval(timer);
    return count;
  };
}

/** Every line once, from the first to the last. */
async function expectLines(page: Page, count: number): Promise<void> {
  const expected = Array.from({ length: count }, (_, index) => `line ${index + 1}.`);
  await eventually(async () => {
    const rows = await page.getByRole('grid', { name: 'Log records' }).innerText();
    expect([...rows.matchAll(/line \d+\./g)].map(([found]) => found)).toEqual(expected);
  });
}

it('a page whose node is killed goes on through another member, loses and repeats no line, and goes back', async () => {
  const { nodes, start } = await startCluster('etcd', ['n1', 'n2', 'n3']);
  const [n1, n2] = nodes;
  if (!n1 || !n2) throw new Error('not started');
  await eventually(async () => expect((await n1.nodes()).nodes.map(({ state }) => state)).toEqual(['up', 'up', 'up']));
  const { page } = await openConsole(browser(), n1.url, {
    ...{ path: '/logs', members: nodes },
    // High enough for all rows to be in the document.
    viewport: { width: 1280, height: 3000 },
  });
  await page.evaluate('globalThis.isSamePage = true');
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  const end = writeLines((text) => n2.write(text));
  await waitUntilVisible(findRow(page, 'line 5.'));
  await n1.kill();
  const notice = page.getByText('n1 does not respond; reading through n2.');
  await waitUntilVisible(notice);
  expect(await page.getByRole('alert').count()).toBe(0);
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  expect(await page.getByRole('link', { name: 'Open the page of n2' }).getAttribute('href')).toContain(
    `${n2.url}/logs`,
  );
  n2.write('after the kill');
  await waitUntilVisible(findRow(page, 'after the kill'));
  await start('n1');
  await notice.waitFor({ state: 'detached' });
  n2.write('after the return');
  await waitUntilVisible(findRow(page, 'after the return'));
  await expectLines(page, end());
  expect(await isSamePage(page)).toBe(true);
});

it('a token is sent to another member only if somebody agrees', async () => {
  const { token, line: stored } = createToken('operator');
  const prepare = (_id: string, cwd: string) => writeFileSync(join(cwd, 'tokens'), `${stored}\n`, { mode: 0o600 });
  const env = () => ({ PORTHOLE_AUTH_TOKEN_FILE: 'tokens' });
  const { nodes } = await startCluster('static', ['n1', 'n2'], { prepare, env });
  const [n1, n2] = nodes;
  if (!n1 || !n2) throw new Error('not started');
  const { page, requested } = await openConsole(browser(), n1.url, { members: nodes, hasClock: true });
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Use token' }).click();
  await waitUntilVisible(page.getByRole('heading', { level: 1 }));
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.headers().authorization) sent.push(new URL(request.url()).origin);
  });
  await n1.kill();
  await page.clock.fastForward(REFRESH_MS);
  const agree = page.getByRole('button', { name: 'Read through n2' });
  await waitUntilVisible(agree);
  expect(sent).not.toContain(n2.url);
  await agree.click();
  await waitUntilVisible(page.getByText('n1 does not respond; reading through n2.'));
  await eventually(() => expect(sent).toContain(n2.url));
  expect(requested.filter((url) => url.includes(token))).toEqual([]);
});

it('a new version of the node asks for a reload, once', async () => {
  const node = new RestartableNode({ 'a.log': line(5, 'one') }, { cluster: PATIENT });
  await node.start();
  const { page } = await openConsole(browser(), node.url, { hasClock: true });
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  let version = '9.9.8';
  await page.route('**/api/v1/nodes', async (route) => {
    const response = await route.fetch({ timeout: 0 });
    const text = (await response.text()).replaceAll(/"version":"[^"]*"/g, `"version":"${version}"`);
    await route.fulfill({ response, body: text });
  });
  const notice = page.getByText('now runs version');
  await page.clock.fastForward(REFRESH_MS);
  await waitUntilVisible(notice);
  await page.getByRole('button', { name: 'Later' }).click();
  await page.clock.fastForward(REFRESH_MS);
  expect(await notice.count()).toBe(0);
  version = '9.9.9';
  await page.clock.fastForward(REFRESH_MS);
  await waitUntilVisible(page.getByText('now runs version 9.9.9.'));
  await page.evaluate('globalThis.isSamePage = true');
  await page.getByRole('button', { name: 'Reload' }).click();
  await eventually(async () => expect(await isSamePage(page)).toBe(false));
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  expect(await notice.count()).toBe(0);
});
