import type { ClusterItem, ClusterNode, ClusterRecord } from '@porthole/client';
import { absenceText, coverageOf } from '@porthole/contract';
import { useEffect, useRef } from 'preact/hooks';
import { EventsCard } from '../../events/event-list.tsx';
import { loadNodeEvents } from '../../events/load-events.ts';
import { MessageText } from '../../log-view/rows/record-row.tsx';
import { componentText, levelTone, oneLine, pairsText, recordTime } from '../../log-view/rows/record-text.ts';
import { labelTexts } from '../../state/labels.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { readSearch } from '../../state/read-search.ts';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { canFollow, closedRange, LAST_HOUR, type TimeRange } from '../../state/time-range.ts';
import { type NodeView, nodeLogs, nodeView, recordedView, withRange } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { NodeDot } from '../../ui/controls.tsx';
import { formatDate, formatSecond, formatSpan, formatTime, rangeText } from '../../ui/format.ts';
import { useLoaded, useNow, useResource, useStore } from '../../ui/hooks.ts';
import { lazy } from '../../ui/lazy.tsx';
import { LoadedCard } from '../../ui/loaded-card.tsx';
import { Loading, NoSuchNode } from '../../ui/notes.tsx';
import { errorsText, loadErrorStrip } from './error-counts.ts';
import { StripArea, StripCells } from './error-strip.tsx';
import { ChecksCard } from './node-checks.tsx';
import { FilesCard } from './node-files.tsx';
import { clockText, isClockOff, isDegraded, lostMs, stateSentence } from './node-health.ts';
import { HEAVY_MS } from './node-resources.ts';
import { nodeRuns, type Run } from './node-runs.ts';
import { NodeSettingsCard } from './node-settings.tsx';

const NodeConfig = lazy(() => import('../config/config-page.tsx').then((page) => page.NodeConfig));

const LAST_LINES = 20;

const LINES_MS = 10_000;

/** Time budget: this runs next to the requests of users. */
const BUDGET_MS = 3000;

const MAX_RUNS = 8;

const MAX_EVENTS = 12;

/** More of a line has no room. */
const MAX_CHARACTERS = 400;

/** One node: its state, errors, runs, last lines, files, events, settings and health. One that is gone is frozen. */
export function NodePage({ view }: { view: NodeView }) {
  const { value, failure } = useResource(cluster);
  const node = value?.nodes.find(({ id }) => id === view.id);
  if (value && !node) return <NoSuchNode id={view.id} urlOf={(id) => viewUrl({ ...view, id })} />;
  if (view.tab === 'config')
    return (
      <div class="stack">
        <h1 class="flex">
          <NodeDot id={view.id} />
          <a class="headline-link" href={viewUrl(nodeView(view.id))}>
            {view.id}
          </a>
        </h1>
        <NodeConfig view={view} />
      </div>
    );
  if (!node)
    return (
      <div class="stack">
        <h1>{view.id}</h1>
        {!failure && <Loading what="the node" />}
      </div>
    );
  // What was loaded while it was up is not shown as if it still were.
  return <KnownNode key={`${node.id} ${node.state === 'up'} ${JSON.stringify(view.range)}`} node={node} view={view} />;
}

/** What is loaded of a node as it is: with another state or range, the component is another one. */
function useNode(id: string, range: TimeRange | null, isUp: boolean) {
  const every = canFollow(range) ? { everyMs: HEAVY_MS } : {};
  const runKinds = ['started', 'stopped', 'killed'] as const;
  return {
    strip: useLoaded('', (signal) => loadErrorStrip({ nodes: [id] }, range, signal), every),
    events: useLoaded('', (signal) => loadNodeEvents(id, closedRange(range, Date.now()), signal), every),
    // Of all times: when it started is long before what is looked at.
    runs: useLoaded('', (signal) => loadNodeEvents(id, { kinds: runKinds }, signal), { everyMs: HEAVY_MS }),
    lines: useLoaded('', (signal) => loadLastLines(id, signal), { everyMs: isUp ? LINES_MS : HEAVY_MS }),
  };
}

async function loadLastLines(id: string, signal: AbortSignal) {
  const query = { nodes: [id], order: 'newest', limit: LAST_LINES, before: 0, after: 0 } as const;
  const batches = session.client.search(query, { signal, budgetMs: BUDGET_MS });
  const { records, end } = await readSearch<ClusterItem>(batches);
  return { members: end.members, records: records.reverse() };
}

function KnownNode({ node, view }: { node: ClusterNode; view: NodeView }) {
  const { tab, range } = view;
  const { id } = node;
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const isUp = node.state === 'up';
  const { strip, events, runs, lines } = useNode(id, range, isUp);
  const counts = strip.value;
  const happened = events.value?.events ?? [];
  const report = counts?.members.find((member) => member.id === id);
  // The page says at its top what is known of a node that is gone.
  const known = isUp ? [] : [id];
  const files = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tab === 'logs') files.current?.scrollIntoView({ block: 'start' });
  }, [tab]);
  const { node: details, clock, timeZone } = node;
  const facts = [
    node.role,
    ...labelTexts(node),
    ...(details.version ? [`version ${details.version}`] : []),
    `${details.hostName && details.hostName !== details.hostIp ? `${details.hostName} ` : ''}${details.hostIp}:${details.httpPort}`,
    ...(details.grpcPort ? [`gRPC ${details.grpcPort}`] : []),
    ...(timeZone ? [timeZone] : []),
    ...(isUp && clock && isClockOff(clock) ? [`clock ${clockText(clock)}`] : []),
    ...(node.isSelf ? ['serving this page'] : []),
  ];
  const errors: ReturnType<typeof nodeLogs> = { ...nodeLogs(id), minLevel: 'ERROR' };
  return (
    <div class={`stack node-page ${isUp ? '' : 'is-gone'}`}>
      <div class="flex wrap page-head">
        <div>
          <h1 class="flex">
            <NodeDot id={id} />
            {id}
          </h1>
          <p class={!isUp ? 'problem' : isDegraded(node) ? 'warning' : undefined}>
            {stateSentence(node, report, { nowMs, zone })}
          </p>
          <p class="dim wraps">{facts.join(' · ')}</p>
        </div>
        <a class="button is-primary" href={viewUrl(isUp ? nodeLogs(id) : recordedView(id))}>
          {isUp ? 'Logs' : 'Recorded lines'}
        </a>
      </div>
      <LoadedCard
        id="errors-title"
        title={`Errors, ${rangeText(range ?? LAST_HOUR, zone).replace('Last', 'last')}`}
        loaded={strip}
        what="The counts"
        known={known}
        aside={(value) =>
          value && (
            <a
              class={`chip ${value.byNode.get(id)?.errors ? 'is-err' : ''}`}
              href={viewUrl(withRange(errors, range ?? LAST_HOUR))}
            >
              {errorsText(value.byNode.get(id))}
            </a>
          )
        }
      >
        {(value) => (
          <StripArea range={value.range} labels={[]}>
            <StripCells node={node} strip={value} events={happened} labels={[]} />
          </StripArea>
        )}
      </LoadedCard>
      <div class="node-parts">
        <div class="stack">
          <LoadedCard
            id="lines-title"
            title={isUp ? 'Last lines' : 'Last recorded lines'}
            loaded={lines}
            what="The lines"
            known={known}
            aside={() => <a href={viewUrl(isUp ? nodeLogs(id) : recordedView(id))}>All lines</a>}
          >
            {(value) =>
              value.records.length === 0 ? (
                <p class="dim card-note">{absenceText('No lines with a timestamp', coverageOf(value))}.</p>
              ) : (
                <LastLines records={value.records} />
              )
            }
          </LoadedCard>
          <div ref={files}>
            <FilesCard
              {...{ id, isUp, text: view.text }}
              onText={(text) => navigation.go({ ...view, tab: 'logs', text }, { replace: true })}
            />
          </div>
        </div>
        <div class="stack">
          <LoadedCard id="runs-title" title="Runs" loaded={runs} what="The runs" known={known}>
            {({ records }) => (
              <RunsTable runs={nodeRuns(records, { isUp, lostMs: lostMs(node, report) })} nowMs={nowMs} />
            )}
          </LoadedCard>
          <EventsCard title="Events" {...{ events, known }} most={MAX_EVENTS} labels={[]} />
          <NodeSettingsCard id={id} />
          <ChecksCard node={node} />
        </div>
      </div>
    </div>
  );
}

/** As a terminal shows them: the newest at the end. */
function LastLines({ records }: { records: readonly ClusterRecord[] }) {
  const zone = useStore(preferences.zone);
  return (
    <ol class="last-lines">
      {records.map((record) => {
        const { node, cursor, level, message } = record;
        const timeMs = recordTime(record);
        const tone = levelTone(level);
        const [line = '', ...rest] = message.split('\n');
        return (
          <li key={cursor}>
            <a class={`row-${tone}`} href={viewUrl({ ...recordedView(node), at: { node, cursor } })}>
              <span class="faint">{timeMs === undefined ? '' : formatTime(timeMs, zone)}</span>
              <b class={tone === 'warning' ? 'warning' : tone === 'error' || tone === 'fatal' ? 'problem' : 'dim'}>
                {level ?? ''}
              </b>
              <span class="cut">
                <span class="faint">{componentText(record)}</span>{' '}
                <MessageText text={line.slice(0, MAX_CHARACTERS)} matcher={null} />{' '}
                <span class="faint">
                  {rest.length > 0 && `+${rest.length} lines `}
                  {oneLine(pairsText(record)).slice(0, MAX_CHARACTERS)}
                </span>
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}

const ENDS: Readonly<Record<Run['how'], string>> = {
  running: 'running',
  stopped: 'stopped in order',
  killed: 'killed or crashed',
  rebooted: 'the machine was restarted',
  lost: 'stopped responding',
  unknown: 'end not known',
};

/** From which start to which end it ran, newest first. */
function RunsTable({ runs, nowMs }: { runs: readonly Run[]; nowMs: number }) {
  const zone = useStore(preferences.zone);
  if (runs.length === 0) return <p class="dim wraps card-note">No start of this node is known.</p>;
  const time = (timeMs: number) =>
    formatDate(timeMs, zone) === formatDate(nowMs, zone)
      ? formatSecond(timeMs, zone)
      : `${formatDate(timeMs, zone)} ${formatSecond(timeMs, zone)}`;
  const isBad = (how: Run['how']) => how === 'killed' || how === 'rebooted' || how === 'lost';
  return (
    <table class="data-table">
      <caption class="sr-only">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Started</th>
          <th scope="col">Ended</th>
          <th scope="col" class="number">
            Ran for
          </th>
          <th scope="col">Version</th>
        </tr>
      </thead>
      <tbody>
        {runs.slice(0, MAX_RUNS).map(({ startMs, endMs, how, version }) => {
          const ranMs = how === 'running' ? nowMs - startMs : endMs === null ? null : endMs - startMs;
          return (
            <tr key={startMs}>
              <th scope="row" class="mono">
                {time(startMs)}
              </th>
              <td data-name="Ended">
                {endMs !== null && <span class="mono">{time(endMs)} </span>}
                <span class={isBad(how) ? 'problem' : 'dim'}>{ENDS[how]}</span>
              </td>
              <td data-name="Ran for" class="number">
                {ranMs === null ? '–' : formatSpan(Math.max(0, ranMs))}
              </td>
              <td data-name="Version" class="mono">
                {version ?? '–'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
