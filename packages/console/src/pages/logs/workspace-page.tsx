import { useMemo, useRef, useState } from 'preact/hooks';
import { HistogramChart } from '../../log-view/chart/histogram-chart.tsx';
import { OverviewGutter } from '../../log-view/chart/overview-gutter.tsx';
import type { WorkspaceState } from '../../log-view/model/workspace-state.ts';
import type { PickedValues } from '../../log-view/rows/record-row.tsx';
import { LIST_ID, RowFrame, RowList } from '../../log-view/rows/row-list.tsx';
import { type HistogramResult, type LogSource, recordKey } from '../../log-view/source/log-source.ts';
import { preferences } from '../../state/preferences.ts';
import { cluster } from '../../state/resource.ts';
import { canFollow, type LogsView, resolveRange, type TimeRange } from '../../state/view.ts';
import { formatFieldNames, viewUrl } from '../../state/view-url.ts';
import { useStore } from '../../ui/hooks.ts';
import { DetailsDrawer } from './details.tsx';
import { ValueMenu } from './field-actions.tsx';
import { FieldPanel } from './field-panel.tsx';
import { FindBar } from './find-bar.tsx';
import { focusedRecord, useLogKeys } from './log-commands.ts';
import { SourceBar } from './source-bar.tsx';
import { DegradedNote, LiveSummary, SkippedFilesNote, StatusBar, WorkspaceFailure } from './status.tsx';
import { GoToTime } from './go-to-time.tsx';
import { useLogWorkspace, useWorkspaceState } from './use-log-workspace.ts';
import { loadedMatches, useMatcher, useRowMatcher } from './use-matcher.ts';
import { viewActions } from './view-actions.ts';

type ChartProps = Pick<Parameters<typeof HistogramChart>[0], 'zone' | 'onGo'> & {
  state: WorkspaceState;
  range: TimeRange | null;
  histogram: HistogramResult | null;
  change: (change: Partial<LogsView>) => void;
};

/** The log workspace. */
export function WorkspacePage({ view }: { view: LogsView }) {
  const { workspace, source, seen, change } = useLogWorkspace(view);
  const state = useWorkspaceState(workspace);
  const zone = useStore(preferences.zone);
  const nodeIds = useStore(cluster.state).value?.nodes.map(({ id }) => id) ?? [];
  const hasSeveral = isSeveral(view, source.nodes, nodeIds.length);
  const histogram = useLastCounts(state, source);
  const matcher = useMatcher(state.find.query);
  const rowMatcher = useRowMatcher(matcher, view);
  const rowStyle = useMemo(
    () => ({
      ...{ zone, isWrapped: view.isWrapped, withNode: hasSeveral, matcher: rowMatcher },
      ...{ columns: view.columns, colours: nodeIds.join() },
    }),
    [zone, view.isWrapped, hasSeveral, rowMatcher, formatFieldNames(view.columns), nodeIds.join()],
  );
  const field = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isAskingTime, setAskingTime] = useState(false);
  const [picked, setPicked] = useState<PickedValues | null>(null);
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
  // Removes the end of the time range: no new record could fall into it.
  const follow = () => {
    if (canFollow(view.range)) workspace.resume();
    else change({ range: openEnd(view.range), at: null, timeMs: null, isLive: true });
  };
  const goTo = (timeMs: number) => change({ timeMs, at: null, isLive: false });
  const deps = {
    ...{ workspace, view, field, change, openDetails, closeDetails },
    pageRows: () => seen.value.pageRows,
    openGoToTime: () => setAskingTime(true),
    copyLine: actions.copyLine,
    copyLink: actions.copyLink,
    follow,
  };
  const latest = useRef(deps);
  latest.current = deps;
  useLogKeys(() => latest.current);
  const open = useMemo(
    () => (shown: { node: string; cursor: string }) => {
      workspace.focus(recordKey(shown));
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
      <FindBar
        {...{ view, workspace, source, field, change, histogram }}
        find={state.find}
        rows={state.rows}
        onLeave={focusList}
      />
      {view.hasHistogram ? (
        <ChartPanel state={state} range={view.range} histogram={histogram} zone={zone} onGo={goTo} change={change} />
      ) : null}
      <SkippedFilesNote problems={state.problems} />
      <div class="workspace-body">
        <WorkspaceFailure failure={state.failure} onRetry={() => workspace.retry()} />
        {view.hasFields ? (
          <FieldPanel {...{ view, source, zone, change }} onClose={() => change({ hasFields: false })} />
        ) : null}
        <RowFrame columns={view.columns} withNode={hasSeveral} onChange={(columns) => change({ columns })}>
          <RowList {...{ workspace, state, rowStyle, seen }} onOpen={open} onPick={setPicked} />
        </RowFrame>
        <OverviewGutter {...{ source, state, seen, matches, zone }} onGo={(fraction) => workspace.jump({ fraction })} />
        {record ? (
          <DetailsDrawer
            {...{ record, view, zone, change }}
            onClose={closeDetails}
            onCopyLine={() => actions.copyLine(record)}
            onCopyLink={actions.copyLink}
            onDownload={() => actions.downloadAround(record)}
          />
        ) : null}
      </div>
      <StatusBar {...{ state, source, seen, zone }} onRetry={() => workspace.retry()} />
      <LiveSummary workspace={workspace} />
      {picked ? (
        <ValueMenu
          {...{ picked, view, change }}
          onLeave={() => setPicked(null)}
          onClose={() => {
            setPicked(null);
            focusList();
          }}
        />
      ) : null}
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

/** The last counts of the same logs until new ones arrive, to avoid flicker. */
function useLastCounts({ histogram, countFailure }: WorkspaceState, source: LogSource): HistogramResult | null {
  const last = useRef({ histogram, source });
  if (histogram || countFailure !== null || last.current.source !== source) last.current = { histogram, source };
  return last.current.histogram;
}

function openEnd(range: TimeRange | null): TimeRange | null {
  return range?.kind === 'fixed' && range.fromMs !== null ? { ...range, toMs: null } : null;
}

/** Whether rows show their node. */
function isSeveral(view: LogsView, nodes: readonly string[], members: number): boolean {
  return nodes.length === 0 || view.sources.length === 0 ? members > 1 : nodes.length > 1;
}

/** The chart, or why there is none. */
function ChartPanel({ state, range, histogram, zone, onGo, change }: ChartProps) {
  // A relative range moves with every count.
  const requested = useMemo(() => (histogram ? resolveRange(range, Date.now()) : {}), [range, histogram]);
  const { isCounting, countFailure } = state;
  if (!histogram)
    return <p class="chart-empty">{isCounting ? 'Counting…' : countFailure ? `Not counted: ${countFailure}` : ''}</p>;
  return (
    <HistogramChart
      {...{ histogram, requested, zone, onGo }}
      log={state.extent}
      minLevel={state.filter.minLevel ?? null}
      isCounting={state.isCounting}
      onZoom={(span) => change({ range: { kind: 'fixed', ...span }, at: null, timeMs: null, isLive: false })}
    />
  );
}
