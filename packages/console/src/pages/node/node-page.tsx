import { cluster } from '../../state/cluster.ts';
import { ALL_LOGS, type NodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { Loading } from '../../ui/loading.tsx';
import { NodeConfig } from '../config/node-config.tsx';
import { NodeHead } from './node-head.tsx';
import { NodeLogs } from './node-logs.tsx';
import { NodeOverview } from './node-overview.tsx';

const TABS = [
  { tab: 'overview', name: 'Overview' },
  { tab: 'config', name: 'Configuration' },
  { tab: 'logs', name: 'Log files' },
] as const;

/** One node: how it is, how it is set up, what it writes. */
export function NodePage({ view }: { view: NodeView }) {
  const { id, tab, text } = view;
  const { value, failure } = useResource(cluster);
  const node = value?.nodes.find((member) => member.id === id);
  if (value && !node) return <NoSuchNode id={id} known={value.nodes.map((member) => member.id)} />;
  return (
    <div class="node-page">
      {node ? <NodeHead node={node} /> : <h1>{id}</h1>}
      <nav class="tabs" aria-label={`Parts of ${id}`}>
        {TABS.map((part) => (
          <a
            key={part.tab}
            href={viewUrl({ page: 'node', id, tab: part.tab, text: '' })}
            aria-current={part.tab === tab ? 'page' : undefined}
          >
            {part.name}
          </a>
        ))}
        <a href={viewUrl({ ...ALL_LOGS, sources: [{ node: id, log: null }] })}>Read its logs →</a>
      </nav>
      {tab === 'overview' && (node ? <NodeOverview key={id} node={node} /> : !failure && <Loading what="the node" />)}
      {tab === 'config' && <NodeConfig view={view} />}
      {tab === 'logs' && <NodeLogs key={id} id={id} text={text} />}
    </div>
  );
}

function NoSuchNode({ id, known }: { id: string; known: readonly string[] }) {
  return (
    <div class="page-text">
      <h1>No node is called {id}</h1>
      <p>It may have left the cluster. These are known:</p>
      <ul>
        {known.map((other) => (
          <li key={other}>
            <a href={viewUrl({ page: 'node', id: other, tab: 'overview', text: '' })}>{other}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}
