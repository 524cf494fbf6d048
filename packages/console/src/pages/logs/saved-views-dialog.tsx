import type { SavedView as SharedView, SavedViews as SharedViews } from '@porthole/client';
import { MAX_VIEW_NAME_CHARACTERS } from '@porthole/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../log-view/rows/record-text.ts';
import { listen } from '../../state/listen.ts';
import { showNotice } from '../../state/notice.ts';
import {
  allViews,
  formatViews,
  MAX_FILE_BYTES,
  nodeViews,
  onNode,
  openSaved,
  readViews,
  type SavedView,
  savedViews,
  type ViewPlace,
  whoAmI,
} from '../../state/saved-views.ts';
import { session } from '../../state/session.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, LinkButton, Segments, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatCounted } from '../../ui/format.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { MenuItem } from '../../ui/menu.tsx';
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
  const own = useStore(savedViews.list);
  const isKept = useStore(savedViews.isKept);
  const { value: shared, failure } = useResource(nodeViews);
  const me = useResource(whoAmI).value;
  // What changes something is sent to the node of this page only.
  const isAtHome = useStore(session.via) === null;
  const mayShare = isAtHome && (me?.roles ?? []).some((role) => role === 'config' || role === 'admin');
  useEffect(() => {
    const reload = () => savedViews.reload();
    reload();
    // Fired when another tab writes.
    return listen(window, 'storage', reload);
  }, []);
  const close = { onOpen: onClose };
  return (
    <>
      <SaveForm view={view} mayShare={shared !== null && mayShare} />
      {shared?.problem && (
        <p class="notice" role="status">
          {session.home.id}: {shared.problem}
        </p>
      )}
      {failure && failure.code !== 'NOT_SUPPORTED' && (
        <p class="notice" role="status">
          The views on {session.home.id} could not be loaded: {failure.detail}
        </p>
      )}
      {isKept ? null : (
        <p class="notice" role="status">
          This browser does not allow storage: views in it are lost when the page is closed. Export them to keep them.
        </p>
      )}
      {own.length === 0 && !shared?.views.length ? <p class="dim">No saved views yet.</p> : null}
      <ul class="view-list" aria-label="Saved views">
        {shared?.views.map((saved) => (
          <ViewLine
            key={saved.name}
            saved={saved}
            note={sharedNote(saved, shared)}
            place={mayShare && onNode}
            {...close}
          />
        ))}
        {own.map((saved) => (
          <ViewLine key={`own ${saved.name}`} saved={saved} note="this browser" place={savedViews} {...close} />
        ))}
      </ul>
      <FileButtons views={[...(shared?.views ?? []), ...own]} onClose={onClose} />
    </>
  );
}

/** Who has it, and who saved it. */
function sharedNote({ changedBy }: SharedView, { sharing }: SharedViews): string {
  const who = sharing === 'node' ? `on ${session.home.id}` : 'all nodes';
  const late = sharing === 'behind' ? ', shared later' : '';
  return `${who}${late} · ${visibleText(changedBy)}`;
}

function SaveForm({ view, mayShare }: { view: LogsView; mayShare: boolean }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<'node' | 'browser' | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isShared = mayShare && chosen !== 'browser';
  const views = (isShared ? nodeViews.state.value.value?.views : savedViews.list.value) ?? [];
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const found = await (isShared ? onNode : savedViews).save(name, view);
    setProblem(found);
    if (found !== null) return;
    setName('');
    showNotice('View saved');
  };
  return (
    <form class="view-form" onSubmit={(event) => void submit(event)}>
      <label class="field">
        Save this view as
        <TextInput
          value={name}
          maxLength={MAX_VIEW_NAME_CHARACTERS}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : 'view-problem'}
          onText={(text) => {
            setName(text);
            setProblem(null);
          }}
        />
      </label>
      {mayShare && (
        <Segments
          label="Where it is saved"
          value={isShared ? 'node' : 'browser'}
          choices={[
            { value: 'node', text: 'For everyone' },
            { value: 'browser', text: 'This browser' },
          ]}
          onChange={setChosen}
        />
      )}
      <Button type="submit">{views.some((saved) => saved.name === name.trim()) ? 'Replace' : 'Save'}</Button>
      <Problem id="view-problem" text={problem} />
    </form>
  );
}

function Problem({ id, text }: { id?: string; text: string | null }) {
  return text === null ? null : (
    <p id={id} class="field-problem" role="alert">
      {text}
    </p>
  );
}

interface ViewLineProps {
  saved: SavedView;
  note: string;
  /** Where it can be changed; `false`: not by this user. */
  place: ViewPlace | false;
  onOpen: () => void;
}

function ViewLine({ saved, note, place, onOpen }: ViewLineProps) {
  const [isRenaming, setRenaming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const name = visibleText(saved.name);
  if (isRenaming && place) return <RenameForm saved={saved} place={place} onEnd={() => setRenaming(false)} />;
  const remove = async () => {
    const found = place ? await place.remove(saved.name) : null;
    setProblem(found);
    if (found === null) showNotice('View deleted');
  };
  return (
    <li class="flex view-line">
      <a href={viewUrl(openSaved(saved))} onClick={onOpen}>
        <b>{name}</b>
        <span class="dim mono cut">{visibleText(queryText(saved))}</span>
      </a>
      <span class="dim">{note}</span>
      {place && (
        <>
          <LinkButton aria-label={`Rename ${name}`} onClick={() => setRenaming(true)}>
            rename
          </LinkButton>
          <LinkButton aria-label={`Delete ${name}`} onClick={() => void remove()}>
            delete
          </LinkButton>
        </>
      )}
      <Problem text={problem} />
    </li>
  );
}

function RenameForm({ saved, place, onEnd }: { saved: SavedView; place: ViewPlace; onEnd: () => void }) {
  const [name, setName] = useState(saved.name);
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const found = await place.rename(saved.name, name);
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
      <form class="view-form" onSubmit={(event) => void submit(event)}>
        <TextInput
          inputRef={field}
          aria-label={`New name of ${visibleText(saved.name)}`}
          value={name}
          maxLength={MAX_VIEW_NAME_CHARACTERS}
          onText={setName}
          onKeyDown={press}
        />
        <Button type="submit">Rename</Button>
        <Problem text={problem} />
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

/** Views listed in the menu; the dialog has all of them. */
const MAX_LISTED = 8;

export function ViewItems({ close }: { close: () => void }) {
  useResource(nodeViews);
  const views = useStore(allViews).slice(0, MAX_LISTED);
  return (
    <>
      {views.map((saved, at) => (
        <MenuItem key={at} href={viewUrl(openSaved(saved))} onClick={close}>
          {visibleText(saved.name)}
        </MenuItem>
      ))}
      {views.length > 0 ? <hr /> : null}
    </>
  );
}
