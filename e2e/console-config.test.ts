import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import { createMemberClient } from '@porthole/client/member';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
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
  await page.getByRole('tab', { name: 'Compare nodes 1' }).click();
  await waitUntilVisible(page.getByRole('heading', { name: '1 key differs among 3 nodes' }));
  const row = page.getByRole('row', { name: /query\.query-concurrency/ });
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(['100 2 nodes', expect.stringMatching(/^250\s+n3$/)]);
  expect(await row.locator('.is-unusual').count()).toBe(1);
  const same = page.getByRole('row', { name: /query\.idle-timeout/ });
  await waitUntilVisible(same.getByText('≈ same'));
  expect(await same.innerText()).toContain('10000ms');
  expect(await same.locator('.is-unusual').count()).toBe(0);
  await page.getByText('1 secret unknown on some nodes').click();
  await waitUntilVisible(page.getByText('coordinator.password n1, n2, n3'));
  // The outlier is preselected beside a node that has what most have.
  await waitUntilVisible(page.getByRole('region', { name: 'Lines of n1 and n3' }));

  const expected = page.getByRole('button', { name: /expected to differ/ });
  const port = page.getByRole('row', { name: /^broker\.http\.port/ });
  expect(await expected.getAttribute('aria-expanded')).toBe('false');
  expect(await port.count()).toBe(0);
  await expected.click();
  await waitUntilVisible(port);

  await row.getByRole('link', { name: /250/ }).click();
  await eventually(() => expect(new URL(page.url()).search).toBe('?left=n1&right=n3&expected=1'));
  const lines = page.getByRole('region', { name: 'Lines of n1 and n3' });
  const changed = lines.locator('.code-row.is-changed').filter({ hasText: 'query-concurrency' });
  expect(await changed.locator('del').innerText()).toBe('100');
  expect(await changed.locator('ins').innerText()).toBe('250');
  expect(await lines.locator('.code-row.is-equal').filter({ hasText: 'read-timeout' }).count()).toBe(1);
  const secret = lines.locator('.code-row').filter({ hasText: 'password' });
  await waitUntilVisible(secret.locator('.is-left .toml-mask'));
  await waitUntilVisible(secret.locator('.is-left').getByText('not compared: no fingerprint'));

  await page.getByRole('tab', { name: 'Text' }).click();
  await page.getByRole('button', { name: /^Node: / }).click();
  await page.getByRole('link', { name: 'n3', exact: true }).click();
  await waitUntilVisible(page.getByRole('region', { name: 'TOML of n3' }).locator('.toml-mask'));
  expect(await page.content()).not.toContain(SECRET);

  // By label: the node that differs is alone in its zone.
  await page.goto(`${n1.url}/config?tab=compare`);
  await page.getByRole('button', { name: 'Nodes: all' }).click();
  await page.getByLabel('Group by').selectOption('zone');
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

it('shows what a change was, and the error that began after it, in three clicks from the first page', async () => {
  const past = Array.from({ length: 40 }, (_, index) => line(1200 - index * 30, `calm ${index}`)).join('');
  const [n1, n2] = await startCluster([
    { config: serviceConfig({ port: 9000 }), files: { 'a.log': past } },
    { config: serviceConfig({ port: 9001 }), files: { 'a.log': past }, settings: { events: { logs: true } } },
  ]);
  if (!n2) throw new Error('there is one node only');
  const client = createClient({ url: n1.url });
  const periods = async () => (await client.configHistory({ nodes: ['n2'] })).nodes[0]?.history?.periods ?? [];
  await eventually(async () => expect(await periods()).toHaveLength(1), { withinMs: 20_000 });
  writeFileSync(n2.configFile, `# edited\n${serviceConfig({ port: 9001, timeout: '99s' })}`);
  await eventually(async () => expect(await periods()).toHaveLength(2), { withinMs: 30_000 });
  appendFileSync(
    join(n2.logDir, 'a.log'),
    `${line(0, 'fsync of segment 7 failed', 'ERROR').repeat(60)}${line(0, 'later')}`,
  );
  const events = async () => (await fetch(`${n1.url}/api/v1/events?nodes=*&kind=new-pattern`)).text();
  await eventually(async () => expect(await events()).toContain('fsync of segment 7'), { withinMs: 30_000 });

  const { page } = await openConsole(browser(), n1.url);
  await page.getByRole('link', { name: 'Configuration', exact: true }).click();
  // The node that changed last is chosen.
  await waitUntilVisible(page.getByRole('button', { name: 'Node: n2' }));
  const versions = page.getByRole('navigation', { name: 'Versions of n2' });
  await waitUntilVisible(versions.getByText('file edited · 1 key · query.idle-timeout'));
  expect(await versions.getByRole('link').count()).toBe(2);
  expect(await versions.getByRole('link').first().innerText()).toContain('on disk');
  await waitUntilVisible(page.getByRole('heading', { name: 'query.idle-timeout' }));
  const diff = page.getByRole('region', { name: 'Changes of n2' });
  await eventually(async () => expect(await diff.locator('del').allInnerTexts()).toEqual(['10s']));
  expect(await diff.locator('ins').allInnerTexts()).toEqual(['99s']);
  const after = page.getByRole('region', { name: 'After this change' });
  await waitUntilVisible(after.getByText(/later a new error began on this node: .*fsync of segment 7 failed \(60\)/));
  await waitUntilVisible(after.getByText('1 other node has 10s'));

  await page.getByRole('button', { name: 'Side by side' }).click();
  await eventually(() => expect(new URL(page.url()).search).toBe('?split=1'));
  await page.getByRole('searchbox', { name: 'Find key or value' }).fill('nothing such');
  await waitUntilVisible(page.getByText('No change of n2 has “nothing such” in a key or a value.'));
  await page.keyboard.press('Escape');
  await versions.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await waitUntilVisible(page.getByRole('heading', { name: 'The first configuration that is known' }));
  const since = page.getByRole('region', { name: 'Since it was first seen' });
  await waitUntilVisible(since.getByText(/later n1 started/));
  expect(await since.getByText('fsync').count()).toBe(0);

  await page.getByRole('tab', { name: 'Text' }).click();
  await waitUntilVisible(page.getByRole('link', { name: /^2 lines changed · Today/ }));
  expect(await page.locator('.code-line.is-marked').count()).toBe(2);
  await page.goBack();
  await page.goBack();
  await page.getByRole('link', { name: 'Open incident' }).click();
  await waitUntilVisible(page.getByRole('heading', { name: 'In the order it happened' }));
  await waitUntilVisible(page.getByText(/fsync of segment 7 failed/).first());
});

it('shows the versions of a node that was killed, as others have recorded them', async () => {
  const [n1, n2] = await startCluster([{ config: 'limit = 1\n' }, { config: 'limit = 2\n' }]);
  if (!n2) throw new Error('there is one node only');
  const member = createMemberClient({ url: n1.url });
  const recorded = async () => JSON.stringify(await member.recordedMember('n2').configHistory({ limit: 5 }));
  await eventually(async () => expect(await recorded()).toContain('fromMs'), { withinMs: 30_000 });
  await n2.running.stop();
  const { page } = await openConsole(browser(), n1.url, { path: '/config?node=n2' });
  await waitUntilVisible(page.getByText(/^n2 is not responding · shown as recorded by n1, until/));
  await waitUntilVisible(page.getByText('last known'));
  await waitUntilVisible(page.getByRole('region', { name: 'Changes of n2' }).getByText('limit = 2'));
});

it('finds a key of one node, marks changed settings, and reports that its file has changed', async () => {
  const file = join(tempDir(), 'porthole.toml');
  writeFileSync(file, '[search]\nworkers = 1\n');
  const { running } = await startTestNode({ file, settings: { cluster: { nodeId: 'n1' } } });
  const { page } = await openConsole(browser(), running.url, { path: '/nodes/n1/config', hasClock: true });
  const text = page.getByRole('region', { name: 'TOML of n1' });
  await waitUntilVisible(text);
  expect(await page.getByText('File on disk differs').count()).toBe(0);
  const line = text.locator('.code-line').filter({ hasText: /^\d+workers = 1/ });
  expect(await line.innerText()).toMatch(/changed, default \S+ · file/);

  await page.getByRole('searchbox', { name: 'Find in text' }).fill('workers');
  await waitUntilVisible(text.locator('mark.is-current'));
  await eventually(() => expect(new URL(page.url()).search).toBe('?q=workers'));
  await waitUntilVisible(page.getByText(/^1 of \d/));
  await page.keyboard.press('Enter');
  await waitUntilVisible(page.getByText(/^2 of \d/));

  appendFileSync(file, '[http]\nport = 4711\n');
  await page.clock.fastForward(REFRESH_MS);
  await waitUntilVisible(page.getByText('File on disk differs: 1 key · restart needed'));
  await waitUntilVisible(page.getByText(/http\.port: \d+ → 4711/));
  await waitUntilVisible(page.getByText(/^loaded Today .* · on disk since/));
});

it('shows both values of an edited service file, and its text at start', async () => {
  const configFile = join(tempDir(), 'service.toml');
  writeFileSync(configFile, '[http]\nport = 9000\n');
  const { running } = await startTestNode({ settings: { service: { configFile }, cluster: { nodeId: 'n1' } } });
  writeFileSync(configFile, '[http]\nport = 9001\n');
  const { page } = await openConsole(browser(), running.url, { path: '/nodes/n1/config' });
  await waitUntilVisible(page.getByText('File changed since start: 1 key'));
  await waitUntilVisible(page.getByText('http.port: 9000 → 9001'));
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
  const port = page
    .getByRole('region', { name: 'TOML of n1' })
    .locator('.code-line')
    .filter({ hasText: 'port = 6379' });
  await waitUntilVisible(port.getByText('redis.conf:2'));
  await waitUntilVisible(page.getByText('The service runs with other values than its files have: 1 key'));
  await waitUntilVisible(page.getByText('port: 6379 → 6380'));
  await page.getByRole('button', { name: 'Source' }).click();
  const source = page.getByRole('region', { name: 'Source of n1' });
  await waitUntilVisible(source.getByText('# the cache'));
  expect(await source.innerText()).not.toContain('hunter2');
  expect(new URL(page.url()).search).toBe('?as=source');
});

it('on a phone the versions are a menu, and no page is wider than the window', async () => {
  const [n1] = await startCluster([
    { config: serviceConfig({ port: 9000 }) },
    { config: serviceConfig({ port: 9001 }) },
  ]);
  const size = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page } = await openConsole(browser(), n1.url, { path: '/config?node=n1', ...size });
  await page.getByRole('button', { name: /^Version: Today/ }).click();
  await waitUntilVisible(page.getByRole('link', { name: /first seen/ }));
  await page.keyboard.press('Escape');
  await waitUntilVisible(page.getByText('1 other node responded').or(page.getByText('2 of 2 nodes responded')));
  for (const tab of ['Compare nodes', 'Text', 'History']) {
    await page.getByRole('tab', { name: tab }).click();
    await waitUntilVisible(page.getByRole('heading', { level: 1 }));
    const [width, room] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
    expect(width, tab).toBeLessThanOrEqual(room);
  }
  const small = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main :is(button, a, input, select)')].filter((one) => one.getBoundingClientRect().height < 43 && !one.closest('p')).map((one) => one.outerHTML.slice(0, 90))`,
  );
  expect(small).toEqual([]);
});
