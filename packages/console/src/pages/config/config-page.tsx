import type { ClusterConfigDiff } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { cluster } from '../../state/cluster.ts';
import { navigation } from '../../state/navigation.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigView } from '../../state/view.ts';
import { useResource } from '../../ui/hooks.ts';
import { FailureNote, Loading } from '../../ui/notes.tsx';
import { DriftSection } from './drift/drift-section.tsx';
import { LoadedConfig } from './node-config.tsx';

/** How often the settings of every node are requested. */
const REFRESH_MS = 30_000;

/** Drift between the nodes; for a single node, its configuration. */
export function ConfigPage({ view }: { view: ConfigView }) {
  // All roles at once: the tabs show how many keys differ in each.
  const resource = useMemo(
    () =>
      new Resource<ClusterConfigDiff>((signal) => session.client.cluster.configDiff({}, { signal }), {
        everyMs: REFRESH_MS,
      }),
    [],
  );
  const { value, asOfMs, failure } = useResource(resource);
  // Not awaited: it takes longer and only adds details.
  const nodes = useResource(cluster).value?.nodes ?? [];
  const retry = () => resource.reload();
  const [first, ...others] = value?.members ?? [];
  return (
    <div class="config-page">
      {failure && <FailureNote what="The comparison" failure={failure} asOfMs={asOfMs} onRetry={retry} />}
      {!value && !failure && <Loading what="the configurations of all nodes" />}
      {first && others.length === 0 && <OnlyNode id={first.id} view={view} />}
      {value && others.length > 0 && <DriftSection view={view} nodes={nodes} diff={value} onRetry={retry} />}
    </div>
  );
}

function OnlyNode({ id, view }: { id: string; view: ConfigView }) {
  const { shape, ...asText } = view;
  return (
    <>
      <h1>Configuration of {id}</h1>
      <p class="config-sub">The only node here; with others, this page shows where they differ.</p>
      <LoadedConfig
        key={id}
        id={id}
        text={view.text}
        shape={shape ?? 'text'}
        onText={(text) => navigation.go({ ...view, text }, { replace: true })}
        onShape={(next) => navigation.go(next === 'text' ? asText : { ...view, shape: next })}
      />
    </>
  );
}
