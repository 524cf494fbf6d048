import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { share, tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { countedLines, line, startCluster } from './testing/console-cluster.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './testing/open-console.ts';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules about colours, not about structure. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

const browser = shareBrowser();

/** Two nodes that differ, with lines of all levels. */
const two = share(async () => {
  // As few as there are kinds of them: the contrast of every text on a page takes longer than all other rules.
  const log = countedLines(2) + line(3, 'slow', 'WARN') + line(2, 'why', 'DEBUG') + line(0, 'broken', 'ERROR');
  const config = (limit: number) => `[query]\nlimit = ${limit}\nport = ${limit}\npassword = "x${limit}"\nidle = "1s"\n`;
  const [node] = await startCluster([
    { files: { 'a.log': log }, config: config(100) },
    { files: { 'b.log': countedLines(2, { errorEvery: 2 }) }, config: config(200) },
  ]);
  return node;
});

/**
 * Violations found by axe, with their elements: all rules in the light theme, those about colours in the dark one.
 * Of an open menu only its own: what it covers for now is no target.
 */
async function faults(page: Page, within = 'html'): Promise<string[]> {
  const light = await violations(page, 'light', (axe) => axe.include(within).withTags(WCAG));
  const dark = await violations(page, 'dark', (axe) => axe.include(within).withRules(OF_COLOURS));
  return [...light, ...dark];
}

async function violations(
  page: Page,
  colorScheme: 'light' | 'dark',
  choose: (axe: AxeBuilder) => AxeBuilder,
): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  await waitUntilVisible(page.locator(`html[data-theme="${colorScheme}"]`));
  // Legacy mode: these pages have no frames, and the other mode opens another page.
  // Only violations are collected: collecting the passes would double the time.
  // It stays in the page: bringing half a megabyte of script again would take as long as some of its rules.
  const isThere = await page.evaluate<boolean>('"axe" in self');
  const builder = new AxeBuilder({ page, ...(isThere && { axeSource: 'void 0' }) });
  const axe = choose(builder.options({ resultTypes: ['violations'] }));
  const found = await axe.setLegacyMode().analyze();
  expect(found.passes.length).toBeGreaterThan(0); // it has run
  // A minute of the strip of errors is smaller: the chart of the node's logs leads to the same by larger targets.
  const isCell = (id: string, html: string) => id === 'target-size' && /class="cell[ "]/.test(html);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ html }) => !isCell(id, html))
      .map(({ target, failureSummary }) => `${page.url()} ${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Every page, and what shows that all of it is there. */
function places(page: Page): [path: string, isShown: () => Promise<void>][] {
  return [
    ['/', () => waitUntilVisible(page.getByText('1 key differs'))],
    ['/incidents', () => waitUntilVisible(page.getByRole('heading', { level: 1, name: /incident/ }))],
    ['/incidents?from=1h&to=now', () => waitUntilVisible(page.getByRole('heading', { name: 'Before, during, after' }))],
    ['/nodes', () => waitUntilVisible(page.getByRole('rowheader', { name: /n2/ }))],
    ['/nodes/n1', () => waitUntilVisible(page.getByRole('table', { name: 'Runs, newest first' }))],
    ['/nodes/n1/config', () => waitUntilVisible(page.locator('.toml-mask'))],
    ['/nodes/n1/logs', () => waitUntilVisible(page.getByRole('link', { name: 'a.log' }))],
    ['/config?node=n1', () => waitUntilVisible(page.getByText('2 of 2 nodes responded'))],
    ['/config?tab=text&node=n1', () => waitUntilVisible(page.locator('.toml-mask'))],
    ['/config?expected=1', () => waitUntilVisible(page.getByRole('region', { name: 'Lines of n1 and n2' }))],
    ['/config?left=n2&right=n1', () => waitUntilVisible(page.getByRole('region', { name: 'Lines of n2 and n1' }))],
    [
      '/logs?q=line 2&columns=component&by=level',
      async () => {
        await waitUntilVisible(page.getByRole('grid').locator('mark'));
        // On a phone they are behind a button.
        const isNarrow = (page.viewportSize()?.width ?? 0) < 640;
        if (!isNarrow) await waitUntilVisible(page.getByRole('button', { name: 'Without level = ERROR' }));
      },
    ],
    ['/logs?plain=1', () => waitUntilVisible(page.locator('.plain').getByText('broken'))],
  ];
}

/** As by the button of the browser: a page that is loaded again has axe loaded again, and run by code that was never run. */
async function goForward(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

describe('in both themes axe finds nothing wrong', () => {
  it('on any page, and on any dialog', async () => {
    const { url } = two();
    const { page } = await openConsole(browser(), url);
    const found: string[] = [];
    for (const [path, isShown] of places(page)) {
      await goForward(page, path);
      await isShown();
      found.push(...(await faults(page)));
    }
    await goForward(page, '/logs');
    await findRow(page, 'broken').click();
    await waitUntilVisible(detailsPanel(page));
    found.push(...(await faults(page)));
    await page.keyboard.press('Escape');
    for (const [key, name] of [
      ['Control+k', 'Commands'],
      ['?', 'Keys'],
      ['t', 'Go to a time'],
    ] as const) {
      await page.keyboard.press(key);
      await waitUntilVisible(page.getByRole('dialog', { name }));
      found.push(...(await faults(page)));
      await page.keyboard.press('Escape');
    }
    await page.getByRole('button', { name: 'Logs of n1' }).click();
    await waitUntilVisible(page.getByRole('list', { name: 'Logs of n1' }).getByText('a.log'));
    await page.getByRole('button', { name: /^Split the chart/ }).click();
    await page.getByRole('button', { name: 'node', exact: true }).click();
    await waitUntilVisible(page.getByRole('list', { name: 'Split by node' }));
    found.push(...(await faults(page)));
    for (const name of ['Share', /^Time range/, 'Session']) {
      await page.getByRole('button', { name }).click();
      found.push(...(await faults(page, '.menu-body')));
      await page.keyboard.press('Escape');
    }
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByRole('button', { name: 'Save or manage views' }).click();
    await page.getByLabel('Save this view as').fill('All');
    await page.keyboard.press('Enter');
    await waitUntilVisible(page.getByRole('button', { name: 'Rename All' }));
    found.push(...(await faults(page)));
    expect(found).toEqual([]);
  });

  it('where a token is required', async () => {
    const tokenFile = join(tempDir(), 'tokens');
    writeFileSync(tokenFile, `${createToken('operator').line}\n`, { mode: 0o600 });
    const { running } = await startTestNode({ settings: { auth: { tokenFile } } });
    const { page } = await openConsole(browser(), running.url);
    await page.getByLabel('Token', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Use token' }).click();
    await waitUntilVisible(page.getByText('The node rejected this token.'));
    expect(await faults(page)).toEqual([]);
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
