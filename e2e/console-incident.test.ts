import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { type ClusterProcess, startCluster } from './testing/cluster-process.ts';
import { findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';
import { breakDown, changeSetting, writePast } from './testing/staged-incident.ts';

const HEADLINE = /^New errors on 2 nodes, first on n3, [\d.]+ (?:s|ms) after its storage\.wal_dir changed$/;

/** From the first page to all that has to be known, at three in the morning. */
const MOST_CLICKS = 3;

const browser = shareBrowser();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** What the report must say, whoever opens it: key, old and new value, node, and the first error. */
async function expectExplained(page: Page): Promise<void> {
  await waitUntilVisible(page.getByRole('heading', { level: 1, name: HEADLINE }));
  const steps = page.getByRole('region', { name: 'In the order it happened' }).getByRole('listitem');
  const change = steps.filter({ hasText: 'storage.wal_dir changed on n3' });
  expect(await change.locator('del').innerText()).toBe('/data/wal');
  expect(await change.locator('ins').innerText()).toBe('/mnt/slow/wal');
  const first = steps.filter({ hasText: 'First new error, on n3' });
  expect(await first.innerText()).toContain('write failed: timeout shard=7');
  const texts = await steps.allInnerTexts();
  const order = ['storage.wal_dir changed', 'First new error', 'It spread to n1', 'n3 stopped responding'];
  const positions = order.map((part) => texts.findIndex((text) => text.includes(part)));
  expect(positions, texts.join('\n')).toEqual(positions.toSorted((a, b) => a - b));
  expect(positions).not.toContain(-1);
}

describe('an incident in the console', () => {
  it('is explained within three clicks, can be shared, and leads to its records', async () => {
    const { nodes } = await startCluster('static', ['n1', 'n2', 'n3'], { prepare: writePast });
    const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
    for (const by of [n1, n2]) await n3.waitForRecording(by);
    await changeSetting(n3);
    await sleep(1000); // pause: a change that is well before what it caused
    await breakDown(n3, n1);
    for (const by of [n1, n2]) await n3.waitForRecording(by);
    await n3.kill();
    await n1.waitForEvent('member-lost', 'n3');

    const { page } = await openConsole(browser(), n1.url, { acceptDownloads: true });
    let clicks = 0;
    await page.getByRole('link', { name: 'What happened?' }).click();
    clicks += 1;
    await expectExplained(page);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);

    // The node that is gone is shown as it was recorded, and nothing claims to be complete.
    await waitUntilVisible(page.getByText(/^n3 is not responding · shown as recorded by n[12], until/));
    expect(await page.getByText('nothing in this time range is left out').count()).toBe(0);

    await page.getByRole('button', { name: 'Share' }).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as HTML' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(/^incident-[\dT-]+\.html$/);
    const html = readFileSync((await saved.path()) as string, 'utf8');
    expect(html).toContain('/mnt/slow/wal');
    // It needs nothing from anywhere.
    expect(html).not.toMatch(/<script|<link|src=|url\(/);
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await waitUntilVisible(page.getByText('Report copied'));

    // A link to it shows the same to others, on a phone, too.
    const phone = await openConsole(browser(), n2.url, { ...PHONE, path: page.url().replace(n1.url, '') });
    await expectExplained(phone.page);
    const width = await phone.page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(PHONE.viewport.width);

    // From the list: what is close together is one entry.
    await page.getByRole('link', { name: 'Incidents', exact: true }).last().click();
    await waitUntilVisible(page.getByRole('heading', { level: 1, name: '1 incident' }));
    const entry = page.getByRole('listitem').filter({ hasText: 'n3 stopped responding' });
    await waitUntilVisible(entry.getByText('1 change'));
    await entry.getByRole('link').click();
    await expectExplained(page);

    // Its first error is one click away from the lines around it.
    const first = page.getByRole('listitem').filter({ hasText: 'First new error, on n3' });
    await first.getByRole('link').first().click();
    await waitUntilVisible(findRow(page, 'write failed: timeout shard=7 after 0 ms'));

    // A quiet time before it has no part of it.
    const hourAgo = Date.now() - 3_600_000;
    const quiet = `/incidents?from=${new Date(hourAgo).toISOString()}&to=${new Date(hourAgo + 1_200_000).toISOString()}`;
    const { page: earlier } = await openConsole(browser(), n1.url, { path: quiet });
    await waitUntilVisible(earlier.getByRole('heading', { level: 1, name: /^Nothing unusual in what was read/ }));
    expect(await earlier.getByText('n3 stopped responding').count()).toBe(0);
  });

  it('is said to be loading, to be empty and to have failed', async () => {
    const { nodes } = await startCluster('static', ['n1']);
    const [{ url }] = nodes as [ClusterProcess];
    const { page } = await openConsole(browser(), url);
    await page.route('**/api/v1/incident?*', () => {}); // never answered
    await page.goto(`${url}/incidents?from=1h&to=now`);
    await waitUntilVisible(page.getByText('Loading what happened on all nodes'));
    await page.unroute('**/api/v1/incident?*');
    await page.route('**/api/v1/incident?*', (route) => route.abort());
    await page.reload();
    await waitUntilVisible(page.getByText('The incident could not be loaded.'));
    await page.unroute('**/api/v1/incident?*');
    await page.getByRole('button', { name: 'retry' }).click();
    await waitUntilVisible(page.getByRole('heading', { level: 1, name: /^Nothing unusual/ }));
    await waitUntilVisible(page.getByText('nothing in this time range is left out'));
    await page.route('**/api/v1/events?*', (route) => route.abort());
    await page.goto(`${url}/incidents`);
    await waitUntilVisible(page.getByText('The events could not be loaded.'));
    await page.unroute('**/api/v1/events?*');
    await page.getByRole('button', { name: 'retry' }).click();
    await waitUntilVisible(page.getByRole('heading', { level: 1, name: 'No incident' }));
  });
});
