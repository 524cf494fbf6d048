import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { startCluster } from './testing/console-cluster.ts';
import { LogPage } from './testing/console-log-page.ts';
import { waitUntilVisible } from './testing/open-console.ts';

const FIRST_MS = Date.UTC(2026, 10, 1, 12);

const browser = shareBrowser();

/** 600 lines, one in a second: requests to two databases, each with its cost and id; the last minute fails. */
function requests(node: number): string {
  return Array.from({ length: 600 }, (_, number) => {
    const time = new Date(FIRST_MS + number * 1000).toISOString().slice(0, 23).replace('T', ' ');
    const level = number >= 540 ? 'ERROR' : 'INFO';
    const context = {
      db: number % 4 === 0 ? 'shop' : 'orders',
      cost: `${(number % 100) + 1}ms`,
      request_id: `r${number}`,
    };
    return `${time}\t${level}\tquery/exec.go:${node}\t[Query]: request ${number}\t${JSON.stringify(context)}\n`;
  }).join('');
}

const cluster = share(() => startCluster([{ files: { 'a.log': requests(1) } }, { files: { 'a.log': requests(2) } }]));

function openRequests(query = ''): Promise<LogPage> {
  const [{ url }] = cluster();
  return LogPage.open(browser(), `${url}/logs?live=0${query}`);
}

const parameter = ({ page }: LogPage, name: string) => new URL(page.url()).searchParams.get(name);

it('the chart is split by node or any field, as the URL says', async () => {
  const log = await openRequests();
  const { page } = log;
  const split = async (by: string) => {
    await page.getByRole('button', { name: /^Split the chart/ }).click();
    await page.locator('.menu-body').getByRole('button', { name: by, exact: true }).click();
  };
  const legend = async (by: string) =>
    (
      await page
        .getByRole('list', { name: `Split by ${by}` })
        .getByRole('listitem')
        .allInnerTexts()
    ).map((text) => text.replace(/\s+/g, ' '));
  await split('db');
  await eventually(async () => expect(await legend('db')).toEqual(['orders 900', 'shop 300']));
  expect(parameter(log, 'split')).toBe('db');
  await page.reload();
  await eventually(async () => expect(await legend('db')).toEqual(['orders 900', 'shop 300']));
  await split('node');
  await eventually(async () => expect((await legend('node')).toSorted()).toEqual(['n1 600', 'n2 600']));
  await split('level');
  await eventually(async () => expect(await page.locator('.chart-legend').count()).toBe(0));
  expect(parameter(log, 'split')).toBeNull();
});

it('a pinned field stays among the facets, a click includes a value, another one excludes it', async () => {
  const log = await openRequests();
  const { page } = log;
  const facets = page.getByRole('complementary', { name: 'Facets' });
  const facet = facets.locator('.facet', { hasText: /^db/ });
  await facet.hover();
  await facets.getByRole('button', { name: 'Pin db to the facets' }).click();
  await page.goto(new URL('/logs?live=0', page.url()).href);
  const value = facet.getByRole('button', { name: 'shop', exact: true });
  await value.click();
  await eventually(() => expect(parameter(log, 'query')).toBe('db=shop'));
  await value.click();
  await eventually(() => expect(parameter(log, 'query')).toBe('-db=shop'));
  await eventually(async () => expect(await value.getAttribute('aria-pressed')).toBe('mixed'));
  await value.click();
  await eventually(() => expect(parameter(log, 'query')).toBeNull());
  await facet.hover();
  await facets.getByRole('button', { name: 'Unpin db' }).click();
  await eventually(async () => expect(await value.count()).toBe(0));
});

it('a pattern without a call site is included, excluded and left out by clicks, and found from a record', async () => {
  const lines = [0, 1, 2, 3].map((number) => `2026-11-01T12:00:0${number}Z WARN pool ${number} is full after 3 s`);
  const other = '2026-11-01T12:00:05Z WARN disk 7 is slow';
  const [{ url }] = await startCluster([{ files: { 'a.log': [...lines, other, ''].join('\n') } }]);
  const log = await LogPage.open(browser(), `${url}/logs?live=0`);
  const { page } = log;
  const pools = [0, 1, 2, 3].map((number) => `pool ${number} is full after 3 s`);
  const shows = (...texts: string[]) => eventually(async () => expect(await log.texts()).toEqual(texts));
  const query = () => new URL(page.url()).searchParams.get('query');
  await shows(...pools, 'disk 7 is slow');
  // The rows have the time only, and it is not of today.
  expect(await page.locator('.gutter-day').textContent()).toBe('1 Nov 2026');
  const pattern = page.getByRole('button', { name: 'pool … is full after …' });
  await pattern.click();
  await shows(...pools);
  expect(query()).toBe('level=warn "is full after" pool');
  await pattern.click();
  await shows('disk 7 is slow');
  expect(query()).toBe('-(level=warn "is full after" pool)');
  await page.goBack();
  await page.goBack();
  await shows(...pools, 'disk 7 is slow');
  await page.getByText('disk 7 is slow').click();
  await page.getByRole('tab', { name: 'Same pattern 1' }).click();
  await waitUntilVisible(page.getByText(/^1× in the 15 min before it, only on n1/));
  await page.getByRole('button', { name: 'Only records with the same words' }).click();
  await shows('disk 7 is slow');
});

it('details show how a number is spread over the records of the view, and everything with a value', async () => {
  const log = await openRequests('&query=db=shop');
  const { page } = log;
  await log.rows.filter({ hasText: 'request 596' }).first().click();
  const details = page.getByRole('complementary', { name: 'Details of the record' });
  await details.getByRole('button', { name: 'More about cost' }).click();
  const spread = details.getByRole('figure');
  await eventually(async () =>
    expect((await spread.innerText()).replace(/\s+/g, ' ')).toBe(
      'min 1 ms p50 49 ms p90 89 ms p99 97 ms max 97 ms All 300 records with it',
    ),
  );
  await details.getByRole('button', { name: 'Everything with request_id = r596, on all nodes' }).click();
  await eventually(() => expect(parameter(log, 'query')).toBe('request_id=r596'));
  await eventually(async () => expect(await log.rows.count()).toBe(2));
  const nodes = (await log.rows.allInnerTexts()).map((text) => /\bn[12]\b/.exec(text)?.[0]);
  expect(nodes.toSorted()).toEqual(['n1', 'n2']);
});

it('a dragged range is zoomed to and explained, also by keyboard, and left again', async () => {
  const log = await openRequests();
  const { page } = log;
  const chart = page.getByRole('slider', { name: 'Records over time' });
  await chart.waitFor();
  const box = await chart.boundingBox();
  if (!box) throw new Error('there is no chart');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.85, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.95, y, { steps: 4 });
  await page.mouse.up();
  await eventually(() => expect(parameter(log, 'from')).not.toBeNull());
  const range = [parameter(log, 'from'), parameter(log, 'to')];
  // A minute: seconds tell the times apart.
  await eventually(async () => expect(await page.locator('.chart-axis').innerText()).toMatch(/\d\d:\d\d:\d\d/));
  await page.getByRole('link', { name: 'What happened?' }).click();
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/incidents'));
  expect([parameter(log, 'from'), parameter(log, 'to')]).toEqual(range);
  await page.goBack();
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await eventually(() => expect(parameter(log, 'from')).toBeNull());
  await chart.focus();
  for (const key of ['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'i']) await chart.press(key);
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/incidents'));
  expect(parameter(log, 'to')).not.toBeNull();
});

it('an invalid query of a URL is explained once, at its place', async () => {
  const [{ url }] = cluster();
  const log = await LogPage.open(browser(), `${url}/logs?query=db=shop+cost%3E`, { hasRows: false });
  const { page } = log;
  await eventually(async () =>
    expect(await page.locator('.field-problem').allInnerTexts()).toEqual([expect.stringContaining('at character 14')]),
  );
  expect(await page.locator('.notice, .chart, .facet').count()).toBe(0);
  expect(await log.pill.count()).toBe(0);
  await page.getByRole('combobox', { name: 'Find in the logs' }).fill('db=shop cost>90ms');
  await page.keyboard.press('Enter');
  await log.rows.first().waitFor();
  await page.locator('.facet').first().waitFor();
});
