import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchChromium } from '../scripts/chromium.mjs';
import type { BenchContext } from './context.ts';

const PROBE = join(import.meta.dirname, 'console-probe.js');

/** Until a new window has come to rest: what its browser does for it, in other processes, is not ours to measure. */
const SETTLE_MS = 1000;

/** As a notebook shows it. */
const VIEWPORT = { width: 1440, height: 900 };

/** The browser; closed with the next cleanup. */
export async function openBrowser({ cleanup }: BenchContext): Promise<Browser> {
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  return browser;
}

/** A page of the console with what notes when something is painted. What runs in it is given as text: it knows nothing of here. */
export class ConsolePage {
  readonly page: Page;
  readonly #session: CDPSession;
  #receivedBytes = 0;

  private constructor(page: Page, session: CDPSession) {
    this.page = page;
    this.#session = session;
  }

  /** In a context of its own, so that nothing is known from before. Resolves when the first record is painted. */
  static async open(browser: Browser, address: string): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport: VIEWPORT, timezoneId: 'UTC' });
    const page = await context.newPage();
    await page.addInitScript({ path: PROBE });
    const session = await context.newCDPSession(page);
    const opened = new ConsolePage(page, session);
    session.on('Network.dataReceived', ({ encodedDataLength }) => {
      opened.#receivedBytes += encodedDataLength;
    });
    session.on('Network.responseReceived', ({ response }) => {
      opened.#receivedBytes += response.encodedDataLength; // so far: the headers
    });
    await session.send('Network.enable');
    await sleep(SETTLE_MS);
    await page.goto(address);
    await opened.read('probe.firstRowMs');
    return opened;
  }

  /** As they came over the network, headers included. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** What an expression, or its promise, comes to. By the protocol itself: the page's policy lets nothing else evaluate text. */
  async read<T>(expression: string): Promise<T> {
    const navigation = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', navigation);
    if (exceptionDetails) throw new Error(`in the page: ${exceptionDetails.exception?.description ?? expression}`);
    return result.value as T;
  }

  /** Durations of tasks of 50 ms and more since this was asked last. */
  longTasks(): Promise<number[]> {
    return this.read('probe.longTasks.splice(0)');
  }

  size(): Promise<{ rows: number; elements: number }> {
    return this.read(`({
      rows: document.querySelectorAll('#log-rows .row').length,
      elements: document.querySelectorAll('*').length,
    })`);
  }

  /** What is in use after everything unused was given back. */
  async heapBytes(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    return (await this.#session.send('Runtime.getHeapUsage')).usedSize;
  }
}
