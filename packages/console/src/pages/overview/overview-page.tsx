import type { ClusterDigest, ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { EventsCard } from '../../events/event-list.tsx';
import { hasLabels } from '../../state/labels.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { cluster } from '../../state/resource.ts';
import { closedRange, LAST_HOUR, type TimeRange } from '../../state/time-range.ts';
import {
  ALL_LOGS,
  ALL_NODES,
  INCIDENTS,
  type LogsView,
  nodeView,
  OVERVIEW,
  type OverviewView,
  recordedView,
  withRange,
  type ZoneName,
} from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card, Chip, LinkButton, NodeNames } from '../../ui/controls.tsx';
import { formatCount, formatCounted, formatSecond, rangeText } from '../../ui/format.ts';
import { useMedia, useNow, useResource, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { LabelMenu } from '../../ui/label-filter.tsx';
import { CardList, LoadedCard } from '../../ui/loaded-card.tsx';
import { LoadedNote } from '../../ui/notes.tsx';
import { patternParts } from '../../ui/pattern-text.ts';
import { NARROW } from '../nodes/error-strip.tsx';
import { departureKey, hiddenText, isDegraded, missingNodes, problemText, shortNames } from '../nodes/node-health.ts';
import { useStrip } from '../nodes/node-resources.ts';
import { DriftCard, SettingsCard } from './config-cards.tsx';
import { countsText, headline, subline } from './headline.ts';
import { groupView, isUnconfigured, newSitesText, ownSettings, useEvents, usePatterns } from './overview-resources.ts';
import { StripCard } from './strip-card.tsx';

/** Events listed; the strip marks all of them. */
const MAX_EVENTS = 8;

/** What is wrong, where, since when, and what changed before. A single node has the same page with one row. */
export function OverviewPage({ view }: { view: OverviewView }) {
  const loaded = useResource(cluster);
  const { value } = loaded;
  const note = <LoadedNote loaded={loaded} what="The nodes" />;
  if (!value) return note;
  const isAlone = value.nodes.length === 1;
  const nodes = value.nodes.filter((node) => hasLabels(node, view.labels));
  return (
    <div class="stack">
      {note}
      {isAlone && <DemoHint />}
      {/* What other nodes reported must not be shown for a moment. */}
      <ShownNodes key={JSON.stringify([view.labels, view.range])} {...{ view, nodes, isAlone }} all={value.nodes} />
    </div>
  );
}

interface ShownNodesProps {
  view: OverviewView;
  nodes: readonly ClusterNode[];
  all: readonly ClusterNode[];
  isAlone: boolean;
}

function ShownNodes({ view, nodes, all, isAlone }: ShownNodesProps) {
  const { labels, by, range } = view;
  const strip = useStrip(view);
  const events = useEvents(view);
  const counts = strip.value;
  const happened = events.value;
  const dismissed = useStore(preferences.dismissed);
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const isDismissed = (node: ClusterNode) => node.state === 'failed' && dismissed.includes(departureKey(node));
  const expected = nodes.filter((node) => !isDismissed(node));
  const hidden = hiddenText(all, nodes);
  const dismissedCount = nodes.length - expected.length;
  const ids = nodes.map(({ id }) => id).join();
  const isNarrow = useMedia(NARROW);
  const names = useMemo(
    () =>
      shortNames(
        nodes.map(({ id }) => id),
        isNarrow,
      ),
    [ids, isNarrow],
  );
  // The headline names them.
  const known = missingNodes(nodes).map(({ id }) => id);
  const go = (change: Partial<OverviewView>) => navigation.go({ ...view, ...change });
  const filter = !isAlone && (
    <LabelMenu labels={labels} by={by} onLabels={(next) => go({ labels: next })} onBy={(next) => go({ by: next })} />
  );
  if (nodes.length === 0)
    return (
      <>
        <h1>No node has {labels.length === 1 ? 'this label' : 'these labels'}</h1>
        {filter}
      </>
    );
  const count = expected.filter(({ state }) => state !== 'left').length;
  const countText = countsText(counts, { nodes: count, when: whenText(range, zone) });
  const parts = headline({ nodes: expected, names, events: happened?.events ?? [], strip: counts, zone }, countText);
  const isCalm = parts.some(({ about }) => about === 'calm');
  const errorsView: LogsView = { ...ALL_LOGS, labels, range: range ?? LAST_HOUR, minLevel: 'ERROR' };
  const errorsUrl = viewUrl(withRange(errorsView, range ?? LAST_HOUR));
  return (
    <>
      <div class="flex wrap page-head">
        <div>
          <h1>
            {parts.map(({ text, about }, index) => (
              <span key={text} class={index === 0 && !isCalm ? 'problem' : undefined}>
                {index > 0 && (isCalm || index < parts.length - 1 ? ', ' : ', and ')}
                {about === 'errors' ? (
                  <a class="headline-link" href={errorsUrl}>
                    {text}
                  </a>
                ) : (
                  text
                )}
              </span>
            ))}
          </h1>
          <p class="dim">
            {subline(expected, counts?.members ?? [], { names, nowMs, zone })}
            {countText && parts.every(({ text }) => text !== countText) && (
              <>
                {' · '}
                <a href={errorsUrl}>{countText}</a>
              </>
            )}
          </p>
          <NodeProblems nodes={expected} names={names} />
          {hidden !== null && (
            <p class="dim">
              {hidden} · <a href={viewUrl(OVERVIEW)}>show all</a>
            </p>
          )}
          {dismissedCount > 0 && (
            <p class="dim">
              {dismissedCount} expired, dismissed ·{' '}
              <LinkButton onClick={() => preferences.dismissed.set([])}>show</LinkButton>
            </p>
          )}
        </div>
        <a
          class="button is-primary"
          href={viewUrl({ ...INCIDENTS, labels, range: { kind: 'fixed', ...closedRange(range, nowMs) } })}
        >
          <Icon name="incidents" />
          What happened?
        </a>
      </div>
      <div>
        {strip.failure && <LoadedNote loaded={strip} what="The counts" />}
        <StripCard nodes={expected} strip={counts} events={happened?.events ?? []} {...{ view, filter, names }} />
      </div>
      <div class="overview-cards">
        <PatternsCard view={view} known={known} />
        <EventsCard title="Recent events" {...{ events, known, labels, names }} most={MAX_EVENTS} />
        {isAlone ? <SettingsCard /> : <DriftCard {...{ labels, known, names }} />}
      </div>
    </>
  );
}

/** `in the last hour`, `from 03:10 to 03:16` */
function whenText(range: TimeRange | null, zone: ZoneName): string {
  const text = rangeText(range ?? LAST_HOUR, zone);
  return text.startsWith('Last') ? `in the ${text.toLowerCase()}` : `in ${text}`;
}

/** More are in the list of nodes. */
const MAX_PROBLEMS = 3;

/** What is wrong with nodes that respond, and what to do about those that are gone for good. */
function NodeProblems({ nodes, names }: { nodes: readonly ClusterNode[]; names: ReadonlyMap<string, string> }) {
  const problems = nodes.filter((node) => isDegraded(node) || node.state === 'failed');
  const more = problems.length - MAX_PROBLEMS;
  return (
    <>
      {problems.slice(0, MAX_PROBLEMS).map((node) =>
        isDegraded(node) ? (
          <p key={node.id}>
            <a href={viewUrl(nodeView(node.id))}>{names.get(node.id) ?? node.id}</a>{' '}
            <span class="warning">{problemText(node.problems)}</span>
          </p>
        ) : (
          <p key={node.id} class="dim">
            <a href={viewUrl(recordedView(node.id))}>recorded lines of {names.get(node.id) ?? node.id}</a> ·{' '}
            <LinkButton onClick={() => preferences.dismiss(departureKey(node))}>dismiss</LinkButton>
          </p>
        ),
      )}
      {more > 0 && (
        <p>
          <a href={viewUrl(ALL_NODES)}>{formatCounted(more, 'more node')} with problems</a>
        </p>
      )}
    </>
  );
}

type Group = ClusterDigest['groups'][number];

/** Kinds of warnings and errors that are new in the range. */
function PatternsCard({ view, known }: { view: OverviewView; known: readonly string[] }) {
  const zone = useStore(preferences.zone);
  return (
    <LoadedCard
      id="patterns-title"
      title={(value) =>
        `${hasUnknown(value) ? 'Warnings and errors' : 'New'} in ${view.range ? 'this time' : 'the last hour'}`
      }
      loaded={usePatterns(view)}
      what="The new errors"
      loading="the new errors of all nodes"
      known={known}
      aside={(value) =>
        value &&
        value.groups.length > 0 && (
          <Chip tone={hasUnknown(value) ? undefined : value.groups.some(isErrorGroup) ? 'err' : 'warn'}>
            {value.totalGroups}
          </Chip>
        )
      }
    >
      {(value) => (
        <>
          <CardList
            items={value.groups.map((group, index) => ({ group, spark: value.sparks[index] ?? null }))}
            most={value.groups.length}
            kind="flex pattern"
            keyOf={({ group }) => `${group.level} ${group.source ?? group.shape}`}
            hrefOf={({ group }) => viewUrl({ ...groupView(group), labels: view.labels })}
            more={() => null}
          >
            {({ group, spark }) => <PatternRow group={group} spark={spark} zone={zone} />}
          </CardList>
          {newSitesText(value) && <p class="dim wraps card-note">{newSitesText(value)}</p>}
        </>
      )}
    </LoadedCard>
  );
}

/** Whether some of them may be known from before: then none of them is called new. */
function hasUnknown({ groups }: ClusterDigest): boolean {
  return groups.some(({ isNewUnknown }) => isNewUnknown);
}

function isErrorGroup({ level }: Group): boolean {
  return level === 'ERROR' || level === 'FATAL';
}

function PatternRow({ group, spark, zone }: { group: Group; spark: readonly number[] | null; zone: ZoneName }) {
  const isError = isErrorGroup(group);
  return (
    <>
      <Spark points={spark} isError={isError} />
      <span class="grow">
        <span class="wraps pattern-text mono">
          <PatternText group={group} />
        </span>
        <span class="dim flex wrap small">
          <span class={isError ? 'problem' : 'warning'}>{group.level}</span>
          <span class="wraps">{group.source ?? group.sample.file}</span>
          {group.firstMs !== null && <span>first {formatSecond(group.firstMs, zone)}</span>}
          <NodeNames ids={Object.keys(group.nodes)} most={3} />
        </span>
      </span>
      <b>{formatCount(group.count)}</b>
    </>
  );
}

/** What the messages have in common: numbers and other variable parts are holes. */
function PatternText({ group }: { group: Group }) {
  return (
    <>
      {patternParts(group).map((part, index) => (
        <span key={index}>
          {index > 0 && <i class="faint hole">…</i>}
          {part}
        </span>
      ))}
    </>
  );
}

/** Counts over time, without an axis. */
function Spark({ points, isError }: { points: readonly number[] | null; isError: boolean }) {
  const most = Math.max(1, ...(points ?? []));
  return (
    <svg class={`spark ${isError ? 'problem' : 'warning'}`} viewBox="0 0 64 20" aria-hidden="true">
      {points?.map((count, index) => {
        const height = count === 0 ? 0 : Math.max(2, (count / most) * 20);
        return <rect key={index} x={index * 4} y={20 - height} width="3" height={height} rx="1" fill="currentcolor" />;
      })}
    </svg>
  );
}

/** Its name among what was dismissed. */
const HINT = 'demo hint';

/** What to do with a node that has nothing but itself to show: look at the demo cluster, or point it at a service. */
function DemoHint() {
  const isDismissed = useStore(preferences.dismissed).includes(HINT);
  const { value } = useResource(ownSettings);
  const demoUrl = document.querySelector<HTMLMetaElement>('meta[name="porthole-demo"]')?.content;
  if (isDismissed || !(demoUrl || (value && isUnconfigured(value)))) return null;
  return (
    <Card
      id="hint-title"
      title="Nothing is configured yet"
      aside={<LinkButton onClick={() => preferences.dismiss(HINT)}>dismiss</LinkButton>}
    >
      <div class="card-body flex wrap page-head">
        <p>
          This node shows its own log and settings.{' '}
          {demoUrl ? (
            'The demo has three made-up nodes with live logs, one of them unhealthy; it stops with this node.'
          ) : (
            <>
              <code>npx porthole demo</code> runs a made-up cluster to look around in.
            </>
          )}
          <span class="dim event-detail">
            To show a service: <code>porthole serve --log-dir /var/log/my-service --service-config service.toml</code>
          </span>
        </p>
        {demoUrl && (
          <a class="button is-primary" href={demoUrl}>
            Open the demo cluster
          </a>
        )}
      </div>
    </Card>
  );
}
