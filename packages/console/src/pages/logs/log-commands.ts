import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { findCommand, LOG_KEYS, type LogCommand } from '../../log-view/log-keys.ts';
import { LIST_ID } from '../../log-view/rows/row-list.tsx';
import type { ShownRecord } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { listen } from '../../state/listen.ts';
import { actions } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import type { LogsView } from '../../state/view.ts';
import type { ViewAction } from './view-actions.ts';

interface CommandDeps {
  workspace: LogWorkspace;
  view: LogsView;
  pageRows: () => number;
  field: RefObject<HTMLInputElement>;
  change: (change: Partial<LogsView>) => void;
  openDetails: () => void;
  /** `false` if nothing was open. */
  closeDetails: () => boolean;
  openGoToTime: () => void;
  toggleFacets: () => void;
  act: (action: ViewAction) => void;
  /** Shows the newest records and follows. */
  follow: () => void;
}

const IN_PALETTE = [
  'follow',
  'go-to-time',
  'histogram',
  'fields',
  'wrap',
  'next-error',
  'previous-error',
  'copy-link',
] as const;

export function focusedRecord({ state }: LogWorkspace): ShownRecord | null {
  const row = state.rows.find(({ key }) => key === state.focusedKey);
  return row?.kind === 'record' ? row.record : null;
}

/** Runs a command; `false` if there was nothing to do. */
function runCommand(command: LogCommand, parts: CommandDeps): boolean {
  return COMMANDS[command](parts) !== false;
}

const COMMANDS: Readonly<Record<LogCommand, (parts: CommandDeps) => unknown>> = {
  down: ({ workspace }) => workspace.moveFocus(1),
  up: ({ workspace }) => workspace.moveFocus(-1),
  'page-down': ({ workspace, pageRows }) => workspace.moveFocus(Math.max(1, pageRows() - 1)),
  'page-up': ({ workspace, pageRows }) => workspace.moveFocus(-Math.max(1, pageRows() - 1)),
  first: ({ workspace }) => workspace.toFirst(),
  last: ({ workspace }) => workspace.toLast(),
  'next-error': ({ workspace }) => workspace.toLevel('ERROR', 'newer'),
  'previous-error': ({ workspace }) => workspace.toLevel('ERROR', 'older'),
  'next-warning': ({ workspace }) => workspace.toLevel('WARN', 'newer'),
  'previous-warning': ({ workspace }) => workspace.toLevel('WARN', 'older'),
  find: ({ field }) => {
    field.current?.focus();
    field.current?.select();
  },
  'next-match': ({ workspace }) => workspace.findNext('newer'),
  'previous-match': ({ workspace }) => workspace.findNext('older'),
  'only-matches': ({ view, change }) => change({ isOnlyMatches: !view.isOnlyMatches }),
  context: ({ workspace }) => {
    const { focusedKey } = workspace.state;
    if (focusedKey !== null) void workspace.toggleContext(focusedKey);
  },
  follow: ({ workspace, follow }) => (workspace.state.follow.state === 'live' ? workspace.pause() : follow()),
  'go-to-time': ({ openGoToTime }) => openGoToTime(),
  details: ({ workspace, openDetails }) => focusedRecord(workspace) !== null && openDetails(),
  toggle: ({ workspace }) => {
    const { focusedKey } = workspace.state;
    if (focusedKey !== null) workspace.toggle(focusedKey);
  },
  'copy-line': ({ act }) => act('copy-line'),
  'copy-link': ({ act }) => act('copy-link'),
  histogram: ({ view, change }) => change({ hasHistogram: !view.hasHistogram }),
  fields: ({ toggleFacets }) => toggleFacets(),
  wrap: ({ view, change }) => change({ isWrapped: !view.isWrapped }),
  close: ({ closeDetails }) => closeDetails(),
};

/** Keyboard shortcuts of the list, ignored while the user is typing. */
export function useLogKeys(parts: () => CommandDeps): void {
  useEffect(() => {
    const endKeys = listen<KeyboardEvent>(document, 'keydown', (event) => {
      const command = findCommand(event, { hasKeys: preferences.hasKeys.value });
      if (!command || event.defaultPrevented || !acceptsKey(event)) return;
      if (runCommand(command, parts())) event.preventDefault();
    });
    const offered = IN_PALETTE.flatMap((command) => {
      const key = LOG_KEYS.find((candidate) => candidate.command === command);
      return key
        ? [{ name: sentence(key.meaning), keys: key.shown, run: () => void runCommand(command, parts()) }]
        : [];
    });
    const end = actions.put(offered);
    return () => {
      endKeys();
      end();
    };
  }, []);
}

/** Enter and arrow keys belong to the focused element; letters and Escape to the page. */
function acceptsKey({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return false;
  if (!(target instanceof Element) || target === document.body || target.id === 'main' || target.id === LIST_ID)
    return true;
  return !target.matches('input, textarea, select') && (key.length === 1 || key === 'Escape');
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
