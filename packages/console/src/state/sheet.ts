import { isTextField } from '../ui/hooks.ts';
import { Store } from './store.ts';

/** The open overlay: one at a time. */
export const sheet = new Store<'palette' | 'keys' | null>(null);

/** Handles Ctrl/Cmd+K everywhere, and `?` unless the user is typing. */
export function takeSheetKeys(target: Document, hasKeys: () => boolean): () => void {
  const take = (event: KeyboardEvent) => {
    const next = sheetForKey(event, { hasKeys: hasKeys() });
    if (!next || isModal(target)) return;
    event.preventDefault();
    sheet.set(next);
  };
  target.addEventListener('keydown', take);
  return () => target.removeEventListener('keydown', take);
}

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>;

function sheetForKey(press: Press, { hasKeys }: { hasKeys: boolean }): 'palette' | 'keys' | undefined {
  if ((press.ctrlKey || press.metaKey) && !press.altKey && press.key.toLowerCase() === 'k') return 'palette';
  if (press.key === '?' && hasKeys && !press.ctrlKey && !press.metaKey && !isTextField(press.target)) return 'keys';
  return undefined;
}

function isModal(target: Document): boolean {
  return target.querySelector('dialog[open]') !== null;
}
