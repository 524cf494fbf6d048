import type { ClusterNode, NodeDescription } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { preferences } from '../../state/preferences.ts';
import type { Resource } from '../../state/resource.ts';
import { formatDate, formatSecond, formatSpan } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { Unknown } from '../../ui/notes.tsx';
import { clockText, isClockOff } from '../cluster/node-health.ts';

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
