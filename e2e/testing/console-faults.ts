import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { countedLines, line, type Member, startCluster } from './console-cluster.ts';
import { detailsPanel, findRow, openConsole, waitUntilVisible } from './open-console.ts';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules about colours, not about structure. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Two nodes that differ, with lines of all levels. */
export async function startTwo(): Promise<Member> {
  // As few as there are kinds of them: the contrast of every text on a page takes longer than all other rules.
  const log = countedLines(2) + line(3, 'slow', 'WARN') + line(2, 'why', 'DEBUG') + line(0, 'broken', 'ERROR');
  const config = (limit: number) => `[query]\nlimit = ${limit}\nport = ${limit}\npassword = "x${limit}"\nidle = "1s"\n`;
  const [node] = await startCluster([
    { files: { 'a.log': log }, config: config(100) },
    { files: { 'b.log': countedLines(2, { errorEvery: 2 }) }, config: config(200) },
  ]);
  return node;
}

/** Every page, and what shows that all of it is there. */
export function places(page: Page): [path: string, isShown: () => Promise<void>][] {
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
export async function goForward(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

export type Theme = 'light' | 'dark';

/**
 * Violations found by axe, with their elements: all rules in the light theme, those about colours in the dark one.
 * Of an open menu only its own: what it covers for now is no target.
 */
function faults(page: Page, theme: Theme, within = 'html'): Promise<string[]> {
  return violations(page, theme, (axe) => {
    const part = axe.include(within);
    return theme === 'light' ? part.withTags(WCAG) : part.withRules(OF_COLOURS);
  });
}

async function violations(page: Page, colorScheme: Theme, choose: (axe: AxeBuilder) => AxeBuilder): Promise<string[]> {
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

/** Of every page, and of every dialog. */
export async function faultsOfPages(page: Page, theme: Theme): Promise<string[]> {
  const found: string[] = [];
  for (const [path, isShown] of places(page)) {
    await goForward(page, path);
    await isShown();
    found.push(...(await faults(page, theme)));
  }
  await goForward(page, '/logs');
  await findRow(page, 'broken').click();
  await waitUntilVisible(detailsPanel(page));
  found.push(...(await faults(page, theme)));
  await page.keyboard.press('Escape');
  for (const [key, name] of [
    ['Control+k', 'Commands'],
    ['?', 'Keys'],
    ['t', 'Go to a time'],
  ] as const) {
    await page.keyboard.press(key);
    await waitUntilVisible(page.getByRole('dialog', { name }));
    found.push(...(await faults(page, theme)));
    await page.keyboard.press('Escape');
  }
  await page.getByRole('button', { name: 'Logs of n1' }).click();
  await waitUntilVisible(page.getByRole('list', { name: 'Logs of n1' }).getByText('a.log'));
  await page.getByRole('button', { name: /^Split the chart/ }).click();
  await page.getByRole('button', { name: 'node', exact: true }).click();
  await waitUntilVisible(page.getByRole('list', { name: 'Split by node' }));
  found.push(...(await faults(page, theme)));
  for (const name of ['Share', /^Time range/, 'Session']) {
    await page.getByRole('button', { name }).click();
    found.push(...(await faults(page, theme, '.menu-body')));
    await page.keyboard.press('Escape');
  }
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByRole('button', { name: 'Save or manage views' }).click();
  await page.getByLabel('Save this view as').fill('All');
  await page.keyboard.press('Enter');
  await waitUntilVisible(page.getByRole('button', { name: 'Rename All' }));
  found.push(...(await faults(page, theme)));
  return found;
}

/** Where a token is required. */
export async function faultsOfTokenDialog(browser: Browser, theme: Theme): Promise<string[]> {
  const tokenFile = join(tempDir(), 'tokens');
  writeFileSync(tokenFile, `${createToken('operator').line}\n`, { mode: 0o600 });
  const { running } = await startTestNode({ settings: { auth: { tokenFile } } });
  const { page } = await openConsole(browser, running.url);
  await page.getByLabel('Token', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Use token' }).click();
  await waitUntilVisible(page.getByText('The node rejected this token.'));
  return faults(page, theme);
}
