import { appendFileSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { ClusterProcess } from './testing/cluster-process.ts';
import { line, startCluster } from './testing/console-cluster.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';
import { Program } from './testing/program.ts';

const browser = shareBrowser();

/** A process with an old error in its log. */
function startProcess(id: string, flags: readonly string[] = []): Promise<ClusterProcess> {
  const cwd = tempDir();
  mkdirSync(join(cwd, 'logs'));
  appendFileSync(
    join(cwd, 'logs', 'service.log'),
    line(90, `an old failure of ${id}`, 'ERROR') + line(30, 'all is well'),
  );
  return ClusterProcess.start(id, { cwd, flags: [...flags, '--cluster-first-batch-timeout', '20s'] });
}

/** Exactly two clicks. */
async function toNewestError(page: Page): Promise<void> {
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('link', { name: /^(at least )?\d+ errors?\b.*last hour/ }).click();
  await findRow(page, 'the newest failure').click();
  await waitUntilVisible(detailsPanel(page).getByText('the newest failure'));
}

it('shows which node of a cluster is missing, and leads to the newest error in two clicks', async () => {
  const [n2, n3] = await Promise.all([startProcess('n2'), startProcess('n3')]);
  const n1 = await startProcess('n1', ['--cluster-members', `n2=${n2.url},n3=${n3.url}`]);
  await eventually(async () => {
    const { nodes } = await n1.nodes();
    expect(nodes.map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  });
  await n3.kill();
  appendFileSync(join(n2.cwd, 'logs', 'service.log'), line(0, 'the newest failure', 'ERROR'));
  const { page } = await openConsole(browser(), n1.url);
  await waitUntilVisible(page.getByRole('heading', { name: 'n3 is down' }));
  await waitUntilVisible(page.getByText(/^2 of 3 nodes responded · n3 (last responded|is gone since) /));
  await eventually(async () =>
    expect(await page.getByRole('link', { name: 'n3', exact: true }).getAttribute('data-tip')).toMatch(
      /not responding/,
    ),
  );
  await toNewestError(page);
  await eventually(async () => expect(await detailsPanel(page).innerText()).toContain('n2'));
});

it('leads to the newest error of a single node in two clicks', async () => {
  const files = { 'a.log': line(60, 'an old failure', 'ERROR') + line(2, 'the newest failure', 'ERROR') };
  const [node] = await startCluster([{ files }]);
  const { page } = await openConsole(browser(), node.url);
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  await waitUntilVisible(page.getByRole('link', { name: '2 errors in the last hour' }));
  await toNewestError(page);
});

it('a missing log directory is reported in the headline, the row, the count and on the log page', async () => {
  const [n1, n2] = await startCluster([{ files: { 'a.log': line(2, 'fine') } }, {}]);
  renameSync(n2?.logDir ?? '', `${n2?.logDir}.away`);
  const { page } = await openConsole(browser(), n1.url);
  await waitUntilVisible(page.getByRole('heading', { name: 'n2 is degraded, and no errors found on 1 of 2 nodes' }));
  await waitUntilVisible(page.getByText(/^n2 log directory: .* does not exist$/));
  await page.getByRole('link', { name: 'Nodes', exact: true }).click();
  const row = page.getByRole('row', { name: /n2/ });
  await eventually(async () => expect(await row.innerText()).toMatch(/degraded.*log directory: .* does not exist/s));
  await page.goBack();
  await page.getByRole('link', { name: 'no errors found on 1 of 2 nodes' }).click();
  await waitUntilVisible(page.getByText(/n2 is degraded: log directory: .* does not exist/));
});

it('the missing log directory of a single node is reported too', async () => {
  const [n1] = await startCluster([{}]);
  renameSync(n1.logDir, `${n1.logDir}.away`);
  const { page } = await openConsole(browser(), n1.url);
  await waitUntilVisible(page.getByRole('heading', { name: 'n1 is degraded, and errors were not counted' }));
});

it('a killed node stays on the page, with what was recorded and a notice between the lines, until it is dismissed', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const [n1, n2] = await Promise.all([startProcess('n1', flags), startProcess('n2', flags)]);
  n2.write('the last words of n2');
  await n2.waitForRecording(n1);
  await n2.kill();
  await eventually(async () => expect((await n1.search()).outcomes.n2).toBe('gone'));
  n1.write('written after that');
  const { page } = await openConsole(browser(), n1.url, { path: '/logs' });
  const texts = async () => (await page.getByRole('row').allInnerTexts()).join('\n');
  await waitUntilVisible(page.getByText(/^n2 stopped responding .* · recorded by n1, until /));
  await eventually(async () =>
    expect(await texts()).toMatch(/the last words of n2.*n2 stopped responding.*written after that/s),
  );

  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await waitUntilVisible(page.getByRole('heading', { name: 'n2 is down' }));
  await waitUntilVisible(
    page.getByText(
      /1 of 2 nodes responded · n2 is gone since .*; recorded by n1, until .*\(\d\.\d s before it was lost\)/,
    ),
  );
  await page.getByRole('button', { name: 'dismiss' }).click();
  await waitUntilVisible(page.getByText('1 expired, dismissed'));
  await page.reload();
  await waitUntilVisible(page.getByText('1 expired, dismissed'));
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
});

it('offers the demo cluster if nothing is configured, until dismissed', async () => {
  const tmp = tempDir();
  const flags = ['--demo', '--http-port', '0', '--grpc-port', '0'];
  const program = new Program(['serve', ...flags], { cwd: tempDir(), env: { TMPDIR: tmp } });
  const { page } = await openConsole(browser(), await program.ready());
  const demoUrl = await page.getByRole('link', { name: 'Open the demo cluster' }).getAttribute('href');
  const demo = await openConsole(browser(), demoUrl ?? '');
  // What began, where and when, although all of them are up.
  const story = /^Errors rose on demo-broker-2 at \d\d:\d\d, and it stopped responding at \d\d:\d\d$/;
  await waitUntilVisible(demo.page.getByRole('heading', { name: story }));
  await waitUntilVisible(
    demo.page.getByText(/^All 3 nodes responded · (at least )?\d+ errors on 3 nodes in the last hour$/),
  );
  expect(await demo.page.getByText('Nothing is configured yet').count()).toBe(0);
  await page.getByRole('button', { name: 'dismiss' }).click();
  await page.reload();
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  expect(await page.getByText('Nothing is configured yet').count()).toBe(0);
  program.kill('SIGTERM');
  expect(await program.end()).toMatchObject({ code: 0, signal: null });
  expect(readdirSync(tmp)).toEqual([]);
});
