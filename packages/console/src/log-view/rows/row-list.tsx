import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { listen } from '../../state/listen.ts';
import { preferences } from '../../state/preferences.ts';
import type { Store } from '../../state/store.ts';
import { formatCount, formatDate, formatSpan } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import { lastOf } from '../model/fold-rows.ts';
import type { RecordRow as RecordRowState, Row, WorkspaceState } from '../model/workspace-state.ts';
import { isPart, recordKey, type ShownRecord } from '../source/log-source.ts';
import type { LogWorkspace } from '../workspace/log-workspace.ts';
import { EdgeLine, EventLine, GapLine } from './notice-rows.tsx';
import { gridRole, type PickedValues, pickedValues, RecordRow, type RowStyle } from './record-row.tsx';
import { recordTime, rowLine } from './record-text.ts';
import { useRowScroll } from './row-scroll.ts';

export const LIST_ID = 'log-rows';

/** Hides the edges: the failure is shown once, above the rows. */
const QUIET = { kind: 'more' } as const;

/** The rows currently in view. */
export interface SeenRows {
  first: ShownRecord | null;
  last: ShownRecord | null;
  pageRows: number;
}

interface RowListProps {
  workspace: LogWorkspace;
  state: WorkspaceState;
  rowStyle: RowStyle;
  seen: Store<SeenRows>;
  onOpen: (record: ShownRecord) => void;
  onPick: (picked: PickedValues) => void;
}

/** The loaded rows, of which only those in view are in the DOM. One tab stop, which names the focused row. */
export function RowList({ workspace, state, rowStyle, seen, onOpen, onPick }: RowListProps) {
  const isFolding = useStore(preferences.folds);
  useLayoutEffect(() => workspace.setFolding(isFolding), [workspace, isFolding]);
  const toggle = useMemo(
    () => (record: ShownRecord, part?: 'lines') => workspace.toggle(recordKey(record), part),
    [workspace],
  );
  const scroll = useRowScroll(workspace, state, rowStyle);
  const { tops, drawn } = scroll;
  useRowSelection(scroll.box, workspace, rowStyle.withNode);
  useReportSeen(seen, state.shown, scroll.seen);
  const rows = state.shown.slice(drawn.first, drawn.last);
  const focused = rows.find(({ key }) => key === state.focusedKey);
  const activeId = focused && rowId(focused.key);
  const isLive = state.follow.state === 'live';
  const isLoading = state.top.kind === 'loading' || state.bottom.kind === 'loading';
  const situation = {
    hasRows: state.rows.length > 0,
    isFiltered: isFiltered(state),
    isLoading,
    follow: state.follow,
    zone: rowStyle.zone,
    isPartial: isPart(state),
    heldRecords: scroll.isEnough ? state.buffer.records : null,
  };
  const pressed = useRef<string | null>(null);
  const readerMoves = () => isLive && workspace.pause();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is a grid
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page handles the keys of the list
    <div
      ref={scroll.box}
      id={LIST_ID}
      class={`rows ${state.rows.length === 0 ? 'is-empty' : ''} ${rowStyle.isWrapped ? 'is-wrapped' : ''} ${rowStyle.withNode ? 'with-node' : ''}`}
      {...gridRole({ activeId, isBusy: isLoading })}
      onScroll={scroll.onScroll}
      onWheel={(event) => event.deltaY < 0 && readerMoves()}
      onTouchMove={readerMoves}
      onPointerDown={({ target, isPrimary }) => {
        pressed.current = isPrimary && target instanceof Element ? rowKeyAt(target) : null;
        // A row that moves between pointer down and up would not be clicked.
        if (pressed.current !== null) readerMoves();
      }}
      onClick={(event) => clickRow(event, { workspace, pressedKey: pressed.current, onOpen, onPick })}
    >
      <EdgeLine
        edge={state.failure ? QUIET : state.top}
        situation={{
          ...situation,
          side: 'top',
          isBounded: state.filter.fromMs !== undefined,
          isOtherDone: state.bottom.kind === 'done',
        }}
        workspace={workspace}
      />
      <div role="presentation" class="rows-space" style={{ height: `${tops.at(-1) ?? 0}px` }}>
        <div
          ref={scroll.block}
          role="presentation"
          class="rows-block"
          style={{ transform: `translateY(${tops[drawn.first] ?? 0}px)` }}
        >
          {rows.map((row, index) => (
            <AnyRow
              key={row.key}
              row={row}
              before={state.shown[drawn.first + index - 1]}
              state={state}
              rowStyle={rowStyle}
              workspace={workspace}
              onOpen={onOpen}
              onToggle={toggle}
            />
          ))}
        </div>
      </div>
      <EdgeLine
        edge={state.failure ? QUIET : state.bottom}
        situation={{
          ...situation,
          side: 'bottom',
          isBounded: state.filter.toMs !== undefined,
          isOtherDone: state.top.kind === 'done',
        }}
        workspace={workspace}
      />
    </div>
  );
}

interface AnyRowProps {
  row: Row;
  before: Row | undefined;
  state: WorkspaceState;
  rowStyle: RowStyle;
  workspace: LogWorkspace;
  onOpen: (record: ShownRecord) => void;
  onToggle: (record: ShownRecord, part?: 'lines') => void;
}

function AnyRow({ row, before: shownBefore, state, rowStyle, workspace, onOpen, onToggle }: AnyRowProps) {
  const before = shownBefore && lastOf(shownBefore);
  if (row.kind === 'gap') return <GapLine row={row} onLoad={(key) => void workspace.loadGap(key)} />;
  if (row.kind === 'event') return <EventLine row={row} />;
  return (
    <RecordRow
      id={rowId(row.key)}
      record={row.record}
      rowStyle={rowStyle}
      isFocused={row.key === state.focusedKey}
      isContext={row.isContext === true}
      isNewDay={isNewDay(row, before, rowStyle)}
      isLate={isLate(row, before)}
      isExpanded={state.expanded.has(row.key)}
      fold={row.folded ? foldText(row.folded, state) : null}
      isOpened={row.isOpened === true}
      onOpen={onOpen}
      onToggle={onToggle}
    />
  );
}

/** `× 214 · 12 s`; with a plus if there may be more of them beyond the loaded rows. */
export function foldText(
  run: readonly RecordRowState[],
  { rows, top, bottom }: Pick<WorkspaceState, 'rows' | 'top' | 'bottom'>,
): string {
  const first = run[0];
  const last = run.at(-1);
  const isCut = (first === rows[0] && top.kind !== 'done') || (last === rows.at(-1) && bottom.kind !== 'done');
  const fromMs = first && recordTime(first.record);
  const toMs = last && recordTime(last.record);
  const spanMs = fromMs === undefined || toMs === undefined ? 0 : toMs - fromMs;
  return `× ${formatCount(run.length)}${isCut ? '+' : ''}${spanMs > 0 ? ` · ${formatSpan(spanMs)}` : ''}`;
}

interface Clicked {
  workspace: LogWorkspace;
  /** The pressed row: another one may be under the pointer when it is released. */
  pressedKey: string | null;
  onOpen: (record: ShownRecord) => void;
  onPick: (picked: PickedValues) => void;
}

/** A click on a value offers what can be done with it; elsewhere it opens the details of the row. */
function clickRow(event: MouseEvent, { workspace, pressedKey, onOpen, onPick }: Clicked): void {
  const target = event.target instanceof Element ? event.target : null;
  const key = pressedKey ?? rowKeyAt(target);
  if (key === null || target?.closest('button') || document.getSelection()?.isCollapsed === false) return;
  const row = workspace.state.shown.find((candidate) => candidate.key === key);
  if (row?.kind !== 'record') return;
  // Only if the row was not replaced by another one while the button was down.
  const picked = rowKeyAt(target) === key ? pickedValues(target, row.record) : null;
  if (picked) onPick(picked);
  else onOpen(row.record);
}

function useReportSeen(seen: Store<SeenRows>, rows: readonly Row[], { first, last }: { first: number; last: number }) {
  useLayoutEffect(() => {
    const now = seen.value;
    const next = {
      first: firstRecordFrom(rows, first, 1),
      last: firstRecordFrom(rows, last, -1),
      pageRows: last - first,
    };
    if (now.first !== next.first || now.last !== next.last || now.pageRows !== next.pageRows) seen.set(next);
  });
}

/** The nearest record to a row that may not be one. */
function firstRecordFrom(rows: readonly Row[], index: number, step: 1 | -1): ShownRecord | null {
  for (let at = index; at >= 0 && at < rows.length; at += step) {
    const row = rows[at];
    if (row?.kind === 'record') return row.record;
  }
  return null;
}

function isNewDay(row: Extract<Row, { kind: 'record' }>, before: Row | undefined, { zone }: RowStyle): boolean {
  const timeMs = recordTime(row.record);
  const beforeMs = before?.kind === 'record' ? recordTime(before.record) : undefined;
  if (timeMs === undefined || beforeMs === undefined) return false;
  return formatDate(timeMs, zone) !== formatDate(beforeMs, zone);
}

/** Nodes merge what they have; one that is slow, or whose file is behind, is shown when it comes. */
const LATE_MS = 1000;

function isLate(row: Extract<Row, { kind: 'record' }>, before: Row | undefined): boolean {
  const timeMs = recordTime(row.record);
  const beforeMs = before?.kind === 'record' ? recordTime(before.record) : undefined;
  return timeMs !== undefined && beforeMs !== undefined && beforeMs - timeMs > LATE_MS;
}

/** Beside a time range. */
function isFiltered({ filter: { fromMs, toMs, ...filter } }: WorkspaceState): boolean {
  return Object.values(filter).some((value) => value !== undefined && !(Array.isArray(value) && value.length === 0));
}

const ROW_ID = 'row-';

/** From the row where the selection began to the current one, in either order. */
interface RowSelection {
  fromKey: string;
  toKey: string;
}

/** Element ids have no spaces; keys have no `~`. */
function rowId(key: string): string {
  return ROW_ID + key.replaceAll(' ', '~');
}

/** The row that contains a DOM node. */
function rowKeyAt(node: Node | null): string | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest(`[id^="${ROW_ID}"]`);
  return row ? row.id.slice(ROW_ID.length).replaceAll('~', ' ') : null;
}

/** Selecting text pauses following; copied text comes from the records, also for rows no longer rendered. */
function useRowSelection(box: RefObject<HTMLElement>, workspace: LogWorkspace, withNode: boolean): void {
  const range = useRef<RowSelection | null>(null);
  /** The row of the pointer down: if it was scrolled away, the browser's selection starts elsewhere. */
  const began = useRef<string | null>(null);
  useEffect(() => {
    const list = box.current;
    let isDragging = false;
    const changed = () => {
      const selection = document.getSelection();
      if (!selection || selection.isCollapsed || !box.current?.contains(selection.anchorNode)) {
        if (!isDragging) range.current = null;
        return;
      }
      if (workspace.state.follow.state === 'live') workspace.pause();
      // A row that was scrolled away is not in the DOM, but its key is known.
      const fromKey = began.current ?? rowKeyAt(selection.anchorNode) ?? range.current?.fromKey;
      const toKey = rowKeyAt(selection.focusNode) ?? range.current?.toKey;
      range.current = fromKey && toKey ? { fromKey, toKey } : null;
    };
    const copy = (event: ClipboardEvent) => {
      const text = range.current && selectedText(workspace.state.shown, range.current, { withNode });
      if (!text) return;
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    const ends = [
      listen<PointerEvent>(list, 'pointerdown', ({ target, shiftKey }) => {
        isDragging = true;
        // Shift extends the previous selection.
        if (!shiftKey) began.current = target instanceof Node ? rowKeyAt(target) : null;
      }),
      listen(document, 'pointerup pointercancel', () => {
        isDragging = false;
      }),
      listen(document, 'keydown', () => {
        began.current = null;
      }),
      listen(document, 'selectionchange', changed),
      listen(document, 'copy', copy),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [box, workspace, withNode]);
}

/** The selected rows as text, also what is folded, built from the records, not from the DOM; `null` for fewer than two. */
export function selectedText(
  rows: readonly Row[],
  { fromKey, toKey }: RowSelection,
  options: { withNode: boolean },
): string | null {
  const from = rows.findIndex(({ key }) => key === fromKey);
  const to = rows.findIndex(({ key }) => key === toKey);
  if (from < 0 || to < 0 || from === to) return null;
  return rows
    .slice(Math.min(from, to), Math.max(from, to) + 1)
    .flatMap((row): readonly Row[] => (row.kind === 'record' && row.folded && !row.isOpened ? row.folded : [row]))
    .map((row) => rowLine(row, options))
    .join('\n');
}
