import { eventually, scaled } from '@porthole/logs/testing';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** What a page has and the functions for it use: they run there, and see nothing else of this file. */
interface PageElement {
  id: string;
  className: string;
  textContent: string;
  clientHeight: number;
  scrollTop: number;
  style: { transform: string };
  getBoundingClientRect(): { top: number };
  previousElementSibling: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}
declare const document: PageElement & {
  getElementById(id: string): PageElement | null;
  addEventListener(type: string, listener: (event: { violatedDirective: string; blockedURI: string }) => void): void;
};
declare function requestAnimationFrame(callback: () => void): void;
declare const self: { copied: string; addEventListener: CopyListening };
type CopyListening = (type: 'copy', listener: (event: { clipboardData: Clipboard | null }) => void) => void;
interface Clipboard {
  getData(format: string): string;
}

/** Only a failing test waits this long. */
const PATIENCE_MS = scaled(30_000);

/** A question of the page to its node. */
export interface SeenRequest {
  /** Below `/api/v1/`, with the member but without the query. */
  path: string;
  query: URLSearchParams;
  /** The size of the response as far as it has come, before compression. */
  bytes: number;
}

/** The log workspace in a browser. Fails the test when anything went wrong in the page that is not said to be expected. */
export class LogPage {
  readonly page: Page;
  readonly requests: SeenRequest[] = [];
  /** Errors that belong to the test: the browser reports every refused request as one. */
  readonly expected: RegExp[] = [];
  readonly #problems: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.#problems.push(String(error.stack)));
    page.on('dialog', (dialog) => {
      this.#problems.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (message.type() === 'error') this.#problems.push(message.text());
    });
  }

  /**
   * Opens an address of the console; resolves when the first row is drawn, unless there is to be none. Numbered lines would
   * be one row: they are folded only where that is tested.
   */
  static async open(browser: Browser, address: string, { hasRows = true, folds = false } = {}): Promise<LogPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: 'UTC' });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const opened = new LogPage(page);
    onTestFinished(async () => {
      await context.close();
      opened.#check();
    });
    await page.addInitScript(watchPage);
    if (!folds) await page.addInitScript("localStorage.setItem('porthole.folds', 'off')");
    await opened.#listen();
    await page.goto(address);
    if (hasRows) await opened.rows.first().waitFor();
    return opened;
  }

  get list() {
    return this.page.locator('#log-rows');
  }

  /** Records that are drawn. */
  get rows() {
    return this.page.locator('#log-rows .row[id]');
  }

  /** What happened between records, and what is missing there. */
  get notices() {
    return this.page.locator('#log-rows .row:not([id])');
  }

  get focused() {
    return this.page.locator('#log-rows .row.is-focused');
  }

  /** Following, paused or neither. */
  get pill() {
    return this.page.locator('.live-button');
  }

  get edges() {
    return this.page.locator('#log-rows .edge');
  }

  get status() {
    return this.page.locator('.coverage');
  }

  /** Where in the whole log the view is: `83.2 %, 10:41:06.882`. */
  async position(): Promise<string> {
    return (await this.page.getByRole('scrollbar').getAttribute('aria-valuetext')) ?? '';
  }

  /** The texts of the records that are drawn, without what stands before them. */
  texts(): Promise<string[]> {
    return this.page.locator('#log-rows .row[id] .row-text').allTextContents();
  }

  async press(...keys: string[]): Promise<void> {
    await this.list.focus();
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async goToTime(text: string): Promise<void> {
    await this.press('t');
    await this.page.getByLabel('Time', { exact: true }).fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Every record from the one at the end back to the start of the log, as it is drawn while scrolling there. */
  async scrollBack(): Promise<{ records: string[]; notices: string[] }> {
    await this.list.hover();
    await this.page.mouse.wheel(0, -40);
    return this.page.evaluate(scrollBack);
  }

  /** All elements of the document, and the rows among them. */
  size(): Promise<{ elements: number; rows: number }> {
    return this.page.evaluate(() => ({
      elements: [...document.querySelectorAll('*')].length,
      rows: [...document.querySelectorAll('#log-rows .row')].length,
    }));
  }

  /** What the page put into the clipboard last. */
  copied(): Promise<string> {
    return this.page.evaluate(() => self.copied);
  }

  /** What is in use after everything unused was given back. */
  async heapBytes(): Promise<number> {
    const session: CDPSession = await this.page.context().newCDPSession(this.page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize;
  }

  /** Resolves when nothing is loaded any more. */
  async settled(): Promise<void> {
    await eventually(async () => expect(await this.list.getAttribute('aria-busy')).toBe('false'));
  }

  async #listen(): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page);
    const byId = new Map<string, SeenRequest>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      const { pathname, searchParams } = new URL(request.url);
      if (!pathname.startsWith('/api/v1/')) return;
      const seen = { path: pathname.slice('/api/v1/'.length), query: searchParams, bytes: 0 };
      byId.set(requestId, seen);
      this.requests.push(seen);
    });
    session.on('Network.dataReceived', ({ requestId, dataLength }) => {
      const seen = byId.get(requestId);
      if (seen) seen.bytes += dataLength;
    });
    await session.send('Network.enable');
  }

  #check(): void {
    expect(this.#problems.filter((problem) => !this.expected.some((pattern) => pattern.test(problem)))).toEqual([]);
  }
}

/** Runs before the page's own scripts. */
function watchPage(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`securitypolicyviolation: ${violatedDirective} ${blockedURI}`),
  );
  // After the page's own listener, which decides what is copied.
  self.addEventListener('copy', ({ clipboardData }) => {
    self.copied = clipboardData?.getData('text/plain') ?? '';
  });
}

async function scrollBack(): Promise<{ records: string[]; notices: string[] }> {
  const [box, block] = [document.getElementById('log-rows'), document.querySelector('.rows-block')];
  if (!box || !block) throw new Error('there is no list');
  const found = new Map<string, { text: string; isRecord: boolean }>();
  let inOrder: string[] = [];
  const hasFirstRow = () => block.style.transform === 'translateY(0px)';
  const isDrawn = () => hasFirstRow() || block.getBoundingClientRect().top <= box.getBoundingClientRect().top;
  const take = () => {
    const rows = [...box.querySelectorAll('.row')];
    // What is no record has no name: it stands behind one. Without one it is taken with the next rows.
    const drawn = (hasFirstRow() ? rows : rows.slice(rows.findIndex(({ id }) => id !== ''))).map((row) => {
      const key = row.id || `behind ${row.previousElementSibling?.id}`;
      const text = (row.querySelector('.row-text') ?? row).textContent;
      found.set(key, { text, isRecord: row.id !== '' });
      return key;
    });
    const known = inOrder[0] === undefined ? drawn.length : drawn.indexOf(inOrder[0]);
    if (known < 0) throw new Error(`between ${drawn.at(-1)} and ${inOrder[0]} nothing was drawn`);
    inOrder = [...drawn.slice(0, known), ...inOrder];
  };
  const isAtStart = () => box.scrollTop === 0 && /^start of/.test(box.querySelector('.edge')?.textContent ?? '');
  for (let frames = 0; frames < 10_000; frames++) {
    if (isDrawn()) {
      take();
      if (isAtStart() && hasFirstRow()) break;
      box.scrollTop -= box.clientHeight * 0.8;
    }
    await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  }
  const rows = inOrder.flatMap((key) => found.get(key) ?? []);
  return {
    records: rows.filter(({ isRecord }) => isRecord).map(({ text }) => text),
    notices: rows.filter(({ isRecord }) => !isRecord).map(({ text }) => text),
  };
}
