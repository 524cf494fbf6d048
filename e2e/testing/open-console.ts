import { scaled } from '@porthole/logs/testing';
import { type Browser, type BrowserContextOptions, errors, type Locator, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** Only a failing test waits this long. */
const PATIENCE_MS = scaled(30_000);

/** Written by the browser for a failed request. */
const FAILED_REQUEST = /^Failed to load resource: /;

const SIZE = { width: 1280, height: 800 };

/** Called by the page for every violation; see below. */
interface Watched {
  reportViolation(text: string): void;
}
declare const self: Watched & typeof globalThis;
declare const document: {
  addEventListener(
    type: 'securitypolicyviolation',
    listener: (event: { violatedDirective: string; blockedURI: string }) => void,
  ): void;
};

/** A page, and what it did besides showing something. */
export interface OpenedPage {
  page: Page;
  /** URLs of all requests, in order. */
  requested: string[];
  /** Violations of the Content-Security-Policy. */
  violations: string[];
}

export interface OpenConsoleOptions extends BrowserContextOptions {
  /** The path of the page that is opened. */
  path?: string;
  /** Its clock goes as usual, and the test may turn it forward. */
  hasClock?: boolean;
  /** Other nodes that it may send requests to. */
  members?: readonly { url: string }[];
  /** The test provokes violations and checks them itself. */
  expectsViolations?: boolean;
}

/**
 * A page of the console in a browser profile of its own. When the test ends it must have stayed within the policy and
 * its origins, and nothing may have been thrown in it.
 */
export async function openConsole(
  browser: Browser,
  url: string,
  options: OpenConsoleOptions = {},
): Promise<OpenedPage> {
  const { path = '/', hasClock = false, expectsViolations = false, members = [], ...given } = options;
  const origins = [url, ...members.map((member) => member.url)].map((each) => new URL(each).origin);
  const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', viewport: SIZE, ...given });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const seen: OpenedPage = { page, requested: [], violations: [] };
  const problems: string[] = [];
  /** Requests that the policy blocked. */
  const blocked = new Set<string>();
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'csp') blocked.add(request.url());
  });
  page.on('request', (request) => seen.requested.push(request.url()));
  page.on('pageerror', (error) => problems.push(`${error}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_REQUEST.test(message.text())) problems.push(message.text());
  });
  await page.exposeFunction('reportViolation', (text: string) => seen.violations.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      self.reportViolation(`${violatedDirective}: ${blockedURI}`),
    );
  });
  // Numbered lines would be one row.
  await page.addInitScript("try { localStorage.setItem('porthole.folds', 'off') } catch {}");
  onTestFinished(async () => {
    await context.close();
    if (!expectsViolations) expect([...seen.violations, ...problems]).toEqual([]);
    const left = seen.requested.filter(
      // A page asks other members whether they respond when its own node is late.
      (requested) =>
        !origins.includes(new URL(requested).origin) && !blocked.has(requested) && !requested.endsWith('/health/live'),
    );
    expect(left).toEqual([]);
  });
  if (hasClock) await page.clock.install();
  await page.goto(new URL(path, url).href);
  return seen;
}

/** Resolves when it is seen. Fails with what the page shows instead. */
export async function waitUntilVisible(what: Locator): Promise<void> {
  try {
    await what.first().waitFor();
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
    const shown = await what.page().locator('body').innerText();
    throw new Error(`${what} is not seen. The page shows:\n${shown}`);
  }
}

/** A row of the log workspace by a part of its text. */
export function findRow(page: Page, text: string | RegExp): Locator {
  return page.getByRole('grid', { name: 'Log records' }).getByRole('row').filter({ hasText: text });
}

/** What is open beside the rows. */
export function detailsPanel(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Details of the record' });
}
