import type { ClusterNode, NodeDescription } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { cluster } from '../../state/cluster.ts';
import type { Resource } from '../../state/resource.ts';
import { formatSpan } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { FailureNote } from '../../ui/notes.tsx';
import { stateText } from '../cluster/node-health.ts';
import { readinessResource } from './node-resources.ts';

interface HealthCardProps {
  node: ClusterNode;
  description: Resource<NodeDescription>;
}

/** Readiness checks of the node and the operations it supports. */
export function HealthCard({ node, description }: HealthCardProps) {
  const { value, asOfMs, failure } = useResource(description);
  return (
    <section class="card list-card" aria-labelledby="health-title">
      <div class="card-head">
        <h2 id="health-title">Health</h2>
      </div>
      {node.isSelf ? <OwnHealth /> : <ReportedHealth node={node} />}
      {failure && node.state === 'up' && (
        <FailureNote what="The description" failure={failure} asOfMs={asOfMs} onRetry={() => description.reload()} />
      )}
      {value && (
        <details class="capabilities">
          <summary>{value.capabilities.length} operations supported</summary>
          <ul>
            {value.capabilities.map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function OwnHealth() {
  const readiness = useMemo(() => readinessResource(), []);
  const { value, asOfMs, failure } = useResource(readiness);
  if (failure)
    return (
      <FailureNote what="The health checks" failure={failure} asOfMs={asOfMs} onRetry={() => readiness.reload()} />
    );
  if (!value) return null;
  return (
    <ul class="check-list">
      <Check name="Overall" isOk={value.status === 'ready'} detail={value.status} />
      {value.checks.map(({ name, ok, detail }) => (
        <Check key={name} name={name} isOk={ok} detail={detail} />
      ))}
    </ul>
  );
}

/** The health of another node, as the node that serves this page sees it. */
function ReportedHealth({ node }: { node: ClusterNode }) {
  const { value } = useResource(cluster);
  const self = value?.nodes.find(({ isSelf }) => isSelf)?.id ?? 'this node';
  const isUp = node.state === 'up';
  const reportText = isUp
    ? `responded within ${formatSpan(node.report.elapsedMs)}`
    : (node.report.detail ?? stateText(node));
  return (
    <ul class="check-list">
      <Check name={`Seen from ${self}`} isOk={isUp} detail={reportText} />
    </ul>
  );
}

function Check({ name, isOk, detail }: { name: string; isOk: boolean; detail: string }) {
  return (
    <li>
      <span class={isOk ? 'ok' : 'problem'}>{isOk ? '✓' : '✗'}</span>
      <span class="sr-only">{isOk ? 'passed: ' : 'failed: '}</span>
      <span class="check-name">{name}</span>
      <span class="dim">{detail}</span>
    </li>
  );
}
