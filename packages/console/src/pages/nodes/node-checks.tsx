import type { ClusterNode } from '@porthole/client';
import { cluster } from '../../state/resource.ts';
import { Card } from '../../ui/controls.tsx';
import { formatSpan } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { clockText, isClockOff, stateText, waitingText } from './node-health.ts';

interface Check {
  name: string;
  isOk: boolean;
  detail: string;
}

/** What is wrong with a node; what is not is folded. */
export function ChecksCard({ node }: { node: ClusterNode }) {
  const self = useResource(cluster).value?.nodes.find((member) => member.isSelf)?.id ?? 'this node';
  return (
    <Card id="health-title" title="Health">
      {node.state === 'up' ? <UpChecks node={node} self={self} /> : <CheckList checks={seenChecks(node, self)} />}
    </Card>
  );
}

function UpChecks({ node, self }: { node: ClusterNode; self: string }) {
  const all = [...seenChecks(node, self), ...archiveChecks(node)];
  const passed = all.filter(({ isOk }) => isOk);
  return (
    <>
      <CheckList checks={all.filter(({ isOk }) => !isOk)} />
      <details class="card-note">
        <summary>{passed.length === 1 ? '1 check passes' : `${passed.length} checks pass`}</summary>
        <CheckList checks={passed} />
      </details>
    </>
  );
}

function CheckList({ checks }: { checks: readonly Check[] }) {
  return (
    <ul>
      {checks.map(({ name, isOk, detail }) => (
        <li key={name} class="card-row">
          <span class={isOk ? 'ok' : 'problem'} aria-hidden="true">
            {isOk ? '✓' : '✗'}
          </span>
          <span class="wraps">
            <span class="sr-only">{isOk ? 'passed: ' : 'failed: '}</span>
            <b>{name}</b> <span class="dim">{detail}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The health of a node, as the node that serves this page sees it. */
function seenChecks(node: ClusterNode, self: string): Check[] {
  const { problems, report, clock, state } = node;
  const isUp = state === 'up';
  const detail = isUp ? `responded within ${formatSpan(report.elapsedMs)}` : (report.detail ?? stateText(node));
  return [
    ...problems.map((problem) => ({ name: problem.check, isOk: false, detail: problem.detail })),
    { name: `Seen from ${self}`, isOk: isUp, detail },
    ...(isUp && clock && !node.isSelf
      ? [{ name: 'clock', isOk: !isClockOff(clock), detail: `${clockText(clock)}; timestamps are corrected` }]
      : []),
  ];
}

/** A failing check of the archive is among the problems of the node. */
function archiveChecks({ archive, problems }: ClusterNode): Check[] {
  if (!archive || problems.some(({ check }) => check === 'archive')) return [];
  return [{ name: 'archive', isOk: archive.lostBytes === 0, detail: waitingText(archive) }];
}
