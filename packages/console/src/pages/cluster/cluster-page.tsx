import { cluster } from '../../state/cluster.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { useNow } from '../../ui/hooks/use-now.ts';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { Loading } from '../../ui/loading.tsx';
import { ClusterHead } from './cluster-head.tsx';
import { recent } from './cluster-resources.ts';
import { DriftCard } from './drift-card.tsx';
import { NewSitesCard } from './new-sites-card.tsx';
import { NodeTable } from './node-table.tsx';
import { RecentCard } from './recent-card.tsx';
import { SettingsCard } from './settings-card.tsx';

/** How all nodes are, at a glance. */
export function ClusterPage() {
  const { value, asOfMs, failure } = useResource(cluster);
  const counts = useResource(recent);
  const nowMs = useNow();
  if (!value)
    return failure ? (
      <FailureNote what="The nodes" failure={failure} asOfMs={asOfMs} onRetry={() => cluster.reload()} />
    ) : (
      <Loading what="the nodes" />
    );
  const isAlone = value.nodes.length === 1;
  return (
    <div class="cluster-page">
      <ClusterHead nodes={value.nodes} counts={counts.value} nowMs={nowMs} />
      {failure && <FailureNote what="The nodes" failure={failure} asOfMs={asOfMs} onRetry={() => cluster.reload()} />}
      <RecentCard counts={counts} nodes={value.nodes} />
      <NodeTable nodes={value.nodes} counts={counts.value} nowMs={nowMs} />
      <div class="card-pair">
        {isAlone ? <SettingsCard /> : <DriftCard />}
        <NewSitesCard />
      </div>
    </div>
  );
}
