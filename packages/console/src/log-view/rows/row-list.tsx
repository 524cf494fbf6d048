import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Store } from '../../state/store.ts';
import { formatDate } from '../../ui/format.ts';
import { isPart } from '../model/reports.ts';
import type { Row, Workspace, WorkspaceState } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';
import { gridRole } from './grid-roles.ts';
import { EdgeLine, EventLine, GapLine } from './notice-rows.tsx';
import { RecordRow, type RowStyle } from './record-row.tsx';
import { recordTime } from './record-text.ts';
import { type PickedValues, pickedValues } from './row-values.ts';
import { useRowScroll } from './use-row-scroll.ts';
import { rowId, rowKeyAt, useRowSelection } from './use-row-selection.ts';

export const LIST_ID = 'log-rows';

/** Hides the edges: the failure is shown once, above the rows. */
const QUIET = { kind: 'more' } as const;

/** The rows currently in view. */
export interface SeenRows {
  first: ShownRecord | null;
  last: ShownRecord | null;
  /** Rows that fit into the view. */
  pageRows: number;
}

export interface RowListProps {
  workspace: Workspace;
  state: WorkspaceState;
  rowStyle: RowStyle;
  seen: Store<SeenRows>;
  onOpen: (record: ShownRecord) => void;
  /** A value in a row was clicked. */
  onPick: (picked: PickedValues) => void;
}

/** The loaded rows, of which only those in view are in the DOM. One tab stop, which names the focused row. */
export function RowList({ workspace, state, rowStyle, seen, onOpen, onPick }: RowListProps) {
  const scroll = useRowScroll(workspace, state, rowStyle);
  const { tops, drawn } = scroll;
  useRowSelection(scroll.box, workspace, rowStyle.withNode);
  useReportSeen(seen, state.rows, scroll.seen);
  const rows = state.rows.slice(drawn.first, drawn.last);
  const focused = rows.find(({ key }) => key === state.focusedKey);
  const activeId = focused && rowId(focused.key);
  const isLive = state.follow.state === 'live';
  const isLoading = state.top.kind === 'loading' || state.bottom.kind === 'loading';
  const situation = {
    ...{ hasRows: state.rows.length > 0, isFiltered: isFiltered(state), isLoading },
    ...{ follow: state.follow, zone: rowStyle.zone },
    isPartial: isPart(state),
  };
  const pressed = useRef<string | null>(null);
  const readerMoves = () => isLive && workspace.pause();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is a grid
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page handles the keys of the list
    <div
      ref={scroll.box}
      id={LIST_ID}
      class={`rows ${rowStyle.isWrapped ? 'is-wrapped' : ''} ${rowStyle.withNode ? 'with-node' : ''}`}
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
          ...{ ...situation, side: 'top', isBounded: state.filter.fromMs !== undefined },
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
              before={state.rows[drawn.first + index - 1]}
              rowStyle={rowStyle}
              isFocused={row.key === state.focusedKey}
              workspace={workspace}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
      <EdgeLine
        edge={state.failure ? QUIET : state.bottom}
        situation={{
          ...{ ...situation, side: 'bottom', isBounded: state.filter.toMs !== undefined },
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
  rowStyle: RowStyle;
  isFocused: boolean;
  workspace: Workspace;
  onOpen: (record: ShownRecord) => void;
}

function AnyRow({ row, before, rowStyle, isFocused, workspace, onOpen }: AnyRowProps) {
  if (row.kind === 'gap') return <GapLine row={row} onLoad={(key) => workspace.loadGap(key)} />;
  if (row.kind === 'event') return <EventLine row={row} />;
  return (
    <RecordRow
      id={rowId(row.key)}
      record={row.record}
      rowStyle={rowStyle}
      isFocused={isFocused}
      isContext={row.isContext === true}
      isNewDay={isNewDay(row, before, rowStyle)}
      onOpen={onOpen}
    />
  );
}

interface Clicked {
  workspace: Workspace;
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
  const row = workspace.state.rows.find((candidate) => candidate.key === key);
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

function isFiltered({ filter }: WorkspaceState): boolean {
  return Object.values(filter).some((value) => value !== undefined && !(Array.isArray(value) && value.length === 0));
}
