import type { ClusterNode } from '@porthole/client';
import { hasLabels } from '../../state/labels.ts';
import { navigation } from '../../state/navigation.ts';
import { cluster } from '../../state/resource.ts';
import { ALL_NODES, type NodesView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { useNow, useResource } from '../../ui/hooks.ts';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { PartialNote, ResourceNote } from '../../ui/notes.tsx';
import { recentResource } from './node-counts.ts';
import { headline, hiddenText } from './node-health.ts';
import { NodeTable } from './node-table.tsx';

/** All nodes, or those with certain labels: their state, errors, clocks and versions. */
export function NodesPage({ view }: { view: NodesView }) {
  const { value } = useResource(cluster);
  const note = <ResourceNote resource={cluster} what="The nodes" />;
  if (!value) return note;
  const nodes = value.nodes.filter((node) => hasLabels(node, view.labels));
  const hidden = hiddenText(value.nodes, nodes);
  const go = (change: Partial<NodesView>) => navigation.go({ ...view, ...change });
  return (
    <div class="stack">
      {note}
      <div class="flex wrap page-head">
        <div>
          <h1>{nodes.length === 0 ? 'No node has these labels' : headline(nodes)}</h1>
          {hidden && (
            <p class="dim">
              {hidden} · <a href={viewUrl(ALL_NODES)}>show all</a>
            </p>
          )}
        </div>
        <LabelFilter {...view} onLabels={(labels) => go({ labels })} onBy={(by) => go({ by })} />
      </div>
      {/* Counts of other nodes must not be shown for a moment. */}
      {nodes.length > 0 && <CountedNodes key={view.labels.join(' ')} view={view} nodes={nodes} />}
    </div>
  );
}

function CountedNodes({ view: { labels, by }, nodes }: { view: NodesView; nodes: readonly ClusterNode[] }) {
  const recent = recentResource(labels);
  const { value } = useResource(recent);
  const nowMs = useNow();
  return (
    <>
      <ResourceNote resource={recent} what="The counts" loading="the counts of all nodes" />
      <NodeTable nodes={nodes} labels={labels} by={by} counts={value} nowMs={nowMs} />
      {value && <PartialNote answer={value} onRetry={() => recent.reload()} />}
    </>
  );
}
