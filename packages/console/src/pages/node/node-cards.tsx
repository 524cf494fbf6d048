import type { ClusterNode, NodeDescription } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { cluster } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import type { Resource } from '../../state/resource.ts';
import { formatDate, formatSecond, formatSpan } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { FailureNote, Unknown } from '../../ui/notes.tsx';
import { clockText, isClockOff, shippingText, stateText } from '../cluster/node-health.ts';
import { readinessResource } from './node-resources.ts';

interface IdentityCardProps {
  node: ClusterNode;
  description: Resource<NodeDescription>;
}

const NOT_REPORTED = 'not reported, or the node is not responding';

/** Host, ports, versions and clock of a node. */
export function IdentityCard({ node, description }: IdentityCardProps) {
  const { value } = useResource(description);
  const { hostName, hostIp, httpPort, grpcPort, version } = node.node;
  return (
    <section class="card list-card" aria-labelledby="identity-title">
      <div class="card-head">
        <h2 id="identity-title">Identity</h2>
      </div>
      <dl class="facts">
        <Fact name="Host">
          {hostName && hostName !== hostIp ? `${hostName} ` : ''}
          <span class="mono dim">{hostIp}</span>
        </Fact>
        <Fact name="Ports">
          HTTP {httpPort}
          {grpcPort !== 0 && ` · gRPC ${grpcPort}`}
        </Fact>
        <Fact name="Version">
          {version || <Unknown why={NOT_REPORTED} />}
          {value && (
            <span class="dim">
              {' '}
              · Porthole {value.versions.porthole} · Node.js {value.versions.node}
            </span>
          )}
        </Fact>
        <Fact name="Shows">{value ? observedText(value) : <Unknown why={NOT_REPORTED} />}</Fact>
        <UpSince node={node} />
        <Fact name="Clock">
          <ClockFact node={node} />
        </Fact>
        <Fact name="Time zone">{node.timeZone ?? <Unknown why={NOT_REPORTED} />}</Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function UpSince({ node }: { node: ClusterNode }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const { onlineTime } = node.node;
  return (
    <Fact name="Up since">
      {onlineTime ? (
        `${formatDate(onlineTime, zone)} ${formatSecond(onlineTime, zone)}`
      ) : (
        <Unknown why="it has never responded" />
      )}
      {node.state === 'up' && <span class="dim"> · {formatSpan(nowMs - onlineTime)}</span>}
    </Fact>
  );
}

function ClockFact({ node: { clock, isSelf, state } }: { node: ClusterNode }) {
  if (isSelf) return <>this node's clock: all times shown are relative to it</>;
  if (!clock || state !== 'up') return <Unknown why="clock not compared: the node is not responding" />;
  return (
    <span class={isClockOff(clock) ? 'warning' : undefined}>
      {clockText(clock)}
      <span class="dim"> · timestamps corrected by this</span>
    </span>
  );
}

function observedText({ observes }: NodeDescription): string {
  return observes === 'self' ? 'its own configuration and logs' : 'the configuration and logs of the service beside it';
}

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
      {node.isSelf ? <OwnHealth /> : <ReportedHealth node={node} archive={value?.archive} />}
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
function ReportedHealth({ node, archive }: { node: ClusterNode; archive: NodeDescription['archive'] }) {
  const { value } = useResource(cluster);
  const self = value?.nodes.find(({ isSelf }) => isSelf)?.id ?? 'this node';
  const isUp = node.state === 'up';
  const reportText = isUp
    ? `responded within ${formatSpan(node.report.elapsedMs)}`
    : (node.report.detail ?? stateText(node));
  return (
    <ul class="check-list">
      <Check name={`Seen from ${self}`} isOk={isUp} detail={reportText} />
      {archive && isUp && (
        <Check
          name="archive"
          isOk={archive.problem === null && archive.lostBytes === 0}
          detail={shippingText(archive)}
        />
      )}
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
