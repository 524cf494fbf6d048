import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RestartableNode } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { createToken } from '@porthole/server/tokens';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { line, PATIENT } from './testing/console-cluster.ts';
import { openConsole, waitUntilVisible } from './testing/open-console.ts';

const REFRESH_MS = 10_000;

const browser = shareBrowser();

/** A node that requires a token, and a function that replaces the token. */
async function startGuarded() {
  const tokenFile = join(tempDir(), 'tokens');
  const allow = () => {
    const { token, line: stored } = createToken('operator');
    writeFileSync(tokenFile, `${stored}\n`, { mode: 0o600 });
    return token;
  };
  const token = allow();
  const node = new RestartableNode({ 'a.log': line(5, 'one') }, { auth: { tokenFile }, cluster: PATIENT });
  await node.start();
  return { node, token, allow };
}

const tokenDialog = (page: Page) => page.getByRole('dialog', { name: 'Enter a token' });

const shownText = (page: Page) => page.getByRole('heading', { name: '1 node is up' });

async function give(page: Page, token: string, { keep = false } = {}): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByLabel('Keep for this tab').setChecked(keep);
  await page.getByRole('button', { name: 'Use token' }).click();
}

it('requires a token, reports a wrong one, and continues with a valid one, which is never in a URL', async () => {
  const { node, token } = await startGuarded();
  const { page, requested } = await openConsole(browser(), node.url);
  await waitUntilVisible(tokenDialog(page));
  await give(page, 'not-the-token');
  await waitUntilVisible(tokenDialog(page).getByText('The node rejected this token.'));
  await give(page, token);
  await waitUntilVisible(shownText(page));
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await waitUntilVisible(page.getByRole('row', { name: /one/ }));
  const addresses = await page.evaluate<string[]>('navigation.entries().map(({ url }) => url)');
  expect(addresses.length).toBeGreaterThan(1);
  expect([...addresses, ...requested].filter((address) => address.includes(token))).toEqual([]);
  expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(token);
});

it('keeps a token for the tab only on request', async () => {
  const { node, token } = await startGuarded();
  const { page } = await openConsole(browser(), node.url);
  await give(page, token);
  await waitUntilVisible(shownText(page));
  await page.reload();
  await waitUntilVisible(tokenDialog(page));
  await give(page, token, { keep: true });
  await waitUntilVisible(shownText(page));
  await page.reload();
  await waitUntilVisible(shownText(page));
  expect(await tokenDialog(page).count()).toBe(0);
});

it('requires a token again when it is no longer valid', async () => {
  const { node, token, allow } = await startGuarded();
  const { page } = await openConsole(browser(), node.url, { hasClock: true });
  await give(page, token, { keep: true });
  await waitUntilVisible(shownText(page));
  await node.stop();
  const other = allow();
  await node.start();
  await eventually(async () => {
    await page.clock.fastForward(REFRESH_MS);
    expect(await tokenDialog(page).isVisible()).toBe(true);
  });
  await waitUntilVisible(tokenDialog(page).getByText('Your token is no longer valid.'));
  await give(page, other);
  await tokenDialog(page).waitFor({ state: 'hidden' });
  await waitUntilVisible(shownText(page));
  await eventually(async () => expect(await page.evaluate('sessionStorage.length')).toBe(0));
});
