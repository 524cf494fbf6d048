import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { actions } from '../../state/actions.ts';
import { cluster, configKeys } from '../../state/cluster.ts';
import { navigation } from '../../state/navigation.ts';
import { savedViews } from '../../state/saved-views.ts';
import { sheet } from '../../state/sheet.ts';
import { Dialog } from '../dialog.tsx';
import { useResource, useStore } from '../hooks.ts';
import { fuzzyFilter, type PaletteEntry, paletteEntries, SHELL_ACTIONS, SHOWN_ENTRIES } from './palette-entries.ts';

/** Finds pages and actions by a few typed letters. */
export function Palette() {
  const isOpen = useStore(sheet) === 'palette';
  return (
    <Dialog title="Commands" class="palette" isOpen={isOpen} onClose={() => close()}>
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
  const optionId = (at: number) => `${listId}-${at}`;
  useEffect(
    () => document.getElementById(`${listId}-${current}`)?.scrollIntoView({ block: 'nearest' }),
    [current, listId],
  );
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
      <input
        type="text"
        role="combobox"
        autofocus
        autocomplete="off"
        spellcheck={false}
        placeholder="Search pages, nodes, logs, settings, actions"
        aria-label="Search pages and commands"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? optionId(current) : undefined}
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={listId} class="palette-list" aria-label="Results">
        {found.map((entry, at) => (
          <PaletteOption
            key={`${entry.group} ${entry.name}`}
            id={optionId(at)}
            entry={entry}
            isCurrent={at === current}
          />
        ))}
      </div>
      <p class="palette-count dim" role="status">
        {found.length === 0 && 'No results'}
      </p>
    </>
  );
}

function PaletteOption({ id, entry, isCurrent }: { id: string; entry: PaletteEntry; isCurrent: boolean }) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focused field above handles the keys of all options
    // biome-ignore lint/a11y/useFocusableInteractive: as above
    <div role="option" id={id} class="palette-option" aria-selected={isCurrent} onClick={() => choose(entry)}>
      <span class="palette-name">{entry.name}</span>
      {entry.keys && <kbd>{entry.keys}</kbd>}
      <span class="dim">{entry.group}</span>
    </div>
  );
}

function useEntries(query: string): PaletteEntry[] {
  const nodes = useStore(cluster.state).value?.nodes;
  const keys = useResource(configKeys).value;
  const here = useStore(actions.list);
  const views = useStore(savedViews.list);
  const all = useMemo(
    () =>
      paletteEntries({
        actions: here,
        shellActions: SHELL_ACTIONS,
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

function choose({ target }: PaletteEntry): void {
  close();
  if (target.kind === 'run') target.run();
  else navigation.go(target.view);
}

function close(): void {
  if (sheet.value === 'palette') sheet.set(null);
}
