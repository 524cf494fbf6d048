import { useMemo, useRef, useState } from 'preact/hooks';
import type { HistogramAnswer, LogSource } from '../../log-view/log-source.ts';
import { OverviewGutter } from '../../log-view/overview-gutter.tsx';
import { LIST_ID, RowList } from '../../log-view/row-list.tsx';
import { useWorkspaceState } from '../../log-view/use-workspace-state.ts';
import type { WorkspaceState } from '../../log-view/workspace-state.ts';
import { cluster } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import { canFollow, type LogsView, type TimeRange } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { useStore } from '../../ui/use-store.ts';
import { ChartPanel } from './chart-panel.tsx';
import { DegradedNote } from './degraded-note.tsx';
import { DetailsDrawer } from './details-drawer.tsx';
import { FindBar } from './find-bar.tsx';
import { GoToTime } from './go-to-time.tsx';
import { LeftOutNote } from './left-out-note.tsx';
import { LiveSummary } from './live-summary.tsx';
import { loadedMatches } from './loaded-matches.ts';
import { focusedRecord } from './run-command.ts';
import { SourceBar } from './source-bar.tsx';
import { StatusBar } from './status-bar.tsx';
import { useLogKeys } from './use-log-keys.ts';
import { useLogWorkspace } from './use-log-workspace.ts';
import { useMatcher } from './use-matcher.ts';
import { viewActions } from './view-actions.ts';
import { WorkspaceFailure } from './workspace-failure.tsx';

/** The log workspace. */
export function WorkspacePage({ view }: { view: LogsView }) {
  const { workspace, source, seen, change } = useLogWorkspace(view);
  const state = useWorkspaceState(workspace);
  const zone = useStore(preferences.zone);
  const nodeIds = useStore(cluster.state).value?.nodes.map(({ id }) => id) ?? [];
  const hasSeveral = isSeveral(view, source.nodes, nodeIds.length);
  const histogram = useKeptCounts(state, source);
  const matcher = useMatcher(state.find.query);
  const look = useMemo(
    () => ({ zone, isWrapped: view.isWrapped, withNode: hasSeveral, matcher, colours: nodeIds.join() }),
    [zone, view.isWrapped, hasSeveral, matcher, nodeIds.join()],
  );
  const field = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isAskingTime, setAskingTime] = useState(false);
  const actions = viewActions({ view, workspace, withNode: hasSeveral });
  const record = isOpen ? focusedRecord(workspace) : null;
  const isLive = state.follow.state === 'live';

  const focusList = () => document.getElementById(LIST_ID)?.focus({ preventScroll: true });
  const openDetails = () => {
    if (isLive) workspace.pause();
    setOpen(true);
  };
  const closeDetails = () => {
    if (isOpen) focusList();
    setOpen(false);
    return isOpen;
  };
  // A time range that has an end is opened: nothing new would fall into it.
  const follow = () => {
    if (canFollow(view.range)) workspace.resume();
    else change({ range: openEnd(view.range), at: null, timeMs: null, isLive: true });
  };
  const goTo = (timeMs: number) => change({ timeMs, at: null, isLive: false });
  const parts = {
    ...{ workspace, view, field, change, openDetails, closeDetails },
    pageRows: () => seen.value.pageRows,
    openGoToTime: () => setAskingTime(true),
    copyLine: actions.copyLine,
    copyLink: actions.copyLink,
    follow,
  };
  const latest = useRef(parts);
  latest.current = parts;
  useLogKeys(() => latest.current);
  const open = useMemo(
    () => (shown: { node: string; cursor: string }) => {
      workspace.focus(workspace.keyOf(shown));
      latest.current.openDetails();
    },
    [workspace],
  );
  const matches = useMemo(
    () => (isLive ? [] : loadedMatches(state.rows, matcher, { source, extent: state.extent })),
    [isLive, state.rows, matcher, source, state.extent],
  );
  return (
    <div class="workspace">
      <h1 class="sr-only">Logs</h1>
      <SourceBar
        {...{ view, zone, workspace, change }}
        follow={state.follow}
        onFollow={follow}
        actions={{
          onCopyCli: actions.copyCli,
          onCopyLink: actions.copyLink,
          onDownload: actions.download,
          plainUrl: viewUrl({ ...view, isPlain: true, isLive: false }),
        }}
      />
      <DegradedNote sources={view.sources} />
      <FindBar {...{ view, workspace, field, change }} find={state.find} histogram={histogram} onLeave={focusList} />
      {view.hasHistogram ? (
        <ChartPanel state={state} range={view.range} histogram={histogram} zone={zone} onGo={goTo} change={change} />
      ) : null}
      <LeftOutNote problems={state.problems} />
      <div class="workspace-body">
        <WorkspaceFailure failure={state.failure} onRetry={() => workspace.retry()} />
        <RowList {...{ workspace, state, look, seen }} onOpen={open} />
        <OverviewGutter {...{ source, state, seen, matches, zone }} onGo={(fraction) => workspace.jump({ fraction })} />
        {record ? (
          <DetailsDrawer
            {...{ record, view, zone }}
            onClose={closeDetails}
            onCopyLine={() => actions.copyLine(record)}
            onCopyLink={actions.copyLink}
            onDownload={() => actions.downloadAround(record)}
          />
        ) : null}
      </div>
      <StatusBar {...{ state, source, seen, zone }} onRetry={() => workspace.retry()} />
      <LiveSummary workspace={workspace} />
      <GoToTime
        isOpen={isAskingTime}
        zone={zone}
        onClose={() => setAskingTime(false)}
        onGo={(timeMs) => {
          setAskingTime(false);
          goTo(timeMs);
          focusList();
        }}
      />
    </div>
  );
}

/** The last counts of the same logs, until new ones are there: nothing flickers. */
function useKeptCounts({ histogram, countFailure }: WorkspaceState, source: LogSource): HistogramAnswer | null {
  const kept = useRef({ histogram, source });
  if (histogram || countFailure !== null || kept.current.source !== source) kept.current = { histogram, source };
  return kept.current.histogram;
}

function openEnd(range: TimeRange | null): TimeRange | null {
  return range?.kind === 'fixed' && range.fromMs !== null ? { ...range, toMs: null } : null;
}

/** Whether records must say who wrote them. */
function isSeveral(view: LogsView, nodes: readonly string[], members: number): boolean {
  return nodes.length === 0 || view.sources.length === 0 ? members > 1 : nodes.length > 1;
}
