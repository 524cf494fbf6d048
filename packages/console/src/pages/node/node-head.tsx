import type { ClusterNode } from '@porthole/client';
import { nodeColour } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatShortTime, formatSpan } from '../../ui/format.ts';
import { useNow } from '../../ui/hooks/use-now.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import { snapshotView } from '../cluster/cluster-head.tsx';
import { isDegraded, stateText } from '../cluster/node-health.ts';

export function NodeHead({ node }: { node: ClusterNode }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  const isUp = node.state === 'up';
  return (
    <div class="node-head">
      <h1>
        <span class={`node-dot ${isUp ? `node-${nodeColour(node.id)}` : 'node-off'}`} aria-hidden="true" />
        {node.id}
      </h1>
      <p>
        <span class={isUp && !isDegraded(node) ? 'ok' : 'problem'}>{stateText(node)}</span>
        <span class="dim"> · {node.role}</span>
        {isUp && <span class="dim"> · up for {formatSpan(nowMs - node.node.onlineTime)}</span>}
        {node.isSelf && <span class="dim"> · serving this page</span>}
        {!isUp && node.lastSeenMs !== null && (
          <>
            <span class="dim"> · last responded at {formatShortTime(node.lastSeenMs, zone, nowMs)} · </span>
            <a href={viewUrl(snapshotView(node.id))}>snapshot →</a>
          </>
        )}
        {!isUp && node.report.detail && <span class="dim"> · {node.report.detail}</span>}
      </p>
    </div>
  );
}
