import { visibleText } from '../../log-view/rows/record-text.ts';
import type { Action } from '../../state/actions.ts';
import { preferences } from '../../state/preferences.ts';
import { openSaved, type SavedView } from '../../state/saved-views.ts';
import { sheet } from '../../state/sheet.ts';
import { ALL_CONFIG, ALL_LOGS, ALL_NODES, type View } from '../../state/view.ts';

export interface PaletteEntry {
  /** Kind of entry, shown next to it. */
  group: 'Here' | 'Page' | 'View' | 'Node' | 'Logs' | 'Configuration' | 'Console';
  name: string;
  keys?: string | undefined;
  target: { kind: 'go'; view: View } | { kind: 'run'; run: () => void };
}

interface PaletteContents {
  /** Actions of the current page. */
  actions: readonly Action[];
  /** Actions of every page. */
  shellActions: readonly Action[];
  nodeIds: readonly string[];
  configKeys: readonly string[];
  savedViews: readonly SavedView[];
}

/** Longer lists are not read: type more. */
export const SHOWN_ENTRIES = 50;

/** Bonuses for consecutive letters and for word starts, which is what people type. */
const FOLLOWING = 3;

const WORD_START = 4;

/** Actions of every page. */
export const SHELL_ACTIONS: readonly Action[] = [
  { name: 'Show all keys', keys: '?', run: () => sheet.set('keys') },
  { name: 'Show times in UTC', run: () => preferences.zone.set('utc') },
  { name: 'Show times of this browser', run: () => preferences.zone.set('local') },
  { name: 'Use the light theme', run: () => preferences.theme.set('light') },
  { name: 'Use the dark theme', run: () => preferences.theme.set('dark') },
  { name: "Use the system's theme", run: () => preferences.theme.set('system') },
];

/** All pages and actions, nearest first. */
export function paletteEntries({
  actions,
  shellActions,
  nodeIds,
  configKeys,
  savedViews,
}: PaletteContents): PaletteEntry[] {
  const last15Min = { kind: 'last', spanMs: 900_000 } as const;
  return [
    ...actions.map((action) => actionEntry('Here', action)),
    goTo('Page', 'Cluster', ALL_NODES),
    goTo('Page', 'Logs of all nodes', ALL_LOGS),
    goTo('Page', 'Errors of all nodes, last 15 min', { ...ALL_LOGS, range: last15Min, minLevel: 'ERROR' }),
    goTo('Page', 'Configuration: what differs', ALL_CONFIG),
    ...savedViews.map((saved) => goTo('View', visibleText(saved.name), openSaved(saved))),
    ...nodeIds.map((id) => goTo('Node', id, { page: 'node', id, tab: 'overview', text: '' })),
    ...nodeIds.map((id) => goTo('Logs', `Logs of ${id}`, { ...ALL_LOGS, sources: [{ node: id, log: null }] })),
    ...nodeIds.map((id) => goTo('Logs', `Log files of ${id}`, { page: 'node', id, tab: 'logs', text: '' })),
    ...nodeIds.map((id) =>
      goTo('Configuration', `Configuration of ${id}`, { page: 'node', id, tab: 'config', text: '' }),
    ),
    ...configKeys.map((key) => goTo('Configuration', key, { ...ALL_CONFIG, text: key, showExpected: true })),
    ...shellActions.map((action) => actionEntry('Console', action)),
  ];
}

function goTo(group: PaletteEntry['group'], name: string, view: View): PaletteEntry {
  return { group, name, target: { kind: 'go', view } };
}

function actionEntry(group: PaletteEntry['group'], { name, keys, run }: Action): PaletteEntry {
  return { group, name, keys, target: { kind: 'run', run } };
}

/** How well a text matches a query: every word must occur, its letters in order. Higher is better; `null`: no match. */
export function fuzzyScore(query: string, text: string): number | null {
  const lower = text.toLowerCase();
  let total = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = wordScore(word, lower);
    if (score === null) return null;
    total += score;
  }
  // Of two equal matches, prefer the shorter text.
  return total - lower.length / 100;
}

/** Matches, best first; equal ones keep their order. */
export function fuzzyFilter<Entry>(
  entries: readonly Entry[],
  query: string,
  textOf: (entry: Entry) => string,
): Entry[] {
  if (query.trim() === '') return [...entries];
  return entries
    .map((entry) => ({ entry, score: fuzzyScore(query, textOf(entry)) }))
    .filter((scored): scored is { entry: Entry; score: number } => scored.score !== null)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

function wordScore(word: string, text: string): number | null {
  const whole = text.indexOf(word);
  // Scattered letters match almost anything; a whole word scores higher.
  if (whole >= 0)
    return word.length * (FOLLOWING + 1) + (isWordStart(text, whole) ? 2 * WORD_START : 0) + (whole === 0 ? 1 : 0);
  let score = 0;
  let last = -2;
  for (const letter of word) {
    const index = text.indexOf(letter, Math.max(0, last + 1));
    if (index < 0) return null;
    score += index === last + 1 ? FOLLOWING : isWordStart(text, index) ? WORD_START : 0;
    last = index;
  }
  return score / 2;
}

function isWordStart(text: string, index: number): boolean {
  return index === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(index - 1));
}
