import type { ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { cluster } from '../../state/resource.ts';
import { type NodeView, nodeLogs, nodeView, recordedView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { NodeDot } from '../../ui/controls.tsx';
import { formatBytes, formatCounted, formatShortTime, formatSpan } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { Loading, ResourceNote } from '../../ui/notes.tsx';
import { NodeConfig } from '../config/config-page.tsx';
import { matchingFamilies } from './file-families.ts';
import { FileTable } from './file-table.tsx';
import { isDegraded, stateText } from './node-health.ts';
import { NodeOverview, ReportNote } from './node-overview.tsx';
import { filesResource } from './node-resources.ts';

const TABS = [
  { tab: 'overview', name: 'Overview' },
  { tab: 'config', name: 'Configuration' },
  { tab: 'logs', name: 'Log files' },
] as const;

/** The page of one node: overview, configuration and log files. */
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
            class="tab"
            href={viewUrl(nodeView(id, part.tab))}
            aria-current={part.tab === tab ? 'page' : undefined}
          >
            {part.name}
          </a>
        ))}
        <a class="tab" href={viewUrl(nodeLogs(id))}>
          Logs →
        </a>
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
      <h1>No node named {id}</h1>
      <p>It may have left the cluster. Known nodes:</p>
      <ul>
        {known.map((other) => (
          <li key={other}>
            <a href={viewUrl(nodeView(other))}>{other}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NodeHead({ node }: { node: ClusterNode }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  const isUp = node.state === 'up';
  return (
    <div class="node-head">
      <h1>
        <NodeDot id={node.id} isOff={!isUp} />
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
            <a href={viewUrl(recordedView(node.id))}>recorded lines →</a>
          </>
        )}
        {!isUp && node.report.detail && <span class="dim"> · {node.report.detail}</span>}
      </p>
    </div>
  );
}

/** All log files of a node, by log. */
function NodeLogs({ id, text }: { id: string; text: string }) {
  const files = useMemo(() => filesResource(id), [id]);
  const { value } = useResource(files);
  const families = value ? matchingFamilies(value.families, text) : [];
  const sizeBytes = value?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
  return (
    <div class="node-logs">
      <div class="flex wrap files-head">
        <input
          type="search"
          aria-label="Files whose name contains"
          placeholder="File name contains"
          value={text}
          onInput={({ currentTarget }) => navigation.go(nodeView(id, 'logs', currentTarget.value), { replace: true })}
        />
        {value && (
          <span class="dim">
            {formatCounted(value.families.length, 'log')} · {formatCounted(value.files.length, 'file')} ·{' '}
            {formatBytes(sizeBytes)}
          </span>
        )}
      </div>
      <ResourceNote resource={files} what="The files" />
      {families.length > 0 && <FileTable id={id} families={families} />}
      {value && families.length === 0 && (
        <p class="dim">{value.files.length === 0 ? 'No log files' : `No file name contains "${text}"`}</p>
      )}
      <ReportNote report={value?.report ?? null} />
    </div>
  );
}
