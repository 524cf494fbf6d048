import { useEffect } from 'preact/hooks';
import { commandOf, LOG_KEYS } from '../../log-view/log-keys.ts';
import { LIST_ID } from '../../log-view/row-list.tsx';
import { actions } from '../../state/actions.ts';
import { preferences } from '../../state/preferences.ts';
import { type CommandParts, runCommand } from './run-command.ts';

/** What the palette offers of it. */
const IN_PALETTE = ['follow', 'go-to-time', 'histogram', 'wrap', 'next-error', 'previous-error', 'copy-link'] as const;

/** The keys of the list: never heard where someone writes. */
export function useLogKeys(parts: () => CommandParts): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const command = commandOf(event, { hasKeys: preferences.hasKeys.value });
      if (!command || event.defaultPrevented || !isHeard(event)) return;
      if (runCommand(command, parts())) event.preventDefault();
    };
    document.addEventListener('keydown', hear);
    const offered = IN_PALETTE.flatMap((command) => {
      const key = LOG_KEYS.find((candidate) => candidate.command === command);
      return key
        ? [{ name: sentence(key.meaning), keys: key.shown, run: () => void runCommand(command, parts()) }]
        : [];
    });
    const end = actions.put(offered);
    return () => {
      document.removeEventListener('keydown', hear);
      end();
    };
  }, []);
}

/** Enter and arrows belong to what has the focus; letters, and Escape, to the page. */
function isHeard({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return false;
  if (!(target instanceof Element) || target === document.body || target.id === 'main' || target.id === LIST_ID)
    return true;
  return !target.matches('input, textarea, select') && (key.length === 1 || key === 'Escape');
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
