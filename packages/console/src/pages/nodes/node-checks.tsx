import type { ClusterNode, NodeDescription } from '@porthole/client';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { Card } from '../../ui/controls.tsx';
import { formatCounted, formatSpan } from '../../ui/format.ts';
import { useLoaded, useResource } from '../../ui/hooks.ts';
import { LoadedNote } from '../../ui/notes.tsx';
import { clockText, isClockOff, stateText, waitingText } from './node-health.ts';

const DESCRIPTION_MS = 10_000;

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
  const { id } = node;
  const description = useLoaded(id, (signal) => session.client.cluster.member(id).describe({ signal }), {
    everyMs: DESCRIPTION_MS,
  });
  const about = description.value;
  const all = [...seenChecks(node, self), ...archiveChecks(about)];
  const passed = all.filter(({ isOk }) => isOk);
  return (
    <>
      <CheckList checks={all.filter(({ isOk }) => !isOk)} />
      <details class="card-note">
        <summary>{passed.length === 1 ? '1 check passes' : `${passed.length} checks pass`}</summary>
        <CheckList checks={passed} />
      </details>
      <LoadedNote loaded={description} what="The description" />
      {about && (
        <p class="dim wraps card-note">
          {about.observes === 'self' ? 'Shows its own logs' : 'Shows the service beside it'} · Porthole{' '}
          {about.versions.porthole} · Node.js {about.versions.node} · {about.capabilities.length} operations
        </p>
      )}
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

function archiveChecks(about: NodeDescription | null): Check[] {
  if (!about?.archive) return [];
  const { problem, lostBytes, shippedRecords } = about.archive;
  const shipped = `${formatCounted(shippedRecords, 'record')} shipped since its start`;
  const detail = [...(problem === null ? [] : [problem]), waitingText(about.archive), shipped].join(' · ');
  return [{ name: 'archive', isOk: problem === null && lostBytes === 0, detail }];
}
