import { Store } from './store.ts';
import { OVERVIEW, type View } from './view.ts';
import { addressProblems, parseView, viewUrl } from './view-url.ts';

export interface GoOptions {
  /** Replaces the history entry: for changes within the same view. */
  replace?: boolean;
}

/** The current view, in sync with the URL. */
export class Navigation {
  readonly view: Store<View>;
  /** Ignored parts of the URL, as sentences; until navigation or dismissal. */
  readonly problems: Store<readonly string[]>;
  readonly #window: Window | undefined;
  readonly #leaving = new Set<() => void>();

  /** Without a window (in tests) it is only a store. */
  constructor(window: Window | undefined) {
    this.#window = window;
    const url = window && new URL(window.location.href);
    this.view = new Store<View>(url ? parseView(url) : OVERVIEW);
    this.problems = new Store<readonly string[]>(url ? addressProblems(url) : []);
  }

  /** Starts to handle the back button and clicks on internal links. */
  start(): void {
    this.#window?.addEventListener('popstate', () => this.#read());
    this.#window?.document.addEventListener('click', (event) => this.#take(event));
  }

  go(view: View, { replace = false }: GoOptions = {}): void {
    // The entry being left must have the latest state: Back returns to it.
    if (!replace) this.settle();
    const url = viewUrl(view);
    this.#write(url, replace);
    if (!replace) this.problems.set([]);
    this.view.set(view);
  }

  settle(): void {
    for (const leave of [...this.#leaving]) leave();
  }

  /** Runs before another history entry is pushed; the returned function unsubscribes. */
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
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      // Browsers throttle these calls and throw; the next change updates the URL.
    }
    if (!replace && !isSame) this.#window.scrollTo(0, 0);
  }

  #read(): void {
    if (!this.#window) return;
    const url = new URL(this.#window.location.href);
    const view = parseView(url);
    this.problems.set(addressProblems(url));
    // Only the fragment may have changed, as with the skip link.
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
    // Not a page of the console: the documentation, or a file.
    if (view.page === 'unknown') return;
    event.preventDefault();
    this.go(view);
  }
}

export const navigation = new Navigation(globalThis.window);
