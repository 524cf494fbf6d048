import { useEffect } from 'preact/hooks';
import { findCommand, LOG_KEYS } from '../../../log-view/log-keys.ts';
import { LIST_ID } from '../../../log-view/rows/row-list.tsx';
import { actions } from '../../../state/actions.ts';
import { preferences } from '../../../state/preferences.ts';
import { type CommandDeps, runCommand } from './run-command.ts';

/** What the palette offers of it. */
const IN_PALETTE = ['follow', 'go-to-time', 'histogram', 'wrap', 'next-error', 'previous-error', 'copy-link'] as const;

/** The keys of the list: never heard where someone writes. */
export function useLogKeys(parts: () => CommandDeps): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = findCommand(event, { hasKeys: preferences.hasKeys.value });
      if (!command || event.defaultPrevented || !acceptsKey(event)) return;
      if (runCommand(command, parts())) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    const offered = IN_PALETTE.flatMap((command) => {
      const key = LOG_KEYS.find((candidate) => candidate.command === command);
      return key
        ? [{ name: sentence(key.meaning), keys: key.shown, run: () => void runCommand(command, parts()) }]
        : [];
    });
    const end = actions.put(offered);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      end();
    };
  }, []);
}

/** Enter and arrows belong to what has the focus; letters, and Escape, to the page. */
function acceptsKey({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return false;
  if (!(target instanceof Element) || target === document.body || target.id === 'main' || target.id === LIST_ID)
    return true;
  return !target.matches('input, textarea, select') && (key.length === 1 || key === 'Escape');
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
