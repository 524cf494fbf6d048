import { Store } from './store.ts';

/** A short message that is shown briefly and read aloud: "Copied". */
interface Notice {
  text: string;
  /** Increases, so that the same text is announced twice. */
  number: number;
}

export const notice = new Store<Notice | null>(null);

export function showNotice(text: string): void {
  notice.set({ text, number: (notice.value?.number ?? 0) + 1 });
}

/** Copies text to the clipboard and reports the result. */
export async function copyText(text: string, what: string): Promise<void> {
  const isCopied = (await copyByClipboard(text)) || copyBySelection(text);
  showNotice(isCopied ? `${what} copied` : `${what} not copied: the browser does not allow it`);
}

async function copyByClipboard(text: string): Promise<boolean> {
  if (!('clipboard' in navigator)) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Without TLS there is no clipboard API, but a selection can be copied. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'copy-field';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

export interface Action {
  /** Starts with a verb: `Copy link`. */
  name: string;
  /** Keyboard shortcut, as displayed: `f`, `Shift+Z`. */
  keys?: string;
  run: () => void;
}

/** Actions of the current pages; each page registers its own while it is mounted. */
export class Actions {
  readonly list = new Store<readonly Action[]>([]);

  /** Registers actions; the returned function removes them. */
  put(actions: readonly Action[]): () => void {
    this.list.set([...this.list.value, ...actions]);
    return () => this.list.set(this.list.value.filter((action) => !actions.includes(action)));
  }
}

export const actions = new Actions();

/** The open overlay: one at a time. */
export const sheet = new Store<'palette' | 'keys' | null>(null);
