import type { ClusterConfigDiff } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { loadNodeConfig } from '../../config/setting-values.ts';
import { navigation } from '../../state/navigation.ts';
import { cluster, Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigView, NodeView } from '../../state/view.ts';
import { useResource } from '../../ui/hooks.ts';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { ResourceNote } from '../../ui/notes.tsx';
import { ConfigPanel } from './config-panel.tsx';
import { DriftSection } from './drift-section.tsx';

/** A configuration rarely changes, but its file on disk may at any time. */
const REFRESH_MS = 30_000;

/** Drift between the nodes; for a single node, its configuration. */
export function ConfigPage({ view }: { view: ConfigView }) {
  const { labels, by } = view;
  const go = (change: Partial<ConfigView>) =>
    navigation.go({ ...view, role: null, group: null, left: null, right: null, ...change });
  return (
    <div class="config-page">
      <LabelFilter
        {...{ labels, by }}
        byText="Compare within"
        onLabels={(next) => go({ labels: next })}
        onBy={(next) => go({ by: next })}
      />
      {/* A comparison of other nodes must not be shown for a moment. */}
      <Comparison key={JSON.stringify([labels, by])} view={view} />
    </div>
  );
}

function Comparison({ view }: { view: ConfigView }) {
  const { labels, by } = view;
  // All roles at once: the tabs show how many keys differ in each.
  const resource = useMemo(() => {
    const request = { ...(labels.length > 0 && { labels }), ...(by !== null && { by }) };
    return new Resource<ClusterConfigDiff>((signal) => session.client.cluster.configDiff(request, { signal }), {
      everyMs: REFRESH_MS,
    });
  }, []);
  const { value } = useResource(resource);
  // Not awaited: it takes longer and only adds details.
  const nodes = useResource(cluster).value?.nodes ?? [];
  const [first, ...others] = value?.members ?? [];
  return (
    <>
      <ResourceNote resource={resource} what="The comparison" loading="the configurations of all nodes" />
      {value && !first && <h1>No node has {labels.length === 1 ? 'this label' : 'these labels'}</h1>}
      {first && others.length === 0 && <OnlyNode id={first.id} view={view} />}
      {value && others.length > 0 && (
        <DriftSection view={view} nodes={nodes} diff={value} onRetry={() => resource.reload()} />
      )}
    </>
  );
}

/** The configuration tab of a node. */
export function NodeConfig({ view }: { view: NodeView }) {
  return <LoadedConfig key={view.id} id={view.id} view={view} />;
}

function OnlyNode({ id, view }: { id: string; view: ConfigView }) {
  return (
    <>
      <h1>Configuration of {id}</h1>
      <p class="dim config-sub">
        {view.labels.length > 0
          ? `The only node with ${view.labels.join(', ')}; there is nothing to compare it with.`
          : 'The only node here; with others, this page shows where they differ.'}
      </p>
      <LoadedConfig key={id} id={id} view={view} />
    </>
  );
}

function LoadedConfig({ id, view }: { id: string; view: ConfigView | NodeView }) {
  const resource = useMemo(
    () => new Resource((signal) => loadNodeConfig(session.client.cluster, id, { signal }), { everyMs: REFRESH_MS }),
    [id],
  );
  const { value } = useResource(resource);
  const { shape = 'text', ...asText } = view;
  return (
    <div class="node-config">
      <ResourceNote resource={resource} what="The configuration" loading={`the configuration of ${id}`} />
      {value && (
        <ConfigPanel
          known={value}
          text={view.text}
          shape={shape}
          onText={(text) => navigation.go({ ...view, text }, { replace: true })}
          onShape={(next) => navigation.go(next === 'text' ? asText : { ...view, shape: next })}
          onRetry={() => resource.reload()}
        />
      )}
    </div>
  );
}
