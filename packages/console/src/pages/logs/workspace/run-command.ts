import type { RefObject } from 'preact';
import type { LogCommand } from '../../../log-view/log-keys.ts';
import type { Workspace } from '../../../log-view/model/workspace-state.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';

/** What commands of the list need. */
export interface CommandDeps {
  workspace: Workspace;
  view: LogsView;
  /** Rows of a page. */
  pageRows: () => number;
  field: RefObject<HTMLInputElement>;
  change: (change: Partial<LogsView>) => void;
  openDetails: () => void;
  /** `false` when nothing was open. */
  closeDetails: () => boolean;
  openGoToTime: () => void;
  copyLine: (record: ShownRecord) => void;
  copyLink: () => void;
  /** Shows the newest records and follows. */
  follow: () => void;
}

export function focusedRecord({ state }: Workspace): ShownRecord | null {
  const row = state.rows.find(({ key }) => key === state.focusedKey);
  return row?.kind === 'record' ? row.record : null;
}

/** Does it; `false` when there was nothing to do. */
export function runCommand(command: LogCommand, parts: CommandDeps): boolean {
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
    if (focusedKey !== null) workspace.toggleContext(focusedKey);
  },
  follow: ({ workspace, follow }) => (workspace.state.follow.state === 'live' ? workspace.pause() : follow()),
  'go-to-time': ({ openGoToTime }) => openGoToTime(),
  details: ({ workspace, openDetails }) => focusedRecord(workspace) !== null && openDetails(),
  'copy-line': ({ workspace, copyLine }) => {
    const record = focusedRecord(workspace);
    if (record) copyLine(record);
  },
  'copy-link': ({ copyLink }) => copyLink(),
  histogram: ({ view, change }) => change({ hasHistogram: !view.hasHistogram }),
  wrap: ({ view, change }) => change({ isWrapped: !view.isWrapped }),
  close: ({ closeDetails }) => closeDetails(),
};
