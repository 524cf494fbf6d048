import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scaled } from '@porthole/logs/testing';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../scripts/chromium.mjs';

const root = join(import.meta.dirname, '..', '..');

const HTML = `<!doctype html><title>a page</title><link rel="icon" href="data:,">
<script type="module">globalThis.sdk = await import('/sdk.js');</script>`;

/** The client as a browser gets it: one file, made from the source. */
export async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/client/src/index.ts')],
    tsconfig: join(root, 'tsconfig.check.json'),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? '';
}

/** The system's Chromium: one for all files of a thread, closed with it. Every context of it has a profile of its own. */
const withBrowser = test.extend<{ $worker: { browser: Browser } }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: the first argument names what it needs
    async ({}, use) => {
      const browser = await launchChromium();
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
});

/** The browser of the tests of a file, or of a `describe`: call it there. */
export function shareBrowser(): () => Browser {
  let shared: Browser | undefined;
  withBrowser.beforeAll(({ browser }) => {
    shared = browser;
  });
  return () => shared ?? expect.fail('the browser is there when the tests run');
}

/** The origin of a site whose page has the client as `sdk`; closed when the test ends. */
export async function startSite(code: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/sdk.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    response.end(isScript ? code : HTML);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The page of a site, with its client loaded; closed when the test ends. */
export async function openPage(browser: Browser, origin: string): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(scaled(30_000));
  onTestFinished(() => page.close());
  await page.goto(`${origin}/`);
  await page.waitForFunction('globalThis.sdk !== undefined');
  return page;
}
