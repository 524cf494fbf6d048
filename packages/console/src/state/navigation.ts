import { Store } from './store.ts';
import type { View } from './view.ts';
import { addressProblems, parseView, viewUrl } from './view-url.ts';

export interface GoOptions {
  /** Instead of the entry in the history, not behind it: for what changes while one stays where one is. */
  replace?: boolean;
}

/** What is shown, kept the same as the address of the page. */
export class Navigation {
  readonly view: Store<View>;
  /** What of the address that was opened is ignored, as sentences; until another page is opened, or they are dismissed. */
  readonly problems: Store<readonly string[]>;
  readonly #window: Window | undefined;
  readonly #leaving = new Set<() => void>();

  /** Without a window (in tests of what only builds on it) it is a store and nothing more. */
  constructor(window: Window | undefined) {
    this.#window = window;
    const url = window && new URL(window.location.href);
    this.view = new Store<View>(url ? parseView(url) : { page: 'cluster' });
    this.problems = new Store<readonly string[]>(url ? addressProblems(url) : []);
  }

  /** Takes the back button and clicks on links of this page, from now on. */
  start(): void {
    this.#window?.addEventListener('popstate', () => this.#read());
    this.#window?.document.addEventListener('click', (event) => this.#take(event));
  }

  go(view: View, { replace = false }: GoOptions = {}): void {
    // The entry that is left must say what was seen last: Back returns to it.
    if (!replace) this.settle();
    const url = viewUrl(view);
    this.#write(url, replace);
    if (!replace) this.problems.set([]);
    this.view.set(view);
  }

  /** Brings the address up to date with what is seen. */
  settle(): void {
    for (const leave of [...this.#leaving]) leave();
  }

  /** Calls back before another entry of the history is begun; what is returned ends that. */
  onLeave(leave: () => void): () => void {
    this.#leaving.add(leave);
    return () => {
      this.#leaving.delete(leave);
    };
  }

  #write(url: string, replace: boolean): void {
    if (!this.#window) return;
    const { history, location } = this.#window;
    const isSame = url === location.pathname + location.search;
    try {
      if (replace || isSame) history.replaceState(null, '', url);
      else history.pushState(null, '', url);
    } catch {
      // Browsers refuse it when it comes too often; the next change brings the address up to date.
    }
    if (!replace && !isSame) this.#window.scrollTo(0, 0);
  }

  #read(): void {
    if (!this.#window) return;
    const url = new URL(this.#window.location.href);
    const view = parseView(url);
    this.problems.set(addressProblems(url));
    // Only the place within the page may have changed, as the skip link does.
    if (viewUrl(view) !== viewUrl(this.view.value)) this.view.set(view);
  }

  #take(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== this.#window?.location.origin || url.hash) return;
    const view = parseView(url);
    // Not a page of the console: the documentation, a file.
    if (view.page === 'unknown') return;
    event.preventDefault();
    this.go(view);
  }
}

export const navigation = new Navigation(globalThis.window);
