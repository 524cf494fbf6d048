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

/** The command of a key press; `undefined` for keys left to the browser. */
export function findCommand(press: KeyPress, { hasKeys }: { hasKeys: boolean }): LogCommand | undefined {
  if (press.ctrlKey || press.metaKey) return undefined;
  const isPressed = ({ key, isAlt, isAlways }: LogKey) =>
    key === press.key && (isAlt === true) === press.altKey && (hasKeys || isAlways === true);
  return LOG_KEYS.find(({ keys }) => keys.some(isPressed))?.command;
}
