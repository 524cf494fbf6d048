import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const WEB = join(import.meta.dirname, '../packages/console/web');

/** What a page may load before it is shown: as it is, and compressed by brotli. */
const MOST = { raw: 250_000, brotli: 90_000 };

const MOST_FONTS = 100_000;

const page = readFileSync(join(WEB, 'index.html'), 'utf8');
const [, scripts = ''] = /name="porthole-scripts" content="([^"]*)"/.exec(page) ?? [];
const pages = scripts.split(';').map((list) => list.split(' ') as [path: string, ...scripts: string[]]);

it.each(pages)('the scripts of %s are small', (_path, ...all) => {
  // What would not become smaller is not compressed.
  const size = (ending: string) =>
    all
      .map((script) => join(WEB, 'assets', script))
      .map((file) => statSync(existsSync(file + ending) ? file + ending : file).size)
      .reduce((sum, bytes) => sum + bytes, 0);
  expect.soft(size('')).toBeLessThanOrEqual(MOST.raw);
  expect.soft(size('.br')).toBeLessThanOrEqual(MOST.brotli);
});

it('every page is listed', () => {
  const paths = ['/', '/incidents', '/logs', '/config', '/nodes', '/nodes/'];
  expect(pages.map(([path]) => path)).toEqual(paths);
});

it('the fonts are small', () => {
  const fonts = readdirSync(join(WEB, 'assets')).filter((name) => name.endsWith('.woff2'));
  expect(fonts.reduce((sum, name) => sum + statSync(join(WEB, 'assets', name)).size, 0)).toBeLessThan(MOST_FONTS);
});
