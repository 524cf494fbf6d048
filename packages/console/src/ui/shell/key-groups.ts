import { LOG_KEYS } from '../../log-view/log-keys.ts';

export interface KeyGroup {
  name: string;
  keys: readonly { shown: string; meaning: string }[];
}

const EVERYWHERE: KeyGroup = {
  name: 'Everywhere',
  keys: [
    { shown: 'Ctrl+K', meaning: 'go anywhere, do anything (⌘ K on a Mac)' },
    { shown: '?', meaning: 'this list' },
    { shown: 'Escape', meaning: 'close what lies over the page' },
  ],
};

const CHARTS: KeyGroup = {
  name: 'Charts',
  keys: [
    { shown: '← →', meaning: 'the bar before or after' },
    { shown: 'Home End', meaning: 'the first or last bar' },
    { shown: 'Enter', meaning: 'the records of this bar; in the logs: zoom' },
    { shown: 'Shift+← →', meaning: 'in the logs: choose several bars' },
    { shown: 'Space', meaning: 'in the logs: go there' },
  ],
};

/** All keys there are; those that mean the same stand in one line. */
export function keyGroups(): KeyGroup[] {
  const lines = new Map<string, string[]>();
  for (const { meaning, shown } of LOG_KEYS) lines.set(meaning, [...(lines.get(meaning) ?? []), shown]);
  const logKeys = [...lines].map(([meaning, shown]) => ({ shown: shown.join(' '), meaning }));
  return [EVERYWHERE, { name: 'Log lines', keys: logKeys }, CHARTS];
}
