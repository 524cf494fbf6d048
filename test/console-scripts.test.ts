import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const WEB = join(import.meta.dirname, '../packages/console/web');

/** What a page may load before it is shown: as it is, and compressed by brotli. */
const MOST = { raw: 250_000, brotli: 90_000 };

/** The page with the most parts; what is around its rows, and what is opened, comes later. */
const MOST_OF_LOGS = { raw: 268_000, brotli: 90_000 };

const MOST_FONTS = 100_000;

const page = readFileSync(join(WEB, 'index.html'), 'utf8');
const shared = [...page.matchAll(/(?:modulepreload" href|script type="module" src)="\/assets\/([^"]+)"/g)];
const [, parts = ''] = /name="porthole-parts" content="([^"]*)"/.exec(page) ?? [];
const pages = parts.split(';').map((list) => list.split(' ') as [name: string, ...scripts: string[]]);

it.each(pages)('the scripts of %s are small', (name, ...own) => {
  const scripts = [...shared.map(([, script = '']) => script), ...own];
  // What would not become smaller is not compressed.
  const size = (ending: string) =>
    scripts
      .map((script) => join(WEB, 'assets', script))
      .map((path) => statSync(existsSync(path + ending) ? path + ending : path).size)
      .reduce((sum, bytes) => sum + bytes, 0);
  const most = name === 'logs-page' ? MOST_OF_LOGS : MOST;
  expect.soft(size('')).toBeLessThanOrEqual(most.raw);
  expect.soft(size('.br')).toBeLessThanOrEqual(most.brotli);
});

it('every page is listed', () => {
  expect(pages.map(([name]) => name)).toEqual([
    'overview-page',
    'incidents-page',
    'logs-page',
    'config-page',
    'nodes-page',
    'node-page',
  ]);
});

it('the fonts are small', () => {
  const fonts = readdirSync(join(WEB, 'assets')).filter((name) => name.endsWith('.woff2'));
  expect(fonts.reduce((sum, name) => sum + statSync(join(WEB, 'assets', name)).size, 0)).toBeLessThan(MOST_FONTS);
});
