import { useMemo } from 'preact/hooks';
import { loadNodeConfig } from '../../config/load-node-config.ts';
import { navigation } from '../../state/navigation.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigShape, NodeView } from '../../state/view.ts';
import { useResource } from '../../ui/hooks.ts';
import { FailureNote, Loading } from '../../ui/notes.tsx';
import { ConfigPanel } from './config-panel.tsx';

/** A configuration rarely changes, but its file on disk may at any time. */
const REFRESH_MS = 30_000;

/** The configuration tab of a node. */
export function NodeConfig({ view }: { view: NodeView }) {
  const { shape, ...asText } = view;
  return (
    <LoadedConfig
      key={view.id}
      id={view.id}
      text={view.text}
      shape={shape ?? 'text'}
      onText={(text) => navigation.go({ ...view, text }, { replace: true })}
      onShape={(next) => navigation.go(next === 'text' ? asText : { ...view, shape: next })}
    />
  );
}

interface LoadedConfigProps {
  id: string;
  /** The text searched for. */
  text: string;
  shape: ConfigShape | 'text';
  onText: (text: string) => void;
  onShape: (shape: ConfigShape | 'text') => void;
}

export function LoadedConfig({ id, ...shown }: LoadedConfigProps) {
  const resource = useMemo(
    () => new Resource((signal) => loadNodeConfig(session.client.cluster, id, { signal }), { everyMs: REFRESH_MS }),
    [id],
  );
  const { value, asOfMs, failure } = useResource(resource);
  return (
    <div class="node-config">
      {failure && (
        <FailureNote what="The configuration" failure={failure} asOfMs={asOfMs} onRetry={() => resource.reload()} />
      )}
      {value && <ConfigPanel known={value} {...shown} onRetry={() => resource.reload()} />}
      {!value && !failure && <Loading what={`the configuration of ${id}`} />}
    </div>
  );
}
