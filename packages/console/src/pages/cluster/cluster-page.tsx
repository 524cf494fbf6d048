import type { ClusterDigest, ClusterNode } from '@porthole/client';
import { hasLabels } from '../../state/labels.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { cluster, type Resource } from '../../state/resource.ts';
import { ALL_LOGS, ALL_NODES, type ClusterView, type LogsView, nodeView, recordedView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card, LinkButton } from '../../ui/controls.tsx';
import { CountChart, type CountColumn } from '../../ui/count-chart.tsx';
import { formatCount, formatMinute, formatShortTime, formatSpan } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { PartialNote, ResourceNote } from '../../ui/notes.tsx';
import {
  clusterResources,
  groupErrors,
  groupView,
  isUnconfigured,
  newSitesText,
  nodesText,
  ownSettings,
  RECENT_MS,
  type RecentCounts,
} from './cluster-resources.ts';
import { DriftCard, SettingsCard } from './config-cards.tsx';
import {
  departureKey,
  errorsText,
  headline,
  hiddenText,
  isDegraded,
  missingNodes,
  problemText,
} from './node-health.ts';
import { NodeTable } from './node-table.tsx';

type Group = ClusterDigest['groups'][number];

interface RecentCardProps {
  recent: Resource<RecentCounts>;
  nodes: readonly ClusterNode[];
  labels: readonly string[];
}

/** The state of all nodes at a glance, or of those with certain labels. */
export function ClusterPage({ view }: { view: ClusterView }) {
  const { value } = useResource(cluster);
  const note = <ResourceNote resource={cluster} what="The nodes" />;
  if (!value) return note;
  const isAlone = value.nodes.length === 1;
  const nodes = value.nodes.filter((node) => hasLabels(node, view.labels));
  const go = (change: Partial<ClusterView>) => navigation.go({ ...view, ...change });
  return (
    <div class="cluster-page">
      {note}
      {isAlone && <DemoHint />}
      <div class="cluster-filter">
        <LabelFilter {...view} onLabels={(labels) => go({ labels })} onBy={(by) => go({ by })} />
        <HiddenNodes all={value.nodes} shown={nodes} />
      </div>
      {/* Counts of other nodes must not be shown for a moment. */}
      <ShownNodes key={view.labels.join(' ')} view={view} nodes={nodes} isAlone={isAlone} />
    </div>
  );
}

function ShownNodes({ view, nodes, isAlone }: { view: ClusterView; nodes: readonly ClusterNode[]; isAlone: boolean }) {
  const { labels, by } = view;
  const { recent, callSites, configDrift } = clusterResources(labels);
  const counts = useResource(recent).value;
  const nowMs = useNow();
  if (nodes.length === 0) return <h1>No node has {labels.length === 1 ? 'this label' : 'these labels'}</h1>;
  return (
    <>
      <ClusterHead nodes={nodes} labels={labels} counts={counts} nowMs={nowMs} />
      <RecentCard recent={recent} nodes={nodes} labels={labels} />
      <NodeTable nodes={nodes} labels={labels} by={by} counts={counts} nowMs={nowMs} />
      <div class="card-pair">
        {isAlone ? <SettingsCard /> : <DriftCard drift={configDrift} labels={labels} />}
        <NewSitesCard sites={callSites} labels={labels} />
      </div>
    </>
  );
}

/** What the filter hides, and whether some of it needs attention. */
function HiddenNodes({ all, shown }: { all: readonly ClusterNode[]; shown: readonly ClusterNode[] }) {
  const text = hiddenText(all, shown);
  if (text === null) return null;
  return (
    <p class="dim">
      {text} · <a href={viewUrl(ALL_NODES)}>show all</a>
    </p>
  );
}

/** Call sites of warnings and errors that are new. */
function NewSitesCard({ sites, labels }: { sites: Resource<ClusterDigest>; labels: readonly string[] }) {
  const { value } = useResource(sites);
  return (
    <Card id="sites-title" title="New in the last hour, by call site">
      <ResourceNote resource={sites} what="The call sites" loading="the call sites of all nodes" />
      {value && value.groups.length > 0 && (
        <ul class="site-list">
          {value.groups.map((group) => (
            <SiteRow key={`${group.level} ${group.source ?? group.shape}`} group={group} labels={labels} />
          ))}
        </ul>
      )}
      {value && <p class="dim">{newSitesText(value)}</p>}
      {value && <PartialNote answer={value} onRetry={() => sites.reload()} />}
    </Card>
  );
}

function SiteRow({ group, labels }: { group: Group; labels: readonly string[] }) {
  const isError = group.level === 'ERROR' || group.level === 'FATAL';
  const nodes = Object.keys(group.nodes).join(', ');
  return (
    <li>
      <a class="site-link" href={viewUrl({ ...groupView(group), labels })}>
        <span class={`level-letter ${isError ? 'problem' : 'warning'}`} title={group.level ?? undefined}>
          {group.level?.charAt(0) ?? '–'}
        </span>
        <code class={isError ? 'problem' : 'warning'}>
          {group.source ?? group.sample.file}
          {group.isNewUnknown && (
            <span class="dim" title="Whether it is new is not known">
              {' '}
              new?
            </span>
          )}
        </code>
        <span class="site-message">{firstLine(group.sample.message)}</span>
        <span class="site-count">{formatCount(group.count)}×</span>
        <span class="site-nodes dim" title={nodes}>
          {nodesText(group)}
        </span>
      </a>
    </li>
  );
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

function RecentCard({ recent, nodes, labels }: RecentCardProps) {
  const { value } = useResource(recent);
  const zone = useStore(preferences.zone);
  const lost = value ? lostNodes(nodes, value) : [];
  const marks = lost.map(({ id, atMs }) => ({ timeMs: atMs, text: `${id} lost ${formatMinute(atMs, zone)}` }));
  return (
    <Card
      id="recent-title"
      class="chart-card"
      title="Errors and warnings, last 15 minutes"
      aside={
        <p class="legend" aria-hidden="true">
          <span class="legend-error">error</span>
          <span class="legend-warning">warning</span>
        </p>
      }
    >
      <ResourceNote resource={recent} what="The counts" loading="the counts of all nodes" />
      {value && (
        <CountChart
          columns={value.columns}
          range={value.range}
          marks={marks}
          viewFor={(column) => ({ ...columnView(column), labels })}
        />
      )}
      {value && <PartialNote answer={value} onRetry={() => recent.reload()} />}
    </Card>
  );
}

/** Nodes that stopped responding within the time of the chart. */
function lostNodes(nodes: readonly ClusterNode[], { range }: RecentCounts): { id: string; atMs: number }[] {
  return nodes.flatMap(({ id, state, lastSeenMs }) =>
    state !== 'up' && lastSeenMs !== null && lastSeenMs >= range.fromMs && lastSeenMs < range.toMs
      ? [{ id, atMs: lastSeenMs }]
      : [],
  );
}

function columnView({ startMs, endMs }: CountColumn): LogsView {
  const range = { kind: 'fixed', fromMs: startMs, toMs: endMs } as const;
  return { ...ALL_LOGS, range, minLevel: 'WARN', isLive: false };
}

/** Its name among what was dismissed. */
const NAME = 'demo hint';

/** What to do with a node that has nothing but itself to show: look at the demo cluster, or point it at a service. */
function DemoHint() {
  const isDismissed = useStore(preferences.dismissed).includes(NAME);
  const { value } = useResource(ownSettings);
  const demoUrl = document.querySelector<HTMLMetaElement>('meta[name="porthole-demo"]')?.content;
  if (isDismissed || !(demoUrl || (value && isUnconfigured(value)))) return null;
  return (
    <Card
      id="hint-title"
      class="hint-card"
      title="Nothing is configured yet"
      aside={<LinkButton onClick={() => preferences.dismiss(NAME)}>dismiss</LinkButton>}
    >
      <p>
        {demoUrl && (
          <a class="button button-primary" href={demoUrl}>
            Open the demo cluster
          </a>
        )}
        <span>
          This node shows its own log and settings.{' '}
          {demoUrl ? (
            'The demo has three made-up nodes with live logs, one of them unhealthy; it stops with this node.'
          ) : (
            <>
              <code>npx porthole demo</code> runs a made-up cluster to look around in.
            </>
          )}
        </span>
      </p>
      <p class="dim">
        To show a service: <code>porthole serve --log-dir /var/log/my-service --service-config service.toml</code>
      </p>
    </Card>
  );
}

interface ClusterHeadProps {
  nodes: readonly ClusterNode[];
  /** They were selected by these. */
  labels: readonly string[];
  counts: RecentCounts | null;
  nowMs: number;
}

function ClusterHead({ nodes, labels, counts, nowMs }: ClusterHeadProps) {
  const dismissed = useStore(preferences.dismissed);
  const isDismissed = (node: ClusterNode) => node.state === 'failed' && dismissed.includes(departureKey(node));
  const expected = nodes.filter((node) => !isDismissed(node));
  const missing = missingNodes(expected);
  const degraded = nodes.filter(isDegraded);
  const ended = nodes.length - expected.length;
  return (
    <div class="cluster-head">
      <div>
        <h1>
          {headline(expected)}
          {labels.length > 0 && <span class="dim"> with {labels.join(', ')}</span>}
        </h1>
        {missing.map((node) => (
          <MissingNode key={node.id} node={node} nowMs={nowMs} />
        ))}
        {degraded.map(({ id, problems }) => (
          <p key={id} class="missing-node">
            <a class="problem" href={viewUrl(nodeView(id))}>
              {id}
            </a>{' '}
            <span class="problem">{problemText(problems)}</span>
          </p>
        ))}
        {missing.length + degraded.length === 0 && <p class="dim">{calmText(expected, labels.length > 0)}</p>}
        {ended > 0 && (
          <p class="dim">
            {ended} expired, dismissed · <LinkButton onClick={() => preferences.dismissed.set([])}>show</LinkButton>
          </p>
        )}
      </div>
      <ErrorsLink nodes={expected} labels={labels} counts={counts} />
    </div>
  );
}

function MissingNode({ node, nowMs }: { node: ClusterNode; nowMs: number }) {
  const zone = useStore(preferences.zone);
  const { id, state, sinceMs, lastSeenMs } = node;
  const since =
    state === 'failed' && sinceMs !== null
      ? `stopped responding ${formatShortTime(sinceMs, zone, nowMs)}, lease expired`
      : lastSeenMs === null
        ? 'has not responded; when it last did is not known'
        : `has not responded for ${formatSpan(nowMs - lastSeenMs)}`;
  return (
    <p class="missing-node">
      <a class="problem" href={viewUrl(nodeView(id))}>
        {id}
      </a>{' '}
      <span class="dim">{since}</span>
      {lastSeenMs !== null && (
        <>
          <span class="dim"> · </span>
          <a href={viewUrl(recordedView(id))}>recorded until {formatShortTime(lastSeenMs, zone, nowMs)}</a>
        </>
      )}
      {state === 'failed' && (
        <>
          <span class="dim"> · </span>
          <LinkButton onClick={() => preferences.dismiss(departureKey(node))}>dismiss</LinkButton>
        </>
      )}
    </p>
  );
}

/** Links to the errors of all nodes, and says how many nodes the count covers. */
function ErrorsLink({ nodes, labels, counts }: Omit<ClusterHeadProps, 'nowMs'>) {
  const href = viewUrl({ ...ALL_LOGS, labels, range: { kind: 'last', spanMs: RECENT_MS }, minLevel: 'ERROR' });
  const { text, isAlarm } = errorsText(
    nodes,
    counts &&
      groupErrors(
        [...counts.byNode.keys()].map((id) => ({ id })),
        counts,
      ),
  );
  return (
    <a class={isAlarm ? 'button button-alarm' : 'button'} href={href}>
      {text}, last 15 min →
    </a>
  );
}

function calmText(nodes: readonly ClusterNode[], isPart: boolean): string {
  const roles = [...new Set(nodes.map(({ role }) => role))].sort();
  if (nodes.length === 1 && !isPart) return 'Not part of a cluster';
  if (roles.length === 1) return isPart ? 'All of them responded' : 'All registered nodes responded';
  return roles.map((role) => `${nodes.filter((node) => node.role === role).length} ${role}`).join(' · ');
}
