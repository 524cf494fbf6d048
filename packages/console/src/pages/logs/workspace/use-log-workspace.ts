import { type MutableRef, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Workspace, WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import type { SeenRows } from '../../../log-view/rows/row-list.tsx';
import type { LogSource } from '../../../log-view/source/log-source.ts';
import { navigation } from '../../../state/navigation.ts';
import { Store } from '../../../state/store.ts';
import { canFollow, type LogsView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { applyView, countKey, sourceKey } from './apply-view.ts';
import { isFirstLoading, openSource, takeOpened } from './open-logs.ts';
import { toView } from './to-view.ts';

/** Delay before the URL is updated: browsers throttle URL changes. */
const ADDRESS_MS = 400;

/** How often the counts are updated while following. */
const RECOUNT_MS = 10_000;

/** Pause after a count, as a multiple of its duration. */
const RECOUNT_PAUSES = 10;

/** Bars of the chart. */
const BUCKETS = 120;

interface OpenLogs {
  workspace: Workspace;
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
  useCounts(workspace, view);
  useAddress(workspace, seen, applied);
  const change = (part: Partial<LogsView>, options: { replace?: boolean } = {}) => {
    if (!options.replace) navigation.settle();
    const next = { ...applied.current, ...part };
    navigation.go({ ...next, isLive: next.isLive && canFollow(next.range) }, options);
  };
  return { workspace, source, seen, change };
}

/** Counts when the counted view changes, and repeatedly while following, but only for a small share of the time. */
function useCounts(workspace: Workspace, view: LogsView): void {
  const key = countKey(view);
  useEffect(() => {
    let startedMs = Date.now();
    let [hasCounted, nextMs] = [false, Number.POSITIVE_INFINITY];
    const count = () => {
      startedMs = Date.now();
      [hasCounted, nextMs] = [true, Number.POSITIVE_INFINITY];
      workspace.count(BUCKETS);
    };
    const onChange = () => {
      // Rows first: counting a large log keeps the node busy.
      if (!hasCounted && !isFirstLoading(workspace)) return count();
      const isOver = hasCounted && !workspace.state.isCounting && nextMs === Number.POSITIVE_INFINITY;
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
      end();
    };
  }, [workspace, key]);
}

function useAddress(workspace: Workspace, seen: Store<SeenRows>, applied: MutableRef<LogsView>): void {
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
export function useWorkspaceState(workspace: Workspace): WorkspaceState {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    // It may have changed since rendering.
    changed();
    return workspace.subscribe(changed);
  }, [workspace]);
  return workspace.state;
}
