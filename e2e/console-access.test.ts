import { share } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { faultsOfPages, faultsOfTokenDialog, goForward, places, startTwo } from './testing/console-faults.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

const browser = shareBrowser();

const two = share(startTwo);

describe('in the light theme axe finds nothing wrong', () => {
  it('on any page, and on any dialog', async () => {
    const { page } = await openConsole(browser(), two().url);
    expect(await faultsOfPages(page, 'light')).toEqual([]);
  });

  it('where a token is required', async () => {
    expect(await faultsOfTokenDialog(browser(), 'light')).toEqual([]);
  });
});

describe.each([
  ['a telephone', { viewport: { width: 360, height: 740 } }],
  ['a zoom of 200 %', { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }],
])('with %s', (_name, size) => {
  it('no page is wider than the window, and all controls can be clicked', async () => {
    const { url } = two();
    const { page } = await openConsole(browser(), url, size);
    const fits = async () => {
      const [width, room] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
      expect(width, page.url()).toBeLessThanOrEqual(room);
    };
    const openPage = async (name: string) => {
      const menu = page.getByRole('button', { name: 'Pages' });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).locator('visible=true').click();
    };
    await waitUntilVisible(page.getByRole('heading', { name: 'All 2 nodes are up' }));
    await waitUntilVisible(page.getByText('1 key differs'));
    await fits();
    // On a narrow page the whole row is the link.
    await page
      .getByRole('link', { name: /^n1(: |$)/ })
      .first()
      .click();
    await waitUntilVisible(page.getByRole('table', { name: 'Runs, newest first' }));
    await waitUntilVisible(page.getByRole('link', { name: 'a.log' }));
    await fits();
    await page.goto(`${url}/nodes/n1/config`);
    await waitUntilVisible(page.locator('.toml-mask'));
    await fits();
    await openPage('Configuration');
    await waitUntilVisible(page.getByText('2 of 2 nodes responded'));
    await fits();
    await page.getByRole('tab', { name: 'Compare nodes' }).click();
    await page.getByRole('button', { name: /expected to differ/ }).click();
    await waitUntilVisible(page.getByRole('region', { name: 'Lines of n1 and n2' }));
    await fits();
    await openPage('Overview');
    await page.getByRole('link', { name: /errors? .*last hour/ }).click();
    await findRow(page, 'broken').click();
    await waitUntilVisible(detailsPanel(page).getByText('broken'));
    await fits();
    await detailsPanel(page).getByRole('button', { name: /Close/ }).click();
    await page.getByRole('button', { name: 'Facets', exact: true }).click();
    await page.getByRole('button', { name: /^Info and above/ }).click();
    await fits();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('combobox', { name: 'Find in the logs' }).fill('slow');
    await page.getByRole('button', { name: 'only matches' }).click();
    await waitUntilVisible(findRow(page, 'slow'));
    await page.getByLabel(/^Time range/).click();
    await page.getByRole('button', { name: 'Last 5 min' }).click();
    await page.getByRole('button', { name: /Paused|Follow/ }).click();
    await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
    await fits();
    await page.getByRole('button', { name: 'Commands' }).click();
    await page.getByRole('option', { name: /Show all keys/ }).click();
    await fits();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Facets', exact: true }).click();
    await page.getByRole('button', { name: 'Logs of n1' }).click();
    await waitUntilVisible(page.getByRole('dialog').getByText('a.log'));
    await fits();
  });
});

/**
 * What a finger presses, with its size; of what lies in a sentence, WCAG 2.5.8 asks no size, nor of what has the size of
 * its data: rows of logs and of tables of text, minutes of a chart and marks in it, all of which can be reached otherwise.
 */
const TARGETS = `(() => {
  const isData = (own) => own.closest('[role="grid"], .cells, .chart, .count-plot, .gutter, pre');
  const found = [];
  for (const own of document.querySelectorAll('a[href], button, input, select, textarea, summary, [role="tab"]')) {
    const label = own.closest('label');
    const field = own.closest('.query-field');
    const box = (label && own.matches('[type="checkbox"], [type="radio"]') ? label : own.matches('input') && field || own).getBoundingClientRect();
    const isShown = box.width > 1 && box.height > 1 && box.bottom > 0 && own.checkVisibility({ visibilityProperty: true });
    const style = getComputedStyle(own);
    if (!isShown || style.clipPath !== 'none' || (own.matches('a') && style.display === 'inline') || isData(own)) continue;
    if (Math.round(box.height) < 44 || Math.round(box.width) < 44)
      found.push(location.pathname + ' ' + Math.round(box.width) + 'x' + Math.round(box.height) + ' ' + own.outerHTML.slice(0, 120));
  }
  return found;
})()`;

describe('on a phone', () => {
  it('everything that is pressed is 44 pixels wide and high', async () => {
    const { url } = two();
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await openConsole(browser(), url, phone);
    const small: string[] = [];
    for (const [path, isShown] of places(page)) {
      await goForward(page, path);
      await isShown();
      small.push(...(await page.evaluate<string[]>(TARGETS)));
    }
    await page.getByRole('button', { name: 'Pages' }).click();
    small.push(...(await page.evaluate<string[]>(TARGETS)));
    await page.keyboard.press('Escape');
    for (const name of [/^Time range/, 'Session']) {
      await page.getByRole('button', { name }).click();
      small.push(...(await page.evaluate<string[]>(TARGETS)));
      await page.keyboard.press('Escape');
    }
    expect(small).toEqual([]);
  });
});
