import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { countedLines, line, startCluster } from './testing/console-cluster.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

/** More than any page has tab stops. */
const MAX_TABS = 150;

const browser = shareBrowser();

const two = share(async () => {
  const [node] = await startCluster([
    { files: { 'a.log': countedLines(120) + line(0, 'the last failure', 'ERROR') }, config: 'limit = 1\n' },
    { files: { 'b.log': countedLines(10, { name: 'other', errorEvery: 100 }) }, config: 'limit = 2\n' },
  ]);
  return node;
});

/** Presses Tab until the named element has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press('Tab');
    if (name.test(await page.evaluate<string>(FOCUSED_NAME))) return;
  }
  throw new Error(`${name} cannot be reached by Tab`);
}

const FOCUSED_NAME = `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`;

const urlQuery = (page: Page) => new URL(page.url()).searchParams;

const focusedRow = (page: Page) => page.getByRole('grid').locator('[aria-selected=true]');

/** Resolves when this line is in focus. */
function inFocus(page: Page, text: string): Promise<void> {
  return eventually(async () => expect(await focusedRow(page).innerText()).toContain(text));
}

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

it('errors are found and read with the keyboard alone', async () => {
  const { url } = two();
  const { page } = await openConsole(browser(), url);
  const { keyboard } = page;
  await waitUntilVisible(page.getByRole('link', { name: /errors? on .*last hour/ }));
  await tabTo(page, /errors? on .*last hour/);
  await keyboard.press('Enter');
  await waitUntilVisible(findRow(page, 'the last failure'));
  await keyboard.press('ArrowUp');
  await inFocus(page, 'the last failure');
  await keyboard.press('Enter');
  await waitUntilVisible(detailsPanel(page).getByText('the last failure'));
  await keyboard.press('k');
  await inFocus(page, 'line 120');
  await waitUntilVisible(detailsPanel(page).getByText('line 120'));
  await keyboard.press('Escape');
  await detailsPanel(page).waitFor({ state: 'hidden' });
  await keyboard.press('j');
  await inFocus(page, 'the last failure');
  await keyboard.press('E');
  await inFocus(page, 'line 120');
  await keyboard.press('g');
  await inFocus(page, 'line 10');
});

it('matches are found and stepped through, with and without context', async () => {
  const { url } = two();
  const { page } = await openConsole(browser(), url, { path: '/logs?src=n1' });
  const { keyboard } = page;
  await waitUntilVisible(findRow(page, 'the last failure'));
  await keyboard.press('/');
  await keyboard.type('line 11');
  await keyboard.press('Enter');
  await inFocus(page, 'line 119');
  await keyboard.press('Escape');
  await keyboard.press('N');
  await inFocus(page, 'line 118');
  await keyboard.press('n');
  await inFocus(page, 'line 119');
  await keyboard.press('Alt+Enter');
  await eventually(async () => expect(await findRow(page, /line \d/).count()).toBe(11));
  await eventually(() => expect(urlQuery(page).get('only')).toBe('1'));
  await inFocus(page, 'line 119');
  await keyboard.press('c');
  await waitUntilVisible(findRow(page, 'line 120'));
  await inFocus(page, 'line 119');
  await keyboard.press('c');
  await eventually(async () => expect(await findRow(page, 'line 120').count()).toBe(0));
  await keyboard.press('Alt+Enter');
  await waitUntilVisible(findRow(page, 'line 120'));
});

it('a log is paused, followed and copied from, and a time is opened', async () => {
  const { url } = two();
  const { page } = await openConsole(browser(), url, {
    path: '/logs?src=n1',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { keyboard } = page;
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));
  await keyboard.press('f');
  await waitUntilVisible(page.getByRole('button', { name: 'Paused' }));
  await keyboard.press('f');
  await waitUntilVisible(page.getByRole('button', { name: 'Live' }));

  await keyboard.press('E');
  await inFocus(page, 'the last failure');
  await keyboard.press('y');
  await eventually(async () => expect(await copied(page)).toMatch(/ERROR\t.*the last failure$/));
  await keyboard.press('Shift+Y');
  await eventually(async () => expect(await copied(page)).toMatch(/^http.*[?&]at=n1\//));

  await keyboard.press('h');
  await eventually(() => expect(urlQuery(page).get('chart')).toBe('0'));
  await keyboard.press('h');
  await eventually(() => expect(urlQuery(page).get('chart')).toBeNull());
  await keyboard.press('Shift+Z');
  await eventually(() => expect(urlQuery(page).get('wrap')).toBe('1'));

  await keyboard.press('t');
  await waitUntilVisible(page.getByRole('dialog', { name: 'Go to a time' }));
  await keyboard.type('2026-11-15 14:0');
  await waitUntilVisible(page.getByText('expected a time of day like 14:05 at "14:0"'));
  await keyboard.type('5');
  await waitUntilVisible(page.getByText('15 Nov 2026 14:05:00.000 UTC'));
  await page.getByLabel('Time', { exact: true }).fill('-1m');
  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Go to a time' }).waitFor({ state: 'hidden' });
  await eventually(() => expect(urlQuery(page).get('live')).not.toBe('1'));
  // A minute before now, however long the page took so far.
  await waitUntilVisible(findRow(page, /line ([6-9]|1[01])\d/).first());

  await page.getByLabel(/^Time range/).click();
  await page.getByLabel('From', { exact: true }).fill('@1790812800');
  await waitUntilVisible(page.getByText('1 Oct 2026 00:00:00.000 UTC'));
  await page.getByLabel('To', { exact: true }).fill('2026-09-30');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await waitUntilVisible(
    page.getByText('From (2026-10-01T00:00:00.000Z) must be before To (2026-09-30T00:00:00.000Z)'),
  );
  await page.getByLabel('To', { exact: true }).fill('2026-10-02 UTC');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await eventually(() => expect(urlQuery(page).get('to')).toBe('2026-10-02T00:00:00.000Z'));
});

it('the palette opens another page, and single-letter shortcuts can be turned off', async () => {
  const { url } = two();
  const { page } = await openConsole(browser(), url, { path: '/logs?src=n1' });
  const { keyboard } = page;
  await waitUntilVisible(findRow(page, 'the last failure'));
  await keyboard.press('ArrowUp');
  await inFocus(page, 'the last failure');
  await keyboard.press('?');
  await waitUntilVisible(page.getByRole('dialog', { name: 'Keys' }));
  const shortcuts = page.getByLabel('Single-letter shortcuts');
  // Its first element has the focus as soon as it is drawn.
  await waitUntilVisible(shortcuts.and(page.locator(':focus')));
  await keyboard.press('Space');
  await eventually(async () => expect(await shortcuts.isChecked()).toBe(false));
  await keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
  await keyboard.press('k');
  await keyboard.press('?');
  // A shortcut that always works comes last: any effect of the others would be visible by now.
  await keyboard.press('ArrowUp');
  await inFocus(page, 'line 120');
  expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0);

  await keyboard.press('Control+k');
  await waitUntilVisible(page.getByRole('combobox', { name: 'Search pages and commands' }));
  await keyboard.type('config of n2');
  // The page learns of other nodes from its own.
  await waitUntilVisible(
    page.getByRole('option', { name: 'Configuration of n2' }).and(page.locator('[aria-selected="true"]')),
  );
  await keyboard.press('Enter');
  await waitUntilVisible(page.getByRole('region', { name: 'TOML of n2' }));
  await eventually(() => expect(new URL(page.url()).pathname).toBe('/nodes/n2/config'));
});

it('everything focusable shows its focus', async () => {
  const { url } = two();
  const { page } = await openConsole(browser(), url);
  for (const path of [
    '/',
    '/incidents',
    '/incidents?from=1h&to=now',
    '/nodes',
    '/nodes/n1',
    '/nodes/n1/config',
    '/config',
    '/logs',
  ]) {
    await page.goto(new URL(path, url).href);
    await waitUntilVisible(page.getByRole('main').getByRole('heading', { level: 1 }));
    const styles = await walk(page);
    expect(styles.length, path).toBeGreaterThan(8);
    expect(styles.filter(({ isSeen }) => !isSeen)).toEqual([]);
  }
});

interface FocusStyle {
  isBody: boolean;
  isSeen: boolean;
  what: string;
}

/** The focus style of every tab stop of the page. */
async function walk(page: Page): Promise<FocusStyle[]> {
  const styles: FocusStyle[] = [];
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press('Tab');
    const style = await page.evaluate<FocusStyle>(FOCUS_STYLE);
    if (style.isBody) return styles;
    styles.push(style);
  }
  throw new Error('Tab never leaves the page');
}

/** An outline or a ring; a field may be marked together with the buttons in it. */
const FOCUS_STYLE = `(() => {
  const element = document.activeElement;
  const isMarked = (candidate) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(candidate);
    return boxShadow !== 'none' || (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1);
  };
  const box = element.getBoundingClientRect();
  const isDrawn = box.width > 0 && box.height > 0;
  return {
    isBody: element === document.body,
    isSeen: isDrawn && (isMarked(element) || isMarked(element.closest('.query-field') ?? element.parentElement)),
    what: element.outerHTML.slice(0, 200),
  };
})()`;
