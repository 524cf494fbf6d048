/* Keyboard shortcuts of the log list as data, used by the list and by the key sheet. */

export type LogCommand =
  | 'down'
  | 'up'
  | 'page-down'
  | 'page-up'
  | 'first'
  | 'last'
  | 'next-error'
  | 'previous-error'
  | 'next-warning'
  | 'previous-warning'
  | 'find'
  | 'next-match'
  | 'previous-match'
  | 'only-matches'
  | 'context'
  | 'follow'
  | 'go-to-time'
  | 'details'
  | 'toggle'
  | 'copy-line'
  | 'copy-link'
  | 'histogram'
  | 'fields'
  | 'wrap'
  | 'close';

interface LogKey {
  /** Label in the key sheet. */
  shown: string;
  command: LogCommand;
  meaning: string;
  /** `KeyboardEvent.key`. */
  key: string;
  isAlt?: true;
  /** Also active when single-letter shortcuts are off. */
  isAlways?: true;
}

export const LOG_KEYS: readonly LogKey[] = [
  { shown: 'j', key: 'j', command: 'down', meaning: 'next line' },
  { shown: '↓', key: 'ArrowDown', command: 'down', meaning: 'next line', isAlways: true },
  { shown: 'k', key: 'k', command: 'up', meaning: 'previous line' },
  { shown: '↑', key: 'ArrowUp', command: 'up', meaning: 'previous line', isAlways: true },
  { shown: 'PageDown', key: 'PageDown', command: 'page-down', meaning: 'one page down', isAlways: true },
  { shown: 'PageUp', key: 'PageUp', command: 'page-up', meaning: 'one page up', isAlways: true },
  { shown: 'g', key: 'g', command: 'first', meaning: 'first line of the log' },
  { shown: 'Home', key: 'Home', command: 'first', meaning: 'first line of the log', isAlways: true },
  { shown: 'G', key: 'G', command: 'last', meaning: 'last line of the log' },
  { shown: 'End', key: 'End', command: 'last', meaning: 'last line of the log', isAlways: true },
  { shown: 'e', key: 'e', command: 'next-error', meaning: 'next error' },
  { shown: 'E', key: 'E', command: 'previous-error', meaning: 'previous error' },
  { shown: 'w', key: 'w', command: 'next-warning', meaning: 'next warning or error' },
  { shown: 'W', key: 'W', command: 'previous-warning', meaning: 'previous warning or error' },
  { shown: '/', key: '/', command: 'find', meaning: 'find' },
  { shown: 'n', key: 'n', command: 'next-match', meaning: 'next match' },
  { shown: 'N', key: 'N', command: 'previous-match', meaning: 'previous match' },
  { shown: 'Alt+Enter', key: 'Enter', isAlt: true, command: 'only-matches', meaning: 'only matches', isAlways: true },
  { shown: 'c', key: 'c', command: 'context', meaning: 'context around a filtered line; again to restore' },
  { shown: 'f', key: 'f', command: 'follow', meaning: 'follow, or pause' },
  { shown: 't', key: 't', command: 'go-to-time', meaning: 'go to a time' },
  { shown: 'Enter', key: 'Enter', command: 'details', meaning: 'details of the line', isAlways: true },
  { shown: 'o', key: 'o', command: 'toggle', meaning: 'open or fold repeated lines; all of a line' },
  { shown: 'y', key: 'y', command: 'copy-line', meaning: 'copy the line' },
  { shown: 'Y', key: 'Y', command: 'copy-link', meaning: 'copy a link to the line' },
  { shown: 'h', key: 'h', command: 'histogram', meaning: 'show or hide the chart' },
  { shown: 'F', key: 'F', command: 'fields', meaning: 'show or hide the facets' },
  { shown: 'Shift+Z', key: 'Z', command: 'wrap', meaning: 'wrap long lines' },
  { shown: 'Escape', key: 'Escape', command: 'close', meaning: 'close the details', isAlways: true },
];

interface KeyPress {
  key: string;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

interface KeyGroup {
  name: string;
  keys: readonly { shown: string; meaning: string }[];
}

const EVERYWHERE: KeyGroup = {
  name: 'Everywhere',
  keys: [
    { shown: 'Ctrl+K', meaning: 'commands (⌘ K on a Mac)' },
    { shown: '?', meaning: 'this list' },
    { shown: 'Escape', meaning: 'close dialog' },
  ],
};

const QUERY_BOX: KeyGroup = {
  name: 'Query box',
  keys: [
    { shown: 'Enter', meaning: 'older match' },
    { shown: 'Shift+Enter', meaning: 'newer match' },
    { shown: 'Ctrl+Space', meaning: 'completions' },
    { shown: '↓ ↑', meaning: 'choose one; last queries in an empty box' },
    { shown: 'Tab', meaning: 'insert the chosen one' },
    { shown: 'Escape', meaning: 'close the list; back to the lines' },
  ],
};

const CHARTS: KeyGroup = {
  name: 'Charts',
  keys: [
    { shown: '← →', meaning: 'previous or next bar' },
    { shown: 'Home End', meaning: 'first or last bar' },
    { shown: 'Enter', meaning: 'records of the bar; in the logs: zoom' },
    { shown: 'Shift+← →', meaning: 'in the logs: select several bars' },
    { shown: 'Space', meaning: 'in the logs: go to the bar' },
  ],
};

/** The command of a key press; `undefined` for keys left to the browser. */
export function findCommand(press: KeyPress, { hasKeys }: { hasKeys: boolean }): LogCommand | undefined {
  if (press.ctrlKey || press.metaKey) return undefined;
  const found = LOG_KEYS.find(({ key, isAlt = false }) => key === press.key && isAlt === press.altKey);
  return found && (hasKeys || found.isAlways) ? found.command : undefined;
}

/** All keyboard shortcuts; keys that do the same share a line. */
export function keyGroups(): KeyGroup[] {
  const lines = new Map<string, string[]>();
  for (const { meaning, shown } of LOG_KEYS) lines.set(meaning, [...(lines.get(meaning) ?? []), shown]);
  const logKeys = [...lines].map(([meaning, shown]) => ({ shown: shown.join(' '), meaning }));
  return [EVERYWHERE, { name: 'Log lines', keys: logKeys }, QUERY_BOX, CHARTS];
}
