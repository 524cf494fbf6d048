import { useMemo, useRef } from 'preact/hooks';
import type { ShownEvent } from '../../events/event-text.ts';
import { loadEvents } from '../../events/load-events.ts';
import { type ChartPart, HistogramChart } from '../../log-view/chart/histogram-chart.tsx';
import type { WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { oneLine, visibleText } from '../../log-view/rows/record-text.ts';
import {
  type HistogramResult,
  isPartialCount,
  type LogSource,
  type TopResult,
} from '../../log-view/source/log-source.ts';
import { toFilter } from '../../log-view/source/view-source.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { nodeStyle } from '../../state/resource.ts';
import { canFollow, closedRange, resolveRange, type TimeRange } from '../../state/time-range.ts';
import { INCIDENTS, type LogsView, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { LinkButton } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { Loading } from '../../ui/notes.tsx';
import { nodeCounts } from './facets.tsx';
import { CountFailure } from './field-actions.tsx';
import type { ChangeView } from './typed-query.ts';
import { BUCKETS, countKey, rowsAwaited } from './use-log-workspace.ts';

interface ChartPanelProps {
  view: LogsView;
  source: LogSource;
  state: WorkspaceState;
  histogram: HistogramResult | null;
  zone: ZoneName;
  change: ChangeView;
}

/** What led to an event, and what came of it. */
const EVENT_MS = { before: 5 * 60_000, after: 10 * 60_000 } as const;

/** The chart, or why there is none. */
export function ChartPanel({ view, source, state, histogram, zone, change }: ChartPanelProps) {
  const { range, labels } = view;
  // A relative range moves with every count.
  const requested = useMemo(() => (histogram ? resolveRange(range, Date.now()) : {}), [range, histogram]);
  const before = useRef<(TimeRange | null)[]>([]);
  const events = useChartEvents(view, source);
  const split = useSplit({ view, source, histogram });
  const { isCounting, countFailure, failure } = state;
  if (!histogram)
    return (
      <p class="flex dim line chart-empty">
        {isCounting ? 'Counting…' : countFailure === null ? '' : notCounted(countFailure, failure)}
      </p>
    );
  const incident = (fromMs: number, toMs: number) =>
    ({ ...INCIDENTS, labels, range: { kind: 'fixed', fromMs, toMs } }) as const;
  const zoomOut = () => change({ range: before.current.pop() ?? null, at: null, timeMs: null });
  const isClosed = !canFollow(range);
  return (
    <HistogramChart
      {...{ histogram, requested, zone, events, isCounting }}
      parts={split.value?.parts ?? null}
      log={state.extent}
      minLevel={state.filter.minLevel ?? null}
      eventUrl={(timeMs) => viewUrl(incident(timeMs - EVENT_MS.before, timeMs + EVENT_MS.after))}
      onZoom={(span) => {
        before.current.push(range);
        change({ range: { kind: 'fixed', ...span }, at: null, timeMs: null, isLive: false });
      }}
      onZoomOut={zoomOut}
      onGo={(timeMs) => change({ timeMs, at: null, isLive: false })}
      onExplain={({ fromMs, toMs }) => navigation.go(incident(fromMs, toMs))}
    >
      {split.failure ? <CountFailure what={view.splitBy ?? ''} failure={split.failure} onRetry={split.reload} /> : null}
      {split.value || isClosed ? (
        <div class="flex wrap small chart-head">
          {split.value ? <Legend split={split.value} /> : null}
          {isClosed ? (
            <span class="flex chart-range">
              <a class="flex" href={viewUrl({ ...INCIDENTS, labels, range })}>
                <Icon name="incidents" />
                What happened?
              </a>
              <LinkButton onClick={zoomOut}>Zoom out</LinkButton>
            </span>
          ) : null}
        </div>
      ) : null}
    </HistogramChart>
  );
}

function notCounted(countFailure: string, failure: WorkspaceState['failure']): string {
  return countFailure === failure?.detail ? 'Not counted' : `Not counted: ${countFailure}`;
}

function Legend({ split: { by, parts, isPartial, hasOthers } }: { split: Split }) {
  return (
    <ul class="flex grow chart-legend" aria-label={`Split by ${visibleText(by)}`}>
      {parts.map(({ name, colour, counts }) => (
        <li key={name} class="flex">
          <span class="dot" style={{ color: colour }} aria-hidden="true" />
          <span class="cut">{name}</span>
          <span class="faint">
            {formatCount(counts.reduce((sum, { count }) => sum + count, 0))}
            {isPartial ? '+' : ''}
          </span>
        </li>
      ))}
      {hasOthers ? (
        <li class="flex faint">
          <span class="dot" style={{ color: 'var(--chart)' }} aria-hidden="true" /> others
        </li>
      ) : null}
    </ul>
  );
}

/** Events are looked for again when the range has moved by this much. */
const EVENTS_MS = 60_000;

/** More would cover each other. */
const MAX_FLAGS = 24;

/** What happened on the shown nodes in the range of the chart; in an unlimited one, on the last day. */
function useChartEvents(view: LogsView, source: LogSource): readonly ShownEvent[] {
  const { nodes } = source;
  const { fromMs, toMs } = closedRange(view.range ?? { kind: 'last', spanMs: 24 * 3_600_000 }, Date.now());
  const key = [Math.floor(fromMs / EVENTS_MS), Math.floor(toMs / EVENTS_MS), ...nodes, ...view.labels].join(' ');
  const load = async (signal: AbortSignal) => {
    const selection = { ...(nodes.length > 0 && { nodes }), ...(view.labels.length > 0 && { labels: view.labels }) };
    return (await loadEvents({ fromMs, toMs, ...selection }, signal)).events.slice(0, MAX_FLAGS);
  };
  const { value } = useLoaded(key, load, { pauseMs: 800, keepsLast: true });
  return value ?? [];
}

interface Split {
  by: string;
  parts: ChartPart[];
  isPartial: boolean;
  /** Whether there are records that have none of these values. */
  hasOthers: boolean;
}

/** As many as can be told apart by their colours. */
const MAX_PARTS = 7;

/** Rows come first. */
const SPLIT_PAUSE_MS = 400;

const SPLIT_MS = 5000;

/** The counts over time of the most frequent values of a field, by node or by value. */
function useSplit({ view, source, histogram }: Pick<ChartPanelProps, 'view' | 'source' | 'histogram'>) {
  const { splitBy: by } = view;
  const last = histogram?.buckets.at(-1);
  const key = by === null ? '' : JSON.stringify([by, countKey(view), histogram?.bucketMs, last]);
  const { value, failure, reload, isLoading } = useLoaded(
    key,
    async (signal): Promise<Split | null> => {
      if (by === null || !histogram) return null;
      const asked = { filter: toFilter(view, Date.now()), bucketMs: histogram.bucketMs };
      const options = { signal, budgetMs: SPLIT_MS };
      const counts =
        by === 'node'
          ? await source.histogram({ ...asked, buckets: BUCKETS }, options)
          : await source.top({ ...asked, by, limit: MAX_PARTS }, options);
      const parts = 'values' in counts ? valueParts(counts) : nodeParts(counts);
      const hasOthers =
        'values' in counts ? counts.others + counts.missing > 0 : nodeCounts(counts).size > parts.length;
      return { by, parts, hasOthers, isPartial: isPartialCount(counts) };
    },
    { pauseMs: SPLIT_PAUSE_MS, givesWay: rowsAwaited, keepsLast: true },
  );
  // What was chosen before has other names.
  return { value: value?.by === by ? value : null, failure: isLoading ? null : failure, reload };
}

/** The nodes with the most records, in their colours. */
export function nodeParts(histogram: HistogramResult): ChartPart[] {
  const totals = [...nodeCounts(histogram)].toSorted(([, a], [, b]) => b - a).slice(0, MAX_PARTS);
  return totals.map(([name]) => ({
    name,
    colour: nodeStyle(name).color,
    counts: histogram.buckets.flatMap((bucket) => {
      const count = bucket.nodes?.[name];
      return count === undefined ? [] : [{ startMs: bucket.startMs, count }];
    }),
  }));
}

/** The most frequent values, in the colours of the theme. */
export function valueParts({ values }: Pick<TopResult, 'values'>): ChartPart[] {
  return values.map(({ value, buckets = [] }, index) => ({
    name: value === '' ? '(empty)' : oneLine(visibleText(value.slice(0, 60))),
    colour: `var(--node-${index + 1})`,
    counts: buckets,
  }));
}

type SplitMenuProps = Pick<ChartPanelProps, 'view' | 'source' | 'change'>;

/** By which field the bars of the chart are split. */
export function SplitMenu({ view, source, change }: SplitMenuProps) {
  const by = view.splitBy ?? 'level';
  return (
    <Menu
      class="split-menu"
      label={`Split the chart by ${visibleText(by)}`}
      buttonClass="button is-quiet"
      icon="count"
      button={visibleText(by)}
    >
      {(close) => (
        <SplitChoices
          {...{ view, source }}
          onChoose={(splitBy) => {
            close();
            change({ splitBy, hasHistogram: true });
          }}
        />
      )}
    </Menu>
  );
}

/** Others are rare, and can be pinned first. */
const MAX_CHOICES = 20;

const FIELDS_MS = 2000;

function SplitChoices({
  view,
  source,
  onChoose,
}: Omit<SplitMenuProps, 'change'> & { onChoose: (by: string | null) => void }) {
  const pinned = useStore(preferences.pinned);
  const { value, isLoading } = useLoaded(countKey(view), (signal) =>
    source.fields({ filter: toFilter(view, Date.now()), limit: MAX_CHOICES }, { signal, budgetMs: FIELDS_MS }),
  );
  const known = value?.fields.map(({ name }) => name).filter((name) => name !== 'message') ?? [];
  const names = [...new Set(['level', 'node', 'component', ...pinned, ...known])];
  return (
    <>
      {names.map((name) => (
        <MenuItem
          key={name}
          isOn={name === (view.splitBy ?? 'level')}
          onClick={() => onChoose(name === 'level' ? null : name)}
        >
          {oneLine(visibleText(name))}
        </MenuItem>
      ))}
      {isLoading ? <Loading what="the fields" /> : null}
    </>
  );
}
