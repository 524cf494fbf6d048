import { useEffect, useRef } from 'preact/hooks';
import { listen } from '../state/listen.ts';
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
  useEffect(() => listen(document, 'keydown', takeKey), []);
  return (
    <>
      {opened.palette && <Palette />}
      {opened.keys && <KeySheet />}
      {opened.token && <TokenDialog />}
    </>
  );
}

/** Ctrl/Cmd+K everywhere, and `?` unless the user is typing. */
function takeKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  const isCommand = ctrlKey || metaKey;
  const opensPalette = isCommand && !altKey && key.toLowerCase() === 'k';
  const opensKeys = key === '?' && preferences.hasKeys.value && !isCommand && !isTextField(target);
  if (!(opensPalette || opensKeys) || document.querySelector('dialog[open]')) return;
  event.preventDefault();
  sheet.set(opensPalette ? 'palette' : 'keys');
}
