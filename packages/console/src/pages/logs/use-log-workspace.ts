import { type MutableRef, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FindQuery, Row, WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { recordTime } from '../../log-view/rows/record-text.ts';
import type { SeenRows } from '../../log-view/rows/row-list.tsx';
import type { LogSource, PagePosition, ShownRecord } from '../../log-view/source/log-source.ts';
import { openSource, toFilter } from '../../log-view/source/view-source.ts';
import { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { navigation } from '../../state/navigation.ts';
import { Store } from '../../state/store.ts';
import { canFollow } from '../../state/time-range.ts';
import type { LogsView, RecordKey, View } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';

/** Delay before the URL is updated: browsers throttle URL changes. */
const ADDRESS_MS = 400;

/** How often the counts are updated while following. */
const RECOUNT_MS = 10_000;

/** Pause after a count, as a multiple of its duration. */
const RECOUNT_PAUSES = 10;

/** Until rows that have come are drawn. */
const DRAWN_MS = 50;

/** Counts that were stopped for other rows begin again after this time: who looks around goes on to the next place. */
const STOPPED_MS = 400;

export const BUCKETS = 120;

interface OpenLogs {
  workspace: LogWorkspace;
  source: LogSource;
  seen: Store<SeenRows>;
  /** Changes the URL, and so what is shown. */
  change: (change: Partial<LogsView>, options?: { replace?: boolean }) => void;
}

/** The workspace of the page: follows the URL, and keeps the URL up to date with what is shown. */
export function useLogWorkspace(view: LogsView): OpenLogs {
  const [opened] = useState(() => takeOpened(view));
  const [seen] = useState(() => new Store<SeenRows>({ first: null, last: null, pageRows: 20 }));
  const { workspace } = opened;
  const applied = useRef(view);
  const sources = sourceKey(view);
  const source = useMemo(() => (view === opened.view ? opened.source : openSource(view)), [sources]);
  useEffect(() => () => workspace.close(), [workspace]);
  useLayoutEffect(() => {
    if (applied.current === view) return;
    applyView({ workspace, source, nowMs: Date.now() }, applied.current, view);
    applied.current = view;
  }, [workspace, source, view]);
  useRowsFirst(workspace);
  useCounts(workspace, view);
  useAddress(workspace, seen, applied);
  const change = (part: Partial<LogsView>, options: { replace?: boolean } = {}) => {
    if (!options.replace) navigation.settle();
    const next = { ...applied.current, ...part };
    const shown = { ...next, isLive: next.isLive && canFollow(next.range) };
    const before = applied.current;
    navigation.go(shown, options);
    // Rows are requested before anything is drawn. Another source is opened by the render that knows it.
    if (sourceKey(before) !== sourceKey(shown)) return;
    applied.current = shown;
    applyView({ workspace, source, nowMs: Date.now() }, before, shown);
  };
  return { workspace, source, seen, change };
}

/** Whether rows at another place are awaited: the node has few cores and the browser few connections, so counts give way. */
export const rowsAwaited = new Store(false);

/** Why there are no rows, which the page says once. */
export const rowsFailure = new Store<string | null>(null);

function useRowsFirst(workspace: LogWorkspace): void {
  useLayoutEffect(() => {
    const take = () => {
      rowsAwaited.set(workspace.state.isShowing);
      rowsFailure.set(workspace.state.failure?.detail ?? null);
    };
    take();
    const end = workspace.subscribe(take);
    return () => {
      end();
      rowsAwaited.set(false);
      rowsFailure.set(null);
    };
  }, [workspace]);
}

/** Counts when the counted view changes, and repeatedly while following, but only for a small share of the time. */
function useCounts(workspace: LogWorkspace, view: LogsView): void {
  const key = countKey(view);
  useEffect(() => {
    let startedMs = Date.now();
    let hasCounted = false;
    let nextMs = Number.POSITIVE_INFINITY;
    let planned: ReturnType<typeof setTimeout> | undefined;
    let pauseMs = DRAWN_MS;
    const count = () => {
      startedMs = Date.now();
      hasCounted = true;
      nextMs = Number.POSITIVE_INFINITY;
      void workspace.count(BUCKETS);
    };
    const onChange = () => {
      const { isShowing, isCounting } = workspace.state;
      // Rows first: counting a large log keeps the node busy.
      if (isShowing) {
        clearTimeout(planned);
        planned = undefined;
        if (isCounting) {
          hasCounted = false;
          pauseMs = STOPPED_MS;
        }
        workspace.stopCounting();
      } else if (!hasCounted && !isFirstLoading(workspace)) planned ??= setTimeout(count, pauseMs);
      const isOver = hasCounted && !isCounting && nextMs === Number.POSITIVE_INFINITY;
      if (isOver) nextMs = Date.now() + Math.max(RECOUNT_MS, RECOUNT_PAUSES * (Date.now() - startedMs));
    };
    const end = workspace.subscribe(onChange);
    onChange();
    const timer = setInterval(() => {
      const isNeeded = workspace.state.follow.state === 'live' && document.visibilityState === 'visible';
      if (isNeeded && Date.now() >= nextMs) count();
    }, 1000);
    return () => {
      clearInterval(timer);
      clearTimeout(planned);
      end();
    };
  }, [workspace, key]);
}

function useAddress(workspace: LogWorkspace, seen: Store<SeenRows>, applied: MutableRef<LogsView>): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      timer = undefined;
      const view = applied.current;
      const { rows, top, bottom } = workspace.state;
      // Wait for loading to end: what is shown until then is not what was requested.
      const isLoading = top.kind === 'loading' || bottom.kind === 'loading';
      if (navigation.view.value.page !== 'logs' || rows.length === 0 || isLoading) return;
      const next = toView(view, workspace.state, seen.value);
      if (viewUrl(next) === viewUrl(view)) return;
      // Already shown: nothing to do.
      applied.current = next;
      navigation.go(next, { replace: true });
    };
    const plan = () => {
      timer ??= setTimeout(write, ADDRESS_MS);
    };
    const flush = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      write();
    };
    const ends = [workspace.subscribe(plan), seen.subscribe(plan), navigation.onLeave(flush)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [workspace, seen, applied]);
}

/** The state of a workspace; renders again on every change. */
export function useWorkspaceState(workspace: LogWorkspace): WorkspaceState {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    // It may have changed since rendering.
    changed();
    return workspace.subscribe(changed);
  }, [workspace]);
  return workspace.state;
}

/* Applies the URL to the workspace. */

export function toFindQuery({ text, isRegex, isCaseSensitive }: LogsView): FindQuery | null {
  return text === '' ? null : { text, isRegex, isCaseSensitive };
}

export function toStart({ at, timeMs }: LogsView): PagePosition {
  if (at) return { at };
  return timeMs === null ? 'end' : { timeMs };
}

/** Makes the workspace show a view, with as few operations as possible. `before`: the view it shows now. */
export function applyView(
  { workspace, source, nowMs }: { workspace: LogWorkspace; source: LogSource; nowMs: number },
  before: LogsView | null,
  view: LogsView,
): void {
  if (!before || sourceKey(before) !== sourceKey(view)) {
    const { isLive } = view;
    workspace.open({ source, filter: toFilter(view, nowMs), find: toFindQuery(view), start: toStart(view), isLive });
    return;
  }
  if (!view.isLive && before.isLive && workspace.state.follow.state === 'live') workspace.pause();
  const isElsewhere = !isSame(before.at, view.at) || before.timeMs !== view.timeMs;
  const position = isElsewhere && (view.at || view.timeMs !== null) ? toStart(view) : undefined;
  // In one call: the rows of the old filter may contain the record and are about to be replaced.
  if (!isSame(toFilter(before, 0), toFilter(view, 0))) workspace.setFilter(toFilter(view, nowMs), position);
  else if (position !== undefined) workspace.jump(position);
  if (!isSame(toFindQuery(before), toFindQuery(view))) workspace.setFind(toFindQuery(view));
  if (view.isLive && !before.isLive) workspace.resume();
}

/** Whether a view needs new counts. */
export function countKey(view: LogsView): string {
  return JSON.stringify([sourceKey(view), toFilter(view, 0)]);
}

/** Whether a view needs another source. */
export function sourceKey({ sources, labels }: LogsView): string {
  return JSON.stringify([sources, labels]);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The URL of what is shown now, for sharing. */
export function toView(
  view: LogsView,
  { rows, focusedKey, follow }: Pick<WorkspaceState, 'rows' | 'focusedKey' | 'follow'>,
  seen: { first: ShownRecord | null; last: ShownRecord | null },
): LogsView {
  if (follow.state === 'live' || follow.state === 'reconnecting')
    return { ...view, isLive: true, at: null, timeMs: null };
  const still = { ...view, isLive: false };
  const focused = seenFocus(rows, focusedKey, seen);
  if (focused) return { ...still, at: toRecordKey(focused), timeMs: null };
  if (!seen.first) return still;
  const timeMs = recordTime(seen.first);
  // A record without a timestamp is identified by itself.
  return timeMs === undefined
    ? { ...still, at: toRecordKey(seen.first), timeMs: null }
    : { ...still, at: null, timeMs };
}

export function toRecordKey({ node, cursor }: ShownRecord): RecordKey {
  return { node, cursor };
}

/** The focused record, unless it was scrolled out of view. */
function seenFocus(
  rows: readonly Row[],
  focusedKey: string | null,
  { first, last }: { first: ShownRecord | null; last: ShownRecord | null },
): ShownRecord | undefined {
  const index = focusedKey === null ? -1 : rows.findIndex(({ key }) => key === focusedKey);
  const row = rows[index];
  if (row?.kind !== 'record') return undefined;
  const indexIn = (record: ShownRecord | null) =>
    rows.findIndex((candidate) => candidate.kind === 'record' && candidate.record === record);
  return index >= indexIn(first) && (last === null || index <= indexIn(last)) ? row.record : undefined;
}

interface OpenedLogs {
  view: LogsView;
  source: LogSource;
  workspace: LogWorkspace;
}

/** A workspace that was opened before the page was rendered. */
let early: OpenedLogs | undefined;

/** The first render waits this long for rows: less than a user notices. */
const EARLY_MS = 100;

/**
 * Opens logs before the page is rendered. Resolves when they respond, or after a short wait: rendering once with rows
 * is faster than rendering twice.
 */
export async function openEarly(view: View): Promise<void> {
  if (view.page !== 'logs' || view.isPlain) return;
  early = openLogs(view);
  const { workspace } = early;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, EARLY_MS);
    const end = workspace.subscribe(() => {
      if (isFirstLoading(workspace)) return;
      clearTimeout(timer);
      end();
      resolve();
    });
  });
}

/** A workspace for the view; the one opened early if it matches. */
function takeOpened(view: LogsView): OpenedLogs {
  const opened = early?.view === view ? early : openLogs(view);
  early = undefined;
  return opened;
}

/** Nothing has been loaded yet. */
function isFirstLoading({ state }: LogWorkspace): boolean {
  return state.rows.length === 0 && (state.top.kind === 'loading' || state.bottom.kind === 'loading');
}

function openLogs(view: LogsView): OpenedLogs {
  const opened = { view, source: openSource(view), workspace: new LogWorkspace() };
  applyView({ ...opened, nowMs: Date.now() }, null, view);
  return opened;
}
