import { useId, useMemo, useState } from 'preact/hooks';
import { visibleText } from '../log-view/rows/record-text.ts';
import { navigation } from '../state/navigation.ts';
import { type Action, actions, sheet } from '../state/notice.ts';
import { preferences } from '../state/preferences.ts';
import { cluster, configKeys } from '../state/resource.ts';
import { allViews, nodeViews, openSaved, type SavedView } from '../state/saved-views.ts';
import { ALL_CONFIG, ALL_LOGS, ALL_NODES, INCIDENTS, nodeLogs, nodeView, OVERVIEW, type View } from '../state/view.ts';
import { TextInput } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useResource, useStore } from '../ui/hooks.ts';
import { OptionList, optionId } from '../ui/option-list.tsx';

/** Finds pages and actions by a few typed letters. */
export function Palette() {
  const isOpen = useStore(sheet) === 'palette';
  return (
    <Dialog title="Commands" class="palette" isOpen={isOpen} onClose={() => closePalette()}>
      <PaletteSearch />
    </Dialog>
  );
}

function PaletteSearch() {
  const [query, setQuery] = useState('');
  const [index, setIndex] = useState(0);
  const found = useEntries(query);
  const listId = useId();
  const current = Math.min(index, found.length - 1);
  const press = (event: KeyboardEvent) => {
    const moved = movedIndex(event.key, current, found.length);
    const entry = found[current];
    if (moved !== undefined) setIndex(moved);
    else if (event.key === 'Enter' && entry) choose(entry);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        type="text"
        role="combobox"
        autofocus
        placeholder="Search pages, nodes, logs, settings, actions"
        aria-label="Search pages and commands"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? optionId(listId, current) : undefined}
        value={query}
        onText={(text) => {
          setQuery(text);
          setIndex(0);
        }}
        onKeyDown={press}
      />
      <OptionList
        id={listId}
        label="Results"
        options={found.map(({ name, keys, group }) => (
          <>
            <span class="grow">{name}</span>
            {keys && <kbd>{keys}</kbd>}
            <span class="dim">{group}</span>
          </>
        ))}
        index={current}
        onChoose={(at) => found[at] && choose(found[at])}
      />
      <p class="dim" role="status">
        {found.length === 0 && 'No results'}
      </p>
    </>
  );
}

function useEntries(query: string): PaletteEntry[] {
  const nodes = useStore(cluster.state).value?.nodes;
  const keys = useResource(configKeys).value;
  const here = useStore(actions.list);
  useResource(nodeViews);
  const views = useStore(allViews);
  const all = useMemo(
    () =>
      paletteEntries({
        actions: here,
        nodeIds: nodes?.map(({ id }) => id) ?? [],
        configKeys: keys ?? [],
        savedViews: views,
      }),
    [here, nodes, keys, views],
  );
  return useMemo(() => fuzzyFilter(all, query, ({ name }) => name).slice(0, SHOWN_ENTRIES), [all, query]);
}

function movedIndex(key: string, index: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (index + 1) % count;
  if (key === 'ArrowUp') return (index + count - 1) % count;
  if (key === 'PageDown') return Math.min(count - 1, index + 10);
  if (key === 'PageUp') return Math.max(0, index - 10);
  return undefined;
}

function choose({ run }: PaletteEntry): void {
  closePalette();
  run();
}

function closePalette(): void {
  if (sheet.value === 'palette') sheet.set(null);
}

interface PaletteEntry {
  /** Kind of entry, shown next to it. */
  group: 'Here' | 'Page' | 'View' | 'Node' | 'Logs' | 'Configuration' | 'Console';
  name: string;
  keys?: string | undefined;
  run: () => void;
}

interface PaletteContents {
  actions: readonly Action[];
  nodeIds: readonly string[];
  configKeys: readonly string[];
  savedViews: readonly SavedView[];
}

/** Longer lists are not read: type more. */
const SHOWN_ENTRIES = 50;

/** Bonuses for consecutive letters and for word starts, which is what people type. */
const FOLLOWING = 3;

const WORD_START = 4;

/** Actions of every page. */
const SHELL_ACTIONS: readonly Action[] = [
  { name: 'Show all keys', keys: '?', run: () => sheet.set('keys') },
  { name: 'Show times in UTC', run: () => preferences.zone.set('utc') },
  { name: 'Show times of this browser', run: () => preferences.zone.set('local') },
  { name: 'Use the light theme', run: () => preferences.theme.set('light') },
  { name: 'Use the dark theme', run: () => preferences.theme.set('dark') },
  { name: "Use the system's theme", run: () => preferences.theme.set('system') },
];

/** All pages and actions, nearest first. What is loaded comes last: nothing moves away below a finger when it arrives. */
export function paletteEntries({ actions, nodeIds, configKeys, savedViews }: PaletteContents): PaletteEntry[] {
  const last15Min = { kind: 'last', spanMs: 900_000 } as const;
  return [
    ...actions.map((action) => ({ group: 'Here', ...action }) as const),
    goTo('Page', 'Overview', OVERVIEW),
    goTo('Page', 'Logs of all nodes', ALL_LOGS),
    goTo('Page', 'Errors of all nodes, last 15 min', { ...ALL_LOGS, range: last15Min, minLevel: 'ERROR' }),
    goTo('Page', 'Incidents: what happened', INCIDENTS),
    goTo('Page', 'Configuration: what changed', ALL_CONFIG),
    goTo('Page', 'Configuration: what differs', { ...ALL_CONFIG, tab: 'compare' }),
    goTo('Page', 'Nodes', ALL_NODES),
    ...SHELL_ACTIONS.map((action) => ({ group: 'Console', ...action }) as const),
    ...nodeIds.map((id) => goTo('Node', id, nodeView(id))),
    ...nodeIds.map((id) => goTo('Logs', `Logs of ${id}`, nodeLogs(id))),
    ...nodeIds.map((id) => goTo('Logs', `Log files of ${id}`, nodeView(id, 'logs'))),
    ...nodeIds.map((id) => goTo('Configuration', `Configuration of ${id}`, nodeView(id, 'config'))),
    ...savedViews.map((saved) => goTo('View', visibleText(saved.name), openSaved(saved))),
    ...configKeys.map((key) => goTo('Configuration', key, { ...ALL_CONFIG, tab: 'text', text: key })),
  ];
}

function goTo(group: PaletteEntry['group'], name: string, view: View): PaletteEntry {
  return { group, name, run: () => navigation.go(view) };
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
  // The shorter of two equal matches is preferred.
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
