import { LOG_KEYS } from './log-keys.ts';

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

/** All keyboard shortcuts. */
export function keyGroups(): KeyGroup[] {
  return [EVERYWHERE, { name: 'Log lines', keys: LOG_KEYS }, QUERY_BOX, CHARTS];
}
