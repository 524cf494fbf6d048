import type { ClusterNode } from '@porthole/client';
import { ALL_LOGS } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatCount } from '../../ui/format.ts';
import { missingMembers } from '../../ui/missing-members.ts';
import { Unknown } from '../../ui/unknown.tsx';
import { RECENT_MS, type RecentCounts } from './recent-counts.ts';

interface NodeCountProps {
  node: ClusterNode;
  counts: RecentCounts | null;
  kind: 'errors' | 'warnings';
}

/** How many a node wrote in the last quarter of an hour, as a link to them. */
export function NodeCount({ node, counts, kind }: NodeCountProps) {
  const count = counts?.byNode.get(node.id)?.[kind] ?? (kind === 'errors' ? node.recentErrors : null);
  if (count === null || node.state !== 'up') return <Unknown why={whyUnknown({ node, counts })} />;
  if (count === 0) return <>0</>;
  const range = { kind: 'last', spanMs: RECENT_MS } as const;
  const minLevel = kind === 'errors' ? 'ERROR' : 'WARN';
  const href = viewUrl({ ...ALL_LOGS, sources: [{ node: node.id, log: null }], range, minLevel });
  return (
    <a class={kind === 'errors' ? 'count-link problem' : 'count-link'} href={href}>
      {formatCount(count)}
    </a>
  );
}

function whyUnknown({ node, counts }: Pick<NodeCountProps, 'node' | 'counts'>): string {
  if (node.state !== 'up') return 'it does not answer';
  if (!counts) return 'it is being counted';
  return missingMembers(counts.members).find(({ id }) => id === node.id)?.why ?? 'it did not count in time';
}
