/* Keyboard shortcuts of the log list as data, used by the list and by the key sheet. */

interface LogKey {
  /** `KeyboardEvent.key`. */
  key: string;
  /** Label in the key sheet, where that is another one. */
  shown?: string;
  isAlt?: true;
  /** Also active when single-letter shortcuts are off. */
  isAlways?: true;
}

interface Meaning {
  meaning: string;
  keys: readonly LogKey[];
}

const always = (key: string, shown = key): LogKey => ({ key, shown, isAlways: true });

const COMMANDS = {
  down: { meaning: 'next line', keys: [{ key: 'j' }, always('ArrowDown', '↓')] },
  up: { meaning: 'previous line', keys: [{ key: 'k' }, always('ArrowUp', '↑')] },
  'page-down': { meaning: 'one page down', keys: [always('PageDown')] },
  'page-up': { meaning: 'one page up', keys: [always('PageUp')] },
  first: { meaning: 'first line of the log', keys: [{ key: 'g' }, always('Home')] },
  last: { meaning: 'last line of the log', keys: [{ key: 'G' }, always('End')] },
  'next-error': { meaning: 'next error', keys: [{ key: 'e' }] },
  'previous-error': { meaning: 'previous error', keys: [{ key: 'E' }] },
  'next-warning': { meaning: 'next warning or error', keys: [{ key: 'w' }] },
  'previous-warning': { meaning: 'previous warning or error', keys: [{ key: 'W' }] },
  find: { meaning: 'find', keys: [{ key: '/' }] },
  'next-match': { meaning: 'next match', keys: [{ key: 'n' }] },
  'previous-match': { meaning: 'previous match', keys: [{ key: 'N' }] },
  'only-matches': { meaning: 'only matches', keys: [{ ...always('Enter', 'Alt+Enter'), isAlt: true }] },
  context: { meaning: 'context around a filtered line; again to restore', keys: [{ key: 'c' }] },
  follow: { meaning: 'follow, or pause', keys: [{ key: 'f' }] },
  'go-to-time': { meaning: 'go to a time', keys: [{ key: 't' }] },
  details: { meaning: 'details of the line', keys: [always('Enter')] },
  toggle: { meaning: 'open or fold repeated lines; all of a line', keys: [{ key: 'o' }] },
  'copy-line': { meaning: 'copy the line', keys: [{ key: 'y' }] },
  'copy-link': { meaning: 'copy a link to the line', keys: [{ key: 'Y' }] },
  histogram: { meaning: 'show or hide the chart', keys: [{ key: 'h' }] },
  fields: { meaning: 'show or hide the facets', keys: [{ key: 'F' }] },
  wrap: { meaning: 'wrap long lines', keys: [{ key: 'Z', shown: 'Shift+Z' }] },
  close: { meaning: 'close the details', keys: [always('Escape')] },
} as const satisfies Record<string, Meaning>;

export type LogCommand = keyof typeof COMMANDS;

export const LOG_KEYS = Object.entries<Meaning>(COMMANDS).map(([command, { meaning, keys }]) => ({
  command: command as LogCommand,
  meaning,
  keys,
  shown: keys.map(({ key, shown = key }) => shown).join(' '),
}));

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
  const isPressed = ({ key, isAlt, isAlways }: LogKey) =>
    key === press.key && (isAlt === true) === press.altKey && (hasKeys || isAlways === true);
  return LOG_KEYS.find(({ keys }) => keys.some(isPressed))?.command;
}

export function keyGroups(): KeyGroup[] {
  return [EVERYWHERE, { name: 'Log lines', keys: LOG_KEYS }, QUERY_BOX, CHARTS];
}
