import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../log-view/rows/record-text.ts';
import { showNotice } from '../../state/notice.ts';
import {
  formatViews,
  MAX_FILE_BYTES,
  MAX_NAME_CHARACTERS,
  openSaved,
  readViews,
  type SavedView,
  savedViews,
} from '../../state/saved-views.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, LinkButton } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatCounted } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import { saveContent } from '../../ui/start-download.ts';

const FILE_NAME = 'porthole-views.json';

/** Reasons shown when views of a file are skipped; the rest is a count. */
const MAX_REASONS = 3;

interface SavedViewsDialogProps {
  isOpen: boolean;
  view: LogsView;
  onClose: () => void;
}

/** Saves the current view under a name; opens, renames and deletes saved ones; exports and imports them. */
export function SavedViewsDialog({ isOpen, view, onClose }: SavedViewsDialogProps) {
  return (
    <Dialog title="Saved views" class="saved-views" isOpen={isOpen} onClose={onClose}>
      <ViewList view={view} onClose={onClose} />
    </Dialog>
  );
}

function ViewList({ view, onClose }: Omit<SavedViewsDialogProps, 'isOpen'>) {
  const views = useStore(savedViews.list);
  const isKept = useStore(savedViews.isKept);
  useEffect(() => {
    const reload = () => savedViews.reload();
    reload();
    // Fired when another tab writes.
    addEventListener('storage', reload);
    return () => removeEventListener('storage', reload);
  }, []);
  return (
    <>
      <SaveForm view={view} views={views} />
      {isKept ? null : (
        <p class="notice" role="status">
          This browser does not allow storage: views are lost when the page is closed. Export them to keep them.
        </p>
      )}
      {views.length === 0 ? <p class="dim">No saved views yet.</p> : null}
      <ul class="view-list" aria-label="Saved views">
        {views.map((saved) => (
          <ViewLine key={saved.name} saved={saved} onOpen={onClose} />
        ))}
      </ul>
      <FileButtons views={views} onClose={onClose} />
    </>
  );
}

function SaveForm({ view, views }: { view: LogsView; views: readonly SavedView[] }) {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const isThere = views.some((saved) => saved.name === name.trim());
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const found = savedViews.save(name, view);
    setProblem(found);
    if (found !== null) return;
    setName('');
    showNotice('View saved');
  };
  return (
    <form class="view-form" onSubmit={submit}>
      <label class="field">
        Save this view as
        <input
          type="text"
          value={name}
          maxLength={MAX_NAME_CHARACTERS}
          autocomplete="off"
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : 'view-problem'}
          onInput={({ currentTarget }) => {
            setName(currentTarget.value);
            setProblem(null);
          }}
        />
      </label>
      <Button type="submit">{isThere ? 'Replace' : 'Save'}</Button>
      {problem === null ? null : (
        <p id="view-problem" class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function ViewLine({ saved, onOpen }: { saved: SavedView; onOpen: () => void }) {
  const [isRenaming, setRenaming] = useState(false);
  const name = visibleText(saved.name);
  if (isRenaming) return <RenameForm saved={saved} onEnd={() => setRenaming(false)} />;
  return (
    <li class="flex view-line">
      <a href={viewUrl(openSaved(saved))} onClick={onOpen}>
        <b>{name}</b>
        <span class="dim mono cut">{visibleText(queryText(saved))}</span>
      </a>
      <LinkButton aria-label={`Rename ${name}`} onClick={() => setRenaming(true)}>
        rename
      </LinkButton>
      <LinkButton
        aria-label={`Delete ${name}`}
        onClick={() => {
          savedViews.remove(saved.name);
          showNotice('View deleted');
        }}
      >
        delete
      </LinkButton>
    </li>
  );
}

function RenameForm({ saved, onEnd }: { saved: SavedView; onEnd: () => void }) {
  const [name, setName] = useState(saved.name);
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const found = savedViews.rename(saved.name, name);
    setProblem(found);
    if (found === null) onEnd();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Leaves the field, not the dialog.
    event.preventDefault();
    event.stopPropagation();
    onEnd();
  };
  return (
    <li class="flex view-line">
      <form class="view-form" onSubmit={submit}>
        <input
          ref={field}
          type="text"
          aria-label={`New name of ${visibleText(saved.name)}`}
          value={name}
          maxLength={MAX_NAME_CHARACTERS}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          onKeyDown={press}
        />
        <Button type="submit">Rename</Button>
        {problem === null ? null : (
          <p class="field-problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </li>
  );
}

function FileButtons({ views, onClose }: { views: readonly SavedView[]; onClose: () => void }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const exportViews = () => saveContent(new Blob([formatViews(views)], { type: 'application/json' }), FILE_NAME);
  return (
    <>
      <p class="dim wraps" role="status">
        {outcome}
      </p>
      <div class="wrap dialog-buttons">
        <Button disabled={views.length === 0} onClick={exportViews}>
          Export
        </Button>
        <Button onClick={() => file.current?.click()}>Import</Button>
        <input
          ref={file}
          type="file"
          hidden
          accept="application/json,.json"
          aria-label="File with saved views"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            // Without this the same file could not be chosen twice.
            if (chosen) void importViews(chosen).then(setOutcome);
            currentTarget.value = '';
          }}
        />
        <Button onClick={onClose}>Close</Button>
      </div>
    </>
  );
}

async function importViews(file: Blob): Promise<string> {
  if (file.size > MAX_FILE_BYTES) return 'Not imported: the file is too large for saved views';
  const read = readViews(await file.text());
  return read ? importOutcome(savedViews.add(read.views), read) : 'Not imported: not a file of saved views';
}

/** What an import did: `2 views imported · 1 already there · skipped x: not a view`. */
function importOutcome(added: number, { views, skipped }: ReturnType<typeof readViews> & object): string {
  const known = views.length - added;
  return [
    `${formatCounted(added, 'view')} imported`,
    ...(known > 0 ? [`${known} already there`] : []),
    ...skipped.slice(0, MAX_REASONS).map((reason) => `skipped ${visibleText(reason)}`),
    ...(skipped.length > MAX_REASONS ? [`${skipped.length - MAX_REASONS} more skipped`] : []),
  ].join(' · ');
}

/** The query as people read it. */
function queryText({ query }: SavedView): string {
  return (
    [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).join(' ') || 'all logs of all nodes'
  );
}
