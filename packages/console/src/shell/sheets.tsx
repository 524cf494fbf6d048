import { useEffect, useRef } from 'preact/hooks';
import { sheet } from '../state/notice.ts';
import { preferences } from '../state/preferences.ts';
import { session } from '../state/session.ts';
import { isTextField, useStore } from '../ui/hooks.ts';
import { lazy } from '../ui/lazy.tsx';

const Palette = lazy(async () => (await import('./opened-later.ts')).Palette);
const KeySheet = lazy(async () => (await import('./opened-later.ts')).KeySheet);
const TokenDialog = lazy(async () => (await import('./opened-later.ts')).TokenDialog);

/** The dialogs of every page, whose script is loaded when one is first opened. */
export function Sheets() {
  const open = useStore(sheet);
  const asksToken = useStore(session.isTokenDialogOpen);
  // What was opened once stays: a dialog gives the focus back when it is closed, not when it is gone.
  const opened = useRef({ palette: false, keys: false, token: false }).current;
  if (open !== null) opened[open] = true;
  opened.token ||= asksToken;
  useEffect(() => takeSheetKeys(document, () => preferences.hasKeys.value), []);
  return (
    <>
      {opened.palette && <Palette />}
      {opened.keys && <KeySheet />}
      {opened.token && <TokenDialog />}
    </>
  );
}

/** Handles Ctrl/Cmd+K everywhere, and `?` unless the user is typing. */
function takeSheetKeys(target: Document, hasKeys: () => boolean): () => void {
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
