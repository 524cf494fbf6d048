import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { startTestNode, tempDir } from '@porthole/server/testing';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { line, type Member, startCluster } from './testing/console-cluster.ts';
import { findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

const SECRET = 'never-to-be-seen-';

const REFRESH_MS = 30_000;

/** The zones of the three members. */
const ZONES = ['eu-1', 'eu-1', 'eu-2'];

const browser = shareBrowser();

interface Drift {
  port: number;
  timeout?: string;
  max?: number;
}

function serviceConfig({ port, timeout = '10s', max = 100 }: Drift): string {
  return `[broker.http]
port = ${port}
read-timeout = "5s"

[query]
query-concurrency = ${max}
idle-timeout = "${timeout}"

[coordinator]
namespace = "/lindb-cluster"
password = "${SECRET}${port}"
`;
}

/** Three members: the second writes a duration differently, the third has another limit. */
function startDrifting(): Promise<[Member, ...Member[]]> {
  const drifts = [{ port: 9000 }, { port: 9001, timeout: '10000ms' }, { port: 9002, max: 250 }];
  return startCluster(
    drifts.map((drift, index) => ({
      config: serviceConfig(drift),
      files: { 'a.log': line(index + 1, `written in zone ${ZONES[index]}`, 'ERROR') },
      settings: { node: { labels: [`zone=${ZONES[index]}`] } },
    })),
  );
}

/** Collects all response bodies that end, to search them for secrets. */
function readBodies(page: Page): () => Promise<string> {
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    // Its body would end with the page, and so never.
    if (new URL(response.url()).pathname.endsWith('/follow')) return;
    // A response of a document that was left no longer has a body.
    bodies.push(response.text().catch(() => ''));
  });
  return async () => (await Promise.all(bodies)).join('\n');
}

it('shows the node that is configured differently, expected differences on request only, and never a secret', async () => {
  const [n1] = await startDrifting();
  const { page } = await openConsole(browser(), n1.url);
  const bodies = readBodies(page);
  await page.getByRole('link', { name: 'Configuration', exact: true }).click();
  await waitUntilVisible(page.getByRole('heading', { name: '1 key differs among 3 nodes' }));
  const row = page.getByRole('row', { name: /query\.query-concurrency/ });
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(expect.arrayContaining(['100', '250']));
  expect(await row.locator('.is-outlier').innerText()).toBe('250');
  const same = page.getByRole('row', { name: /query\.idle-timeout/ });
  await waitUntilVisible(same.getByText('≈ same'));
  expect(await same.innerText()).toContain('10000ms');
  expect(await same.locator('.is-outlier').count()).toBe(0);

  const expected = page.getByRole('button', { name: /expected to differ/ });
  const port = page.getByRole('row', { name: /^broker\.http\.port/ });
  expect(await expected.getAttribute('aria-expanded')).toBe('false');
  expect(await port.count()).toBe(0);
  await expected.click();
  await waitUntilVisible(port);

  await row.getByRole('link', { name: '250' }).click();
  await waitUntilVisible(page.getByRole('table', { name: 'Lines of n1 and n3' }));
  const changed = page.locator('.pair-row.is-changed').filter({ hasText: 'query-concurrency' });
  expect((await changed.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
    /− query-concurrency = 100 .*\+ query-concurrency = 250/,
  );
  expect(await page.locator('.pair-row.is-equal').filter({ hasText: 'read-timeout' }).count()).toBe(1);
  await waitUntilVisible(page.locator('.pair-row').filter({ hasText: 'password' }).locator('.toml-mask'));

  await page.getByRole('link', { name: 'n3', exact: true }).first().click();
  await waitUntilVisible(page.getByRole('region', { name: 'TOML of n3' }).locator('.toml-mask'));
  expect(await page.content()).not.toContain(SECRET);

  // By label: the node that differs is alone in its zone.
  await page.goto(`${n1.url}/config`);
  await page.getByLabel('Compare within').selectOption('zone');
  await waitUntilVisible(
    page.getByRole('heading', { name: 'No key that could be compared differs among 2 nodes with zone=eu-1' }),
  );
  await page.getByRole('link', { name: 'node zone=eu-2 · no drift' }).click();
  await waitUntilVisible(page.getByRole('heading', { name: 'Only 1 node with zone=eu-2' }));
  expect(new URL(page.url()).search).toBe('?by=zone&in=zone=eu-2&role=node');
  await page.goto(`${n1.url}/nodes?by=zone`);
  await waitUntilVisible(page.getByRole('rowheader', { name: /^zone=eu-1 · All 2 nodes up · 2 errors/ }));
  await waitUntilVisible(page.getByRole('rowheader', { name: /^zone=eu-2 · 1 node up · 1 error/ }));
  await page.getByLabel('Find nodes').fill('zone=*-1');
  await waitUntilVisible(page.getByRole('heading', { name: 'All 2 nodes up' }));
  await waitUntilVisible(page.getByText('1 other node hidden · show all'));
  expect(await page.getByRole('row', { name: /n3/ }).count()).toBe(0);
  await page.goto(`${n1.url}/?label=zone=*-1`);
  await page.getByRole('link', { name: '2 errors on 2 nodes in the last hour' }).click();
  await waitUntilVisible(findRow(page, 'written in zone eu-1'));
  expect(await findRow(page, 'written in zone eu-2').count()).toBe(0);
  await page.getByRole('button', { name: 'Remove: zone=*-1' }).click();
  const labels = page.getByRole('list', { name: 'Only nodes with these labels' });
  await labels.getByRole('button', { name: 'zone=eu-2' }).click();
  await waitUntilVisible(findRow(page, 'written in zone eu-2'));
  await eventually(async () => expect(await findRow(page, 'written in zone eu-1').count()).toBe(0));
  const received = await bodies();
  expect(received).toContain('read-timeout');
  expect(received).not.toContain(SECRET);
});

it('finds a key of one node, marks changed settings, and reports that its file has changed', async () => {
  const file = join(tempDir(), 'porthole.toml');
  writeFileSync(file, '[search]\nworkers = 1\n');
  const { running } = await startTestNode({ file, settings: { cluster: { nodeId: 'n1' } } });
  const { page } = await openConsole(browser(), running.url, { path: '/nodes/n1/config', hasClock: true });
  const text = page.getByRole('region', { name: 'TOML of n1' });
  await waitUntilVisible(text);
  expect(await page.getByText('File on disk differs').count()).toBe(0);
  const line = text.locator('.toml-line').filter({ hasText: /^workers = 1/ });
  expect(await line.innerText()).toMatch(/changed, default \S+ · file/);

  await page.getByRole('searchbox', { name: 'Find in text' }).fill('workers');
  await waitUntilVisible(text.locator('mark.is-current'));
  await eventually(() => expect(new URL(page.url()).search).toBe('?q=workers'));
  await waitUntilVisible(page.getByText(/^1 of \d/));

  appendFileSync(file, '[http]\nport = 4711\n');
  await page.clock.fastForward(REFRESH_MS);
  await waitUntilVisible(page.getByText('File on disk differs: 1 key · restart needed'));
  await waitUntilVisible(page.getByRole('row', { name: /http\.port .* 4711/ }));
});

it('shows both values of an edited service file, and its text at start', async () => {
  const configFile = join(tempDir(), 'service.toml');
  writeFileSync(configFile, '[http]\nport = 9000\n');
  const { running } = await startTestNode({ settings: { service: { configFile }, cluster: { nodeId: 'n1' } } });
  writeFileSync(configFile, '[http]\nport = 9001\n');
  const { page } = await openConsole(browser(), running.url, { path: '/nodes/n1/config' });
  await waitUntilVisible(page.getByText('File changed since start: 1 key'));
  await waitUntilVisible(page.getByRole('row', { name: 'http.port 9000 9001' }));
  const text = page.getByRole('region', { name: 'TOML of n1' });
  await waitUntilVisible(text.getByText('port = 9001'));
  await page.getByRole('button', { name: 'TOML at start' }).click();
  await waitUntilVisible(text.getByText('port = 9000'));
  expect(new URL(page.url()).search).toBe('?as=start');
  await page.getByRole('button', { name: 'TOML on disk now' }).click();
  await waitUntilVisible(text.getByText('port = 9001'));
});

it('shows the text of a service that is configured in another format, and that it runs with other values', async () => {
  const configFile = join(tempDir(), 'redis.conf');
  writeFileSync(configFile, '# the cache\nport 6379\nrequirepass hunter2-hunter2\n');
  const configCommand = [process.execPath, '-p', '["port", "6380"].join("\\n")'];
  const settings = { service: { configFile, configCommand }, cluster: { nodeId: 'n1' } };
  const { running } = await startTestNode({ settings });
  const { page } = await openConsole(browser(), running.url, { path: '/nodes/n1/config' });
  await waitUntilVisible(page.getByRole('region', { name: 'TOML of n1' }).getByText('port = 6379'));
  await waitUntilVisible(page.getByText('The service runs with other values than its files have: 1 key'));
  await waitUntilVisible(page.getByText('port: 6379 → 6380'));
  await page.getByRole('button', { name: 'Source' }).click();
  const source = page.getByRole('region', { name: 'Source of n1' });
  await waitUntilVisible(source.getByText('# the cache'));
  expect(await source.innerText()).not.toContain('hunter2');
  expect(new URL(page.url()).search).toBe('?as=source');
  await page.getByRole('button', { name: 'Settings' }).click();
  await waitUntilVisible(page.getByRole('row', { name: 'port 6379 redis.conf:2' }));
});
