import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { startTestNode } from '@porthole/server/testing';
import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '../scripts/console.mjs';
import { shareBrowser } from './testing/browser-page.ts';
import { openConsole, waitUntilVisible } from './testing/open-console.ts';

/**
 * Pictures of components are compared as blocks of this many pixels: how a browser of another version or machine draws
 * the edges of letters does not matter, a colour, a size or a place does.
 */
const BLOCK = 4;

/** Each component has a cell of its own in the reference: one that grows moves no other. */
const CELL = { width: 160, height: 72 };
const COLUMNS = 3;

/** By how much a block may differ, of 255, and how many of a hundred may differ by more. */
const MOST_DIFFERENCE = 28;
const MOST_PERCENT = 4;

/** Text may be a little wider or narrower elsewhere: a block may be found so many blocks to its left or right. */
const STEPS = [0, -1, 1, -2, 2];

interface Shot {
  name: string;
  png: Buffer;
}

/** In the page: the pictures, small, in the cells of one, and how many of a hundred blocks of each differ from another. */
interface Compared {
  sheet: string;
  percents: number[];
}

/** The names of the pictures that differ from the reference, with by how much. */
async function differences(browser: Browser, shots: readonly Shot[], reference: string): Promise<string[]> {
  const { percents } = await compare(browser, shots, readFileSync(reference));
  return shots.flatMap(({ name }, index) => {
    const percent = percents[index] ?? 0;
    return percent > MOST_PERCENT ? [`${name}: ${percent.toFixed(1)} % differs`] : [];
  });
}

/** Writes the reference: look at it before it is committed. */
async function writeReference(browser: Browser, shots: readonly Shot[], reference: string): Promise<void> {
  const { sheet } = await compare(browser, shots, null);
  writeFileSync(reference, Buffer.from(sheet.split(',')[1] ?? '', 'base64'));
}

async function compare(browser: Browser, shots: readonly Shot[], reference: Buffer | null): Promise<Compared> {
  const toUrl = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`;
  const images = shots.map(({ png }) => toUrl(png));
  const input = { images, before: reference && toUrl(reference), BLOCK, CELL, COLUMNS, MOST_DIFFERENCE, STEPS };
  const page = await browser.newPage();
  try {
    return await page.evaluate<Compared>(`(${inPage})(${JSON.stringify(input)})`);
  } finally {
    await page.close();
  }
}

/** Runs in a browser, which can read and write pictures. A string: this checkout has no types of a browser for tests. */
const inPage = `async ({ images, before, BLOCK, CELL, COLUMNS, MOST_DIFFERENCE, STEPS }) => {
  const load = async (url) => { const image = new Image(); image.src = url; await image.decode(); return image; };
  const canvas = document.createElement('canvas');
  canvas.width = CELL.width * COLUMNS;
  canvas.height = CELL.height * Math.ceil(images.length / COLUMNS);
  const draw = canvas.getContext('2d', { willReadFrequently: true });
  draw.imageSmoothingQuality = 'high';
  const at = (index) => [(index % COLUMNS) * CELL.width, Math.floor(index / COLUMNS) * CELL.height];
  for (const [index, url] of images.entries()) {
    const image = await load(url);
    const [width, height] = [Math.round(image.width / BLOCK), Math.round(image.height / BLOCK)];
    draw.save();
    draw.beginPath();
    draw.rect(...at(index), CELL.width, CELL.height);
    draw.clip();
    draw.drawImage(image, ...at(index), width, height);
    draw.restore();
  }
  const sheet = canvas.toDataURL();
  if (before === null) return { sheet, percents: [] };
  const pixels = (index) => draw.getImageData(...at(index), CELL.width, CELL.height).data;
  const now = images.map((_, index) => pixels(index));
  draw.clearRect(0, 0, canvas.width, canvas.height);
  draw.drawImage(await load(before), 0, 0);
  const percents = now.map((own, index) => {
    const reference = pixels(index);
    let [different, drawn] = [0, 0];
    for (let at = 0; at < own.length; at += 4) {
      if (own[at + 3] === 0 && reference[at + 3] === 0) continue;
      drawn += 1;
      const isNear = (other) => [0, 1, 2, 3].every((channel) => Math.abs(own[at + channel] - reference[other + channel]) <= MOST_DIFFERENCE);
      const column = (at / 4) % CELL.width;
      const steps = STEPS.filter((step) => column + step >= 0 && column + step < CELL.width);
      if (!steps.some((step) => isNear(at + step * 4))) different += 1;
    }
    return (100 * different) / Math.max(1, drawn);
  });
  return { sheet, percents };
}`;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.woff2': 'font/woff2',
};

/* What the design system looks like. After a change that is meant: UPDATE_PICTURES=1 npx vitest run e2e/console-design */

const browser = shareBrowser();

const folder = mkdtempSync(join(tmpdir(), 'porthole-ui-'));
beforeAll(async () => {
  await buildConsole({ hasUiPage: true, folder });
  return () => rmSync(folder, { recursive: true, force: true });
});

/** The page of all components, made for development, in place of the console of a node. */
async function openComponents(): Promise<Page> {
  const { running } = await startTestNode();
  const { page } = await openConsole(browser(), running.url, { reducedMotion: 'reduce', viewport: VIEWPORT });
  await page.route(/\/(ui|assets\/[^?]+)$/, (route) => {
    const { pathname } = new URL(route.request().url());
    const path = pathname === '/ui' ? 'index.html' : pathname;
    const file = join(folder, path);
    // The sign of the page comes from the node.
    if (!existsSync(file)) return route.continue();
    return route.fulfill({ body: readFileSync(file), contentType: TYPES[extname(path)] ?? '' });
  });
  await page.goto(`${running.url}ui`);
  await waitUntilVisible(page.getByRole('heading', { name: 'Components, dark' }));
  await page.evaluate('document.fonts.ready');
  return page;
}

const VIEWPORT = { width: 1360, height: 900 };

/** Opens what lies over the page in turn, and closes it as people do who have no mouse. */
async function overlays(page: Page, section: Locator): Promise<Shot[]> {
  const shots: Shot[] = [];
  const take = async (name: string, what: Locator) => {
    await waitUntilVisible(what);
    shots.push({ name, png: await what.screenshot() });
  };
  const button = (name: string) => section.getByRole('button', { name, exact: true });
  await button('Menu').press('Enter');
  await page.keyboard.press('ArrowDown');
  await take('open menu', section.locator('.menu-body'));
  await page.keyboard.press('Escape');
  await button('Dialog').press('Enter');
  await take('dialog', page.getByRole('dialog', { name: 'A dialog' }));
  await page.keyboard.press('Escape');
  await eventually(async () => expect(await page.evaluate('document.activeElement.innerText')).toBe('Dialog'));
  await button('Toast').press('Enter');
  await take('toast', page.locator('.toast'));
  return shots;
}

describe.each(['light', 'dark'])('components in the %s theme', (theme) => {
  it('look as in the committed picture', async () => {
    const page = await openComponents();
    await page.emulateMedia({ colorScheme: theme as 'light' | 'dark' });
    const section = page.locator(`section[data-theme="${theme}"]`);
    const parts: Shot[] = [];
    for (const card of await section.locator('.card').all())
      parts.push({ name: await card.locator('h2').first().innerText(), png: await card.screenshot() });
    expect(parts.length).toBeGreaterThanOrEqual(9);
    const shots = [...parts, ...(await overlays(page, section))];
    const reference = join(import.meta.dirname, 'testing', `components-${theme}.png`);
    if (process.env.UPDATE_PICTURES === '1') await writeReference(browser(), shots, reference);
    expect(await differences(browser(), shots, reference)).toEqual([]);
    // It notices another colour, and a control that is 4 pixels higher.
    await page.evaluate(`document.documentElement.style.setProperty('--accent', 'rgb(200 0 120)')`);
    await page.evaluate(`document.documentElement.style.setProperty('--control', '36px')`);
    const changed = section.locator('.card').filter({ hasText: 'What happened?' });
    const others = shots.map((shot) => ({ ...shot }));
    const buttons = others.find(({ name }) => name === 'Buttons');
    if (buttons) buttons.png = await changed.screenshot();
    expect(await differences(browser(), others, reference)).toEqual([expect.stringMatching(/^Buttons: /)]);
  });
});

describe('components', () => {
  it('are used with the keyboard alone', async () => {
    const page = await openComponents();
    const section = page.locator('section[data-theme="light"]');
    const focused = () => page.evaluate<string>('document.activeElement.innerText');
    await section.getByRole('tab', { name: 'fields' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe('around');
    await waitUntilVisible(section.getByRole('tabpanel', { name: 'around' }));
    await page.keyboard.press('End');
    expect(await focused()).toBe('pattern');
    await page.keyboard.press('Home');
    expect(await focused()).toBe('fields');

    const menu = section.getByRole('button', { name: 'Menu' });
    await menu.press('Enter');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toContain('Copy link');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('Last'); // what is disabled is skipped
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Menu');
    expect(await menu.getAttribute('aria-expanded')).toBe('false');

    await section.getByRole('button', { name: 'Sheet' }).press('Enter');
    const sheet = page.getByRole('dialog', { name: 'A sheet' });
    await waitUntilVisible(sheet);
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press('Tab');
      const isOutside = `!['BODY', 'HTML'].includes(document.activeElement.tagName) && !document.activeElement.closest('dialog')`;
      expect(await page.evaluate(isOutside)).toBe(false);
    }
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Sheet');

    await section.getByRole('button', { name: 'Toast' }).focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await waitUntilVisible(page.locator('.tooltip').getByText('A tooltip'));
  });

  it('do not move for people who prefer that', async () => {
    const page = await openComponents();
    const moving = () =>
      page.evaluate<number>(
        `document.getAnimations().filter((own) => own.playState === 'running' && own.effect.getTiming().duration > 0).length`,
      );
    expect(await moving()).toBe(0);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await moving()).toBeGreaterThan(0);
  });
});
