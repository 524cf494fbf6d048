import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FollowStatus, WorkspaceState } from '../../log-view/model/workspace-state.ts';
import type { ColumnHeadsProps } from '../../log-view/rows/column-heads.tsx';
import type { PickedValues } from '../../log-view/rows/record-row.tsx';
import { LIST_ID, RowList } from '../../log-view/rows/row-list.tsx';
import { type HistogramResult, type LogSource, positionAt, recordKey } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { barButton } from '../../shell/bar.tsx';
import { formatFieldNames } from '../../state/field-names.ts';
import { showNotice } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { queryNode } from '../../state/query-view.ts';
import { cluster } from '../../state/resource.ts';
import { canFollow, type TimeRange } from '../../state/time-range.ts';
import { toProblem } from '../../state/to-problem.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Sheet } from '../../ui/dialog.tsx';
import { formatCount, formatCounted } from '../../ui/format.ts';
import { useMedia, useStore } from '../../ui/hooks.ts';
import { lazy } from '../../ui/lazy.tsx';
import { CoverageLine, LiveSummary, rateText, WorkspaceFailure } from './coverage-line.tsx';
import { focusedRecord, useLogKeys } from './log-commands.ts';
import { Conditions, QueryBar } from './query-bar.tsx';
import { useLogWorkspace, useWorkspaceState } from './use-log-workspace.ts';
import { loadedMatches, useRowMatcher } from './use-matcher.ts';
import type { ViewAction } from './view-actions.ts';

export { openEarly } from './use-log-workspace.ts';

/** Narrower, facets and details lie over the rows instead of beside them. */
const NARROW = '(max-width: 1100px)';

/** Rows that are looked at to see whether they are of several logs. */
const LOOKED_AT = 200;

const ChartPanel = lazy(async () => (await import('./around-rows.ts')).ChartPanel, <p class="dim line chart-empty" />);
const SplitMenu = lazy(async () => (await import('./around-rows.ts')).SplitMenu);
const OverviewGutter = lazy(
  async () => (await import('./around-rows.ts')).OverviewGutter,
  <div class="fixed gutter" />,
);
const ColumnHeads = lazy(async () => (await import('./around-rows.ts')).ColumnHeads, <div class="row row-heads" />);
const FindTools = lazy(async () => (await import('./around-rows.ts')).FindTools);
const EmptyActions = lazy(async () => (await import('./around-rows.ts')).EmptyActions);
const Facets = lazy(async () => (await import('./around-rows.ts')).Facets);
const ValueMenu = lazy(async () => (await import('./around-rows.ts')).ValueMenu);
const Details = lazy(async () => (await import('./opened-later.ts')).Details);
const GoToTime = lazy(async () => (await import('./opened-later.ts')).GoToTime);
const PlainPage = lazy(async () => (await import('./opened-later.ts')).PlainPage);

export function LogsPage({ view }: { view: LogsView }) {
  return view.isPlain ? <PlainPage view={view} /> : <WorkspacePage view={view} />;
}

function WorkspacePage({ view }: { view: LogsView }) {
  const { workspace, source, seen, change } = useLogWorkspace(view);
  const state = useWorkspaceState(workspace);
  const zone = useStore(preferences.zone);
  const nodeIds = useStore(cluster.state).value?.nodes.map(({ id }) => id) ?? [];
  const hasSeveral = isSeveral(view, source.nodes, nodeIds.length);
  const histogram = useLastCounts(state, source);
  const { matcher } = state.find;
  const rowMatcher = useRowMatcher(matcher, view);
  const withLog = useSeveralLogs(state, source);
  const rowStyle = useMemo(
    () => ({
      zone,
      isWrapped: view.isWrapped,
      withNode: hasSeveral,
      withLog,
      matcher: rowMatcher,
      columns: view.columns,
      colours: nodeIds.join(),
    }),
    [zone, view.isWrapped, hasSeveral, withLog, rowMatcher, formatFieldNames(view.columns), nodeIds.join()],
  );
  const isNarrow = useMedia(NARROW);
  const field = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isAskingTime, setAskingTime] = useState(false);
  const [hasSheet, setSheet] = useState(false);
  const [picked, setPicked] = useState<PickedValues | null>(null);
  // What was opened once stays: a dialog gives the focus back when it is closed, not when it is gone.
  const wasAskingTime = useRef(false);
  wasAskingTime.current ||= isAskingTime;
  /** Its script is loaded when something is copied or downloaded. */
  const act = async (action: ViewAction) => {
    try {
      const { runViewAction } = await import('./opened-later.ts');
      await runViewAction(action, { view, workspace, withNode: hasSeveral });
    } catch (thrown) {
      showNotice(toProblem(thrown).detail);
    }
  };
  const record = isOpen ? focusedRecord(workspace) : null;
  const isLive = state.follow.state === 'live';
  // The box says what is wrong, once; nothing can be counted until it is corrected.
  const isInvalid = view.query !== '' && queryNode(view.query) === undefined;

  const isEmpty = state.rows.length === 0 && state.top.kind === 'done' && state.bottom.kind === 'done';
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
  useLiveButton(isInvalid ? null : state.follow, { workspace, isClosed: !canFollow(view.range), onFollow: follow });
  const goTo = (timeMs: number) => change({ timeMs, at: null, isLive: false });
  const toggleFacets = () => (isNarrow ? setSheet(!hasSheet) : change({ hasFields: !view.hasFields }));
  const deps = {
    workspace,
    view,
    field,
    change,
    openDetails,
    closeDetails,
    pageRows: () => seen.value.pageRows,
    openGoToTime: () => setAskingTime(true),
    toggleFacets,
    act,
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
    () => (isLive ? [] : loadedMatches(state.rows, matcher, state.extent)),
    [isLive, state.rows, matcher, state.extent],
  );
  const facets = <Facets {...{ view, source, histogram, zone, change }} />;
  const details = record ? (
    <Details {...{ record, view, source, zone, change }} onClose={closeDetails} act={act} />
  ) : null;
  return (
    <div class="workspace">
      <h1 class="sr-only">Logs</h1>
      <QueryBar
        {...{ view, workspace, source, field, act, change }}
        find={state.find}
        rows={state.rows}
        plainUrl={viewUrl({ ...view, isPlain: true, isLive: false })}
        onLeave={focusList}
        onFacets={isNarrow ? toggleFacets : null}
      />
      <Conditions {...{ view, change }} />
      {isInvalid ? null : (
        <div class="flex wrap coverage-row">
          <CoverageLine {...{ state, zone }} sources={view.sources} onRetry={() => workspace.retry()} />
          {state.find.query ? <FindTools {...{ view, workspace, change }} find={state.find} /> : null}
          <SplitMenu {...{ view, source, change }} />
        </div>
      )}
      {view.hasHistogram && !isInvalid ? <ChartPanel {...{ view, source, state, histogram, zone, change }} /> : null}
      <WorkspaceFailure failure={isInvalid ? null : state.failure} onRetry={() => workspace.retry()}>
        {state.rows.length === 0 ? <EmptyActions {...{ view, change }} /> : null}
      </WorkspaceFailure>
      <div class="workspace-body">
        {view.hasFields && !isNarrow && !isInvalid ? (
          <aside class="fixed facets" aria-label="Facets">
            {facets}
          </aside>
        ) : null}
        <RowFrame columns={view.columns} withNode={hasSeveral} onChange={(columns) => change({ columns })}>
          <RowList {...{ workspace, state, rowStyle, seen }} onOpen={open} onPick={setPicked} />
          {isEmpty ? (
            <p class="flex wrap rows-ways">
              <EmptyActions {...{ view, change }} />
            </p>
          ) : null}
        </RowFrame>
        <OverviewGutter
          {...{ state, seen, matches, zone }}
          onGo={(fraction) => workspace.jump(positionAt(fraction, state.extent))}
        />
        {isNarrow ? null : details}
      </div>
      <LiveSummary workspace={workspace} />
      {isNarrow ? (
        <>
          <Sheet title="Facets" class="facets-sheet" isOpen={hasSheet} onClose={() => setSheet(false)}>
            <SplitMenu {...{ view, source, change }} />
            {facets}
          </Sheet>
          <Sheet
            title="Record"
            class="details-sheet"
            side="right"
            isOpen={details !== null}
            onClose={() => void closeDetails()}
          >
            {details}
          </Sheet>
        </>
      ) : null}
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
      {wasAskingTime.current ? (
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
      ) : null}
    </div>
  );
}

/** The rows and, if columns were chosen, their names above them: one grid. */
function RowFrame({ children, ...heads }: ColumnHeadsProps & { children: ComponentChildren }) {
  const { columns, withNode } = heads;
  // Set by property, which the content security policy allows.
  const style = columns.length === 0 ? {} : { '--columns': `repeat(${columns.length}, var(--column))` };
  return (
    <div class={`rows-frame ${withNode ? 'with-node' : ''} ${columns.length > 0 ? 'has-columns' : ''}`} style={style}>
      {columns.length > 0 ? <ColumnHeads {...heads} /> : null}
      {children}
    </div>
  );
}

interface LiveButtonDeps {
  workspace: LogWorkspace;
  /** The time range has an end: no new record can fall into it. */
  isClosed: boolean;
  onFollow: () => void;
}

/** Whether new lines appear, in the bar beside the time range; while paused, how many wait. */
function useLiveButton(follow: FollowStatus | null, deps: LiveButtonDeps): void {
  const latest = useRef(deps);
  latest.current = deps;
  const { state = null, newRecords = 0, newErrors = 0, reason = null } = follow ?? {};
  const { isClosed } = deps;
  const rate = follow ? rateText(follow) : '';
  useEffect(() => {
    if (state === null) return barButton.set(null);
    const isFollowing = state === 'live' || state === 'reconnecting';
    const errors = newErrors > 0 ? ` (${formatCounted(newErrors, 'error')})` : '';
    const waiting = newRecords > 0 ? ` · ${formatCount(newRecords)} new${errors}` : '';
    const tips = {
      live: `Following, ${rate}. Pause (f)`,
      reconnecting: `Connection lost · retrying (${reason ?? 'unknown reason'})`,
      paused: 'Go to the end and follow (f)',
      off: isClosed ? 'Remove the end of the time range and follow (f)' : 'Go to the end and follow (f)',
    };
    barButton.set({
      class: `live-button ${state === 'live' ? 'is-live' : state === 'reconnecting' ? 'is-lost' : ''}`,
      tip: tips[state],
      onClick: () => (isFollowing ? latest.current.workspace.pause() : latest.current.onFollow()),
      children: (
        <>
          {isFollowing ? <span class="dot" aria-hidden="true" /> : null}
          {state === 'live' ? 'Live' : state === 'reconnecting' ? 'Reconnecting…' : ''}
          {state === 'paused' ? `Paused${waiting}` : state === 'off' ? 'Follow' : ''}
        </>
      ),
    });
  }, [state, newRecords, newErrors, reason, isClosed, rate]);
  useEffect(() => () => barButton.set(null), []);
}

/** Whether rows are of several logs; it does not change back while the same logs are shown. */
function useSeveralLogs({ rows }: WorkspaceState, source: LogSource): boolean {
  const known = useRef({ source, files: new Set<string>() });
  if (known.current.source !== source) known.current = { source, files: new Set() };
  const { files } = known.current;
  if (files.size < 2)
    for (const row of rows.slice(-LOOKED_AT))
      if (row.kind === 'record') files.add(row.record.file.split(/[-.]/, 1)[0] ?? '');
  return files.size > 1;
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
