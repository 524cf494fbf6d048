import type { ClusterNode } from '@porthole/client';
import { colourOf } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatMoment, formatSpan } from '../../ui/format.ts';
import { useNow } from '../../ui/use-now.ts';
import { useStore } from '../../ui/use-store.ts';
import { lastWords } from '../cluster/cluster-head.tsx';
import { stateText } from '../cluster/node-health.ts';

export function NodeHead({ node }: { node: ClusterNode }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  const isUp = node.state === 'up';
  return (
    <div class="node-head">
      <h1>
        <span class={`node-dot ${isUp ? `node-${colourOf(node.id)}` : 'node-off'}`} aria-hidden="true" />
        {node.id}
      </h1>
      <p>
        <span class={isUp ? 'ok' : 'problem'}>{stateText(node)}</span>
        <span class="dim"> · {node.role}</span>
        {isUp && <span class="dim"> · up for {formatSpan(nowMs - node.node.onlineTime)}</span>}
        {node.isSelf && <span class="dim"> · this page came from it</span>}
        {!isUp && node.lastSeenMs !== null && (
          <>
            <span class="dim"> · answered last at {formatMoment(node.lastSeenMs, zone, nowMs)} · </span>
            <a href={viewUrl(lastWords(node.id))}>last words →</a>
          </>
        )}
        {!isUp && node.report.detail && <span class="dim"> · {node.report.detail}</span>}
      </p>
    </div>
  );
}
