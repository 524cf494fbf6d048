import { useMemo } from 'preact/hooks';
import { loadNodeConfig } from '../../config/load-node-config.ts';
import { navigation } from '../../state/navigation.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useResource } from '../../ui/use-resource.ts';
import { ConfigPanel } from './config-panel.tsx';

/** A configuration changes rarely, but its file on disk may at any time. */
const REFRESH_MS = 30_000;

/** The configuration of one node, as a part of its page. */
export function NodeConfig({ id, text }: { id: string; text: string }) {
  const onText = (next: string) => navigation.go({ page: 'node', id, tab: 'config', text: next }, { replace: true });
  return <LoadedConfig key={id} id={id} text={text} onText={onText} />;
}

interface LoadedConfigProps {
  id: string;
  /** What is looked for in it. */
  text: string;
  onText: (text: string) => void;
}

export function LoadedConfig({ id, text, onText }: LoadedConfigProps) {
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
      {value && <ConfigPanel known={value} text={text} onText={onText} onRetry={() => resource.reload()} />}
      {!value && !failure && <Loading what={`the configuration of ${id}`} />}
    </div>
  );
}
