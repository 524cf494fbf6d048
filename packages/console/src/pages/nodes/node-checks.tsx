import { type ClusterNode, type NodeDescription, PortholeError } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { cluster, Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { Card } from '../../ui/controls.tsx';
import { formatCount, formatSpan } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { ResourceNote } from '../../ui/notes.tsx';
import { clockText, isClockOff, stateText, waitingText } from './node-health.ts';

const CHECKS_MS = 10_000;

interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

/** Whether the node is ready, and the checks this depends on. */
interface Readiness {
  status: string;
  checks: Check[];
}

/** What is wrong with a node; what is not is folded. */
export function ChecksCard({ node }: { node: ClusterNode }) {
  const self = useResource(cluster).value?.nodes.find((member) => member.isSelf)?.id ?? 'this node';
  return (
    <Card id="health-title" title="Health">
      {node.state === 'up' ? (
        <UpChecks node={node} self={self} />
      ) : (
        <CheckList checks={[{ name: `Seen from ${self}`, ok: false, detail: node.report.detail ?? stateText(node) }]} />
      )}
    </Card>
  );
}

function UpChecks({ node, self }: { node: ClusterNode; self: string }) {
  const { id, isSelf } = node;
  const { description, readiness } = useMemo(() => {
    const every = { everyMs: CHECKS_MS };
    return {
      description: new Resource((signal) => session.client.cluster.member(id).describe({ signal }), every),
      // The others reject requests from another origin.
      readiness: new Resource<Readiness>(
        async (signal) =>
          isSelf ? readReadiness((path) => session.fetch(path, { signal })) : { status: '', checks: [] },
        every,
      ),
    };
  }, [id, isSelf]);
  const about = useResource(description).value;
  const own = useResource(readiness).value?.checks ?? [];
  const all = [...own, ...(isSelf ? [] : seenChecks(node, self)), ...archiveChecks(about)];
  const passed = all.filter(({ ok }) => ok);
  return (
    <>
      <ResourceNote resource={description} what="The description" />
      <ResourceNote resource={readiness} what="The health checks" />
      <CheckList checks={all.filter(({ ok }) => !ok)} />
      {passed.length > 0 && (
        <details class="card-note">
          <summary>{passed.length === 1 ? '1 check passes' : `${passed.length} checks pass`}</summary>
          <CheckList checks={passed} />
        </details>
      )}
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
      {checks.map(({ name, ok, detail }) => (
        <li key={name} class="card-row">
          <span class={ok ? 'ok' : 'problem'} aria-hidden="true">
            {ok ? '✓' : '✗'}
          </span>
          <span class="wraps">
            <span class="sr-only">{ok ? 'passed: ' : 'failed: '}</span>
            <b>{name}</b> <span class="dim">{detail}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The health of another node, as the node that serves this page sees it. */
function seenChecks({ problems, report, clock }: ClusterNode, self: string): Check[] {
  return [
    ...problems.map(({ check, detail }) => ({ name: check, ok: false, detail })),
    { name: `Seen from ${self}`, ok: true, detail: `responded within ${formatSpan(report.elapsedMs)}` },
    ...(clock
      ? [{ name: 'clock', ok: !isClockOff(clock), detail: `${clockText(clock)}; timestamps are corrected` }]
      : []),
  ];
}

function archiveChecks(about: NodeDescription | null): Check[] {
  if (!about?.archive) return [];
  const { problem, lostBytes, shippedRecords } = about.archive;
  const shipped = `${formatCount(shippedRecords)} records shipped since its start`;
  const detail = [...(problem === null ? [] : [problem]), waitingText(about.archive), shipped].join(' · ');
  return [{ name: 'archive', ok: problem === null && lostBytes === 0, detail }];
}

/** Requests the readiness of the node. A stopping node responds, too, with 503. */
export async function readReadiness(fetch: (path: string) => Promise<Response>): Promise<Readiness> {
  const response = await fetch('/health/ready');
  const body = await readJson(response);
  if (!isReadiness(body)) throw new PortholeError('BAD_ANSWER', `/health/ready responded with ${response.status}`);
  return body;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isReadiness(body: unknown): body is Readiness {
  if (typeof body !== 'object' || body === null) return false;
  const { status, checks } = body as Partial<Record<keyof Readiness, unknown>>;
  return typeof status === 'string' && Array.isArray(checks);
}
