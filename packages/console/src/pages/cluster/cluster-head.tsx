import type { ClusterNode } from '@porthole/client';
import { preferences } from '../../state/preferences.ts';
import { ALL_LOGS, type View } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { totalsOf } from '../../ui/count-columns.ts';
import { formatCount, formatMoment, formatSpan } from '../../ui/format.ts';
import { useStore } from '../../ui/use-store.ts';
import { headline, missingNodes } from './node-health.ts';
import { RECENT_MS, type RecentCounts } from './recent-counts.ts';

interface ClusterHeadProps {
  nodes: readonly ClusterNode[];
  counts: RecentCounts | null;
  nowMs: number;
}

export function ClusterHead({ nodes, counts, nowMs }: ClusterHeadProps) {
  const missing = missingNodes(nodes);
  return (
    <div class="cluster-head">
      <div>
        <h1>{headline(nodes)}</h1>
        {missing.map((node) => (
          <MissingNode key={node.id} node={node} nowMs={nowMs} />
        ))}
        {missing.length === 0 && <p class="dim">{calmText(nodes)}</p>}
      </div>
      <ErrorsLink errors={counts ? totalsOf(counts.columns).errors : null} isAlone={nodes.length === 1} />
    </div>
  );
}

function MissingNode({ node, nowMs }: { node: ClusterNode; nowMs: number }) {
  const zone = useStore(preferences.zone);
  const { id, state, sinceMs, lastSeenMs } = node;
  const since =
    state === 'failed' && sinceMs !== null
      ? `gone since ${formatMoment(sinceMs, zone, nowMs)}`
      : lastSeenMs === null
        ? 'has not responded since this node started'
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
          <a href={viewUrl(lastWords(id))}>last words kept, as of {formatMoment(lastSeenMs, zone, nowMs)}</a>
        </>
      )}
    </p>
  );
}

/** What is still known of a node that does not answer. */
export function lastWords(id: string): View {
  return { ...ALL_LOGS, sources: [{ node: id, log: null }], isLive: false };
}

/** The one button of the page: where to look first. */
function ErrorsLink({ errors, isAlone }: { errors: number | null; isAlone: boolean }) {
  const href = viewUrl({ ...ALL_LOGS, range: { kind: 'last', spanMs: RECENT_MS }, minLevel: 'ERROR' });
  const where = isAlone ? 'on this node' : 'across the cluster';
  if (errors === 0)
    return (
      <a class="button" href={href}>
        No errors {where}, last 15 min →
      </a>
    );
  const count = errors === null ? 'Errors' : `${formatCount(errors)} ${errors === 1 ? 'error' : 'errors'}`;
  return (
    <a class={errors === null ? 'button' : 'button button-alarm'} href={href}>
      {count} {where}, last 15 min →
    </a>
  );
}

function calmText(nodes: readonly ClusterNode[]): string {
  const roles = [...new Set(nodes.map(({ role }) => role))].sort();
  if (nodes.length === 1) return 'It is alone: no other nodes are registered';
  if (roles.length === 1) return 'Every registered node was heard';
  return roles.map((role) => `${nodes.filter((node) => node.role === role).length} ${role}`).join(' · ');
}
