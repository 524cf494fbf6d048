import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { line, startCluster } from './testing/console-cluster.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

const PATHS = [
  '/',
  '/nodes/n1',
  '/nodes/n1/config',
  '/nodes/n1/logs',
  '/nodes/none',
  '/config',
  '/logs',
  '/logs?plain=1',
];

const browser = shareBrowser();

const HTML = `<img src="/x" onerror="globalThis.hasRun = true"><script>globalThis.hasRun = true</script>`;

const cluster = share(() => startCluster([{ files: { 'a.log': line(5, HTML, 'ERROR') }, config: 'limit = 1\n' }]));

it('injected content neither runs nor sends requests', async () => {
  const [node] = cluster();
  const { page, violations } = await openConsole(browser(), node.url, { expectsViolations: true });
  await waitUntilVisible(page.getByRole('heading', { name: '1 node is up' }));
  await page.evaluate(`{
    const script = document.createElement('script');
    script.textContent = 'globalThis.hasRun = true';
    const image = document.createElement('img');
    image.src = 'http://192.0.2.1/seen.png';
    const text = document.createElement('div');
    text.innerHTML = '<i style="color: red" onclick="globalThis.hasRun = true">click</i>';
    document.body.append(script, image, text);
    text.firstChild.click();
  }`);
  const outcome = await page.evaluate(`fetch('http://192.0.2.1/').then(() => 'answered', () => 'refused')`);
  expect(outcome).toBe('refused');
  await eventually(() =>
    expect(violations.map((text) => text.split(':')[0]).toSorted()).toEqual([
      'connect-src',
      'img-src',
      'script-src-attr',
      'script-src-elem',
      'style-src-attr',
    ]),
  );
  expect(await page.evaluate('globalThis.hasRun')).toBeUndefined();
});

it('a line that contains HTML is shown as text', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url);
  await waitUntilVisible(page.getByText(HTML).first());
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await findRow(page, HTML).click();
  await waitUntilVisible(detailsPanel(page).getByText(HTML));
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.evaluate('globalThis.hasRun')).toBeUndefined();
});

it('every page is served with the policy and complies with it', async () => {
  const [node] = cluster();
  const { page } = await openConsole(browser(), node.url);
  for (const path of PATHS) {
    const answer = await page.goto(new URL(path, node.url).href);
    const policy = (await answer?.headerValue('content-security-policy')) ?? '';
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    await waitUntilVisible(page.getByRole('main').getByRole('heading', { level: 1 }));
  }
});
