import type { ClusterNode } from '@porthole/client';
import { preferences } from '../../state/preferences.ts';
import { ALL_LOGS, type View } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatShortTime, formatSpan } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import { departureKey, errorsText, headline, isDegraded, missingNodes, problemText } from './node-health.ts';
import { groupErrors, RECENT_MS, type RecentCounts } from './recent-counts.ts';

interface ClusterHeadProps {
  nodes: readonly ClusterNode[];
  /** They were selected by these. */
  labels: readonly string[];
  counts: RecentCounts | null;
  nowMs: number;
}

export function ClusterHead({ nodes, labels, counts, nowMs }: ClusterHeadProps) {
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
            <a class="problem" href={viewUrl({ page: 'node', id, tab: 'overview', text: '' })}>
              {id}
            </a>{' '}
            <span class="problem">{problemText(problems)}</span>
          </p>
        ))}
        {missing.length + degraded.length === 0 && <p class="dim">{calmText(expected, labels.length > 0)}</p>}
        {ended > 0 && (
          <p class="dim">
            {ended} expired, dismissed ·{' '}
            <button type="button" class="link-button" onClick={() => preferences.dismissed.set([])}>
              show
            </button>
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
      <a class="problem" href={viewUrl({ page: 'node', id, tab: 'overview', text: '' })}>
        {id}
      </a>{' '}
      <span class="dim">{since}</span>
      {lastSeenMs !== null && (
        <>
          <span class="dim"> · </span>
          <a href={viewUrl(snapshotView(id))}>snapshot as of {formatShortTime(lastSeenMs, zone, nowMs)}</a>
        </>
      )}
      {state === 'failed' && (
        <>
          <span class="dim"> · </span>
          <button type="button" class="link-button" onClick={() => preferences.dismiss(departureKey(node))}>
            dismiss
          </button>
        </>
      )}
    </p>
  );
}

/** The last known records of a node that is not responding. */
export function snapshotView(id: string): View {
  return { ...ALL_LOGS, sources: [{ node: id, log: null }], isLive: false };
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
