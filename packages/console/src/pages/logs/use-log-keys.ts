import { useEffect } from 'preact/hooks';
import { commandOf, LOG_KEYS } from '../../log-view/log-keys.ts';
import { LIST_ID } from '../../log-view/row-list.tsx';
import { actions } from '../../state/actions.ts';
import { preferences } from '../../state/preferences.ts';
import { type CommandParts, runCommand } from './run-command.ts';

/** What the palette offers of it. */
const IN_PALETTE = ['follow', 'go-to-time', 'histogram', 'wrap', 'next-error', 'previous-error', 'copy-link'] as const;

/** The keys of the list: heard where the list, or nothing, has the focus, never where someone writes. */
export function useLogKeys(parts: () => CommandParts): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const command = commandOf(event, { hasKeys: preferences.hasKeys.value });
      if (!command || event.defaultPrevented || !isHeard(event.target, command === 'close')) return;
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

function isHeard(target: EventTarget | null, isClose: boolean): boolean {
  if (document.querySelector('dialog[open]')) return false;
  if (!(target instanceof Element) || target === document.body || target.id === 'main') return true;
  if (isClose) return !target.matches('input, textarea, select');
  return target.id === LIST_ID;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
