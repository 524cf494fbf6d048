import { Store } from './store.ts';

/** A word that appears for a moment and is read aloud: "Copied". */
export interface Notice {
  text: string;
  /** Grows, so that the same word twice is told twice. */
  number: number;
}

export const notice = new Store<Notice | null>(null);

/** Tells it for a moment. */
export function showNotice(text: string): void {
  notice.set({ text, number: (notice.value?.number ?? 0) + 1 });
}

/** Puts text on the clipboard and says so, or that it cannot be done. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showNotice(`${what} copied`);
  } catch {
    showNotice(copyBySelection(text) ? `${what} copied` : `${what} could not be copied: the browser does not allow it`);
  }
}

/** Browsers give a page without TLS no clipboard, but let it copy what is selected. */
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
