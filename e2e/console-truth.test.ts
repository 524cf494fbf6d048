import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { share, tempDir } from '@porthole/records/testing';
import { createToken } from '@porthole/server/tokens';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { countedLines, line, startCluster } from './testing/console-cluster.ts';
import { openConsole, waitUntilVisible } from './testing/open-console.ts';

const browser = shareBrowser();

const findPill = (page: Page) => page.locator('.live-button');
const shownRows = (page: Page) => page.locator('.row-record, .rows-block [role="row"]');
const findStatus = (page: Page) => page.getByRole('combobox', { name: 'Find in the logs' });

/** Counts the lines of a file without loading it. */
async function countLines(path: string): Promise<{ count: number; last: string }> {
  let [count, last] = [0, ''];
  for await (const text of createInterface({ input: createReadStream(path) })) {
    count++;
    last = text;
  }
  return { count, last };
}

function isShown(list: Locator, name: string | RegExp): Promise<string | null> {
  return list.getByRole('button', { name }).first().getAttribute('aria-pressed');
}

/** Two logs of the last seconds. */
const cluster = share(() =>
  startCluster([
    { files: { 'a.log': countedLines(30) }, config: 'a = 1\n' },
    { files: { 'b.log': countedLines(5, { name: 'other' }) }, config: 'a = 2\n' },
  ]),
);

describe('what the console reports', () => {
  it('a file without timestamps and a binary one are named, and the log page is live', async () => {
    const [{ url }] = await startCluster([
      { files: { 'a.log': countedLines(30), 'notes.log': 'only text\n'.repeat(40), 'core.log': '\0'.repeat(4000) } },
    ]);
    const { page } = await openConsole(browser(), url, { path: '/logs' });
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await waitUntilVisible(page.getByText('2 files are not shown (binary or without timestamps)'));
    await eventually(async () => expect(await findPill(page).textContent()).toBe('Live'));
    expect(await page.getByText('only text').count()).toBe(0);
    await page.getByRole('link', { name: 'notes.log' }).click();
    await waitUntilVisible(page.getByText('only text').first());
    await eventually(async () => expect(await findPill(page).textContent()).toBe('Live'));
  });

  it('a copy of a log is counted, with its name and its node in the title', async () => {
    const [{ url, logDir }, other] = await startCluster([
      { files: { 'a.log': countedLines(3), 'a.log.1': countedLines(30, { name: 'old' }) } },
      { files: { 'b.log': countedLines(5), 'b.log.1': countedLines(30, { name: 'other' }) } },
    ]);
    const copy = (dir: string, name: string) =>
      writeFileSync(join(dir, `${name}.gz`), gzipSync(readFileSync(join(dir, name))));
    copy(logDir, 'a.log.1');
    copy(other?.logDir ?? '', 'b.log.1');
    const { page } = await openConsole(browser(), url, { path: '/logs' });
    await waitUntilVisible(page.getByText('line 3', { exact: true }));
    const note = page.getByText('2 copies skipped');
    await waitUntilVisible(note);
    await eventually(async () =>
      expect(await note.getAttribute('data-tip')).toBe(
        'n1 a.log.1.gz: same text as a.log.1\nn2 b.log.1.gz: same text as b.log.1',
      ),
    );
    await eventually(async () => expect(await page.getByText('old 30', { exact: true }).count()).toBe(1));
    await page.goto(`${url}/logs?src=n1`);
    await waitUntilVisible(page.getByText('1 copy skipped'));
  });

  it('an unknown page is reported, and so are ignored parts of a URL', async () => {
    const [{ url }] = cluster();
    const { page } = await openConsole(browser(), url, { path: '/logs?level=BANANA&lvl=error' });
    await waitUntilVisible(page.getByText(/level=BANANA is ignored: expected trace/));
    await waitUntilVisible(page.getByText(/lvl is not a parameter of this page/));
    const answer = await page.goto(`${url}/nothing`);
    expect(answer?.status()).toBe(404);
    await waitUntilVisible(page.getByRole('heading', { name: 'Page not found' }));
  });

  it('a link to a node that is gone for good leads on to others', async () => {
    const [{ url }] = await startCluster([{ files: { 'a.log': line(5, 'one') } }]);
    const { page } = await openConsole(browser(), url, { path: '/config?tab=text&node=gone' });
    await waitUntilVisible(page.getByRole('heading', { name: 'No node named gone' }));
    await page.getByRole('link', { name: 'n1' }).click();
    await eventually(() => expect(page.url()).toBe(`${url}/config?tab=text&node=n1`));
    for (const [path, way] of [
      ['/logs?src=gone', 'All logs'],
      ['/logs?at=gone/abc.a2.80.x.1s.YS5sb2c', 'Newest records'],
    ] as const) {
      await page.goto(url + path);
      await page.getByRole('button', { name: way }).click();
      await waitUntilVisible(page.getByText('one', { exact: true }));
    }
  });

  it('"not" excludes the typed text and does not search for it', async () => {
    const [{ url }] = cluster();
    const { page } = await openConsole(browser(), url, { path: '/logs?only=1', hasClock: true });
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await findStatus(page).pressSequentially('line 2');
    await page.getByRole('button', { name: 'Exclude records that contain this text' }).click();
    await eventually(async () => expect(page.url()).toContain('not=line+2'));
    await waitUntilVisible(page.getByText('line 19', { exact: true }));
    // A search for the typed text would have started by now.
    await page.clock.fastForward(5000);
    expect(new URL(page.url()).searchParams.get('q')).toBeNull();
    await eventually(async () => expect(await page.getByText('line 29', { exact: true }).count()).toBe(0));
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
  });

  it('a record whose line has other words than the page shows of it is neither found nor marked', async () => {
    const json = (ts: string) => `${JSON.stringify({ level: 'info', ts, msg: 'moved', shard: 7 })}\n`;
    const files = { 'a.log': json(new Date(Date.now() - 2000).toISOString()), 'b.log': line(1, 'shard=7 moved') };
    const [{ url }] = await startCluster([{ files }]);
    const { page } = await openConsole(browser(), url, { path: '/logs?q=shard%3D7' });
    await waitUntilVisible(page.getByText('1 match', { exact: true }));
    await eventually(async () => expect(await page.locator('mark').allTextContents()).toEqual(['shard=7']));
    expect(await page.getByText('shard=7').count()).toBeGreaterThan(1);
  });

  it('an incomplete regex leaves rows, nodes and the live button unchanged', async () => {
    const [{ url }] = cluster();
    const { page } = await openConsole(browser(), url, { path: '/logs?only=1&re=1' });
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await findStatus(page).pressSequentially('line (');
    await waitUntilVisible(page.locator('#find-message'));
    expect(await page.getByText('nodes responded').count()).toBe(0);
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await eventually(async () => expect(await findPill(page).textContent()).toBe('Live'));
    await findStatus(page).pressSequentially('29|30)');
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await eventually(async () => expect(await page.getByText('line 28', { exact: true }).count()).toBe(0));
  });

  it('a log below the directory is chosen, and a time range with an end stops following; choices are marked', async () => {
    const files = { 'web/a.log': countedLines(30), 'b.log': line(1, 'b') };
    const [{ url }] = await startCluster([{ files, settings: { log: { recursive: true } } }, {}]);
    const { page } = await openConsole(browser(), url, { path: '/logs?src=n1' });
    await eventually(async () => expect(await findPill(page).textContent()).toBe('Live'));
    const nodes = page.getByRole('list', { name: 'Nodes shown' });
    await eventually(async () => expect(await isShown(nodes, /^n1/)).toBe('true'));
    await eventually(async () => expect(await isShown(nodes, /^n2/)).toBe('false'));
    await page.getByRole('button', { name: 'Logs of n1' }).click();
    const logs = page.getByRole('list', { name: 'Logs of n1' });
    for (const name of ['web/a.log', 'b.log'])
      await eventually(async () => expect(await isShown(logs, name)).toBe('true'));
    await logs.getByRole('button', { name: 'web/a.log' }).click();
    await eventually(async () => expect(await isShown(logs, 'b.log')).toBe('false'));
    await eventually(async () => expect(decodeURIComponent(page.url())).toContain('src=n1/web/a.log'));
    await waitUntilVisible(page.getByText('line 30', { exact: true }));
    await page.getByLabel(/^Time range/).click();
    await page.getByLabel('To', { exact: true }).fill('2099-01-01 00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await eventually(async () => expect(await findPill(page).textContent()).toBe('Follow'));
  });

  it('the counts of nodes are of the levels that are shown', async () => {
    const errors = Array.from({ length: 3 }, (_, index) => line(40 + index, 'failed', 'ERROR')).join('');
    const [{ url }] = await startCluster([
      { files: { 'a.log': countedLines(30, { errorEvery: 100 }) + errors } },
      { files: { 'b.log': countedLines(5) } },
    ]);
    const { page } = await openConsole(browser(), url, { path: '/logs' });
    const nodes = page.getByRole('list', { name: 'Nodes shown' });
    const names = () =>
      nodes.getByRole('button', { name: /^n\d/ }).evaluateAll((all) => all.map((each) => each.ariaLabel));
    await eventually(async () => expect(await names()).toEqual(['n1, 33', 'n2, 5']));
    await page.getByRole('button', { name: 'Error and above, 3' }).click();
    await eventually(async () => expect(await names()).toEqual(['n1, 3', 'n2, 0']));
    await page.getByRole('button', { name: /^n1/ }).click();
    await eventually(async () => expect(await names()).toEqual(['n1, 3', 'n2']));
  });

  it('comparing with a node that does not exist sends each request once', async () => {
    const [{ url }] = cluster();
    const { page, requested } = await openConsole(browser(), url, { path: '/config?left=x&right=n2' });
    await waitUntilVisible(page.getByText('No node named "x"'));
    expect(requested.filter((address) => address.includes('nodes=x') || address.includes('/nodes/x/'))).toEqual([]);
  });
});

describe('a download', () => {
  const RECORDS = 101_000;

  async function startGuarded() {
    const tokenFile = join(tempDir(), 'tokens');
    const { token, line: stored } = createToken('operator');
    writeFileSync(tokenFile, `${stored}\n`, { mode: 0o600 });
    const files = { 'a.log': countedLines(RECORDS) };
    const [node] = await startCluster([{ files, settings: { auth: { tokenFile } } }]);
    return { node, token };
  }

  it('has every record, also with a token, and ends with a completeness note', async () => {
    const { node, token } = await startGuarded();
    const { page, requested } = await openConsole(browser(), node.url, { path: '/logs', acceptDownloads: true });
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.getByRole('button', { name: 'Use token' }).click();
    await waitUntilVisible(shownRows(page).first());
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('button', { name: 'Share' })
        .click()
        .then(() => page.getByRole('button', { name: 'Download' }).click()),
    ]);
    const { count, last } = await countLines(await download.path());
    expect(last).toBe(`# porthole: complete · ${RECORDS} records · 1 nodes`);
    expect(count).toBe(RECORDS + 1);
    expect(download.url()).toMatch(/ticket=/);
    expect(requested.filter((address) => address.includes(token))).toEqual([]);
    const again = await fetch(download.url());
    expect(again.status).toBe(401);
  });
});
