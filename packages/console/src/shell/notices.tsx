import type { ClusterNodes } from '@porthole/client';
import { navigation } from '../state/navigation.ts';
import { preferences } from '../state/preferences.ts';
import { cluster, type ResourceState } from '../state/resource.ts';
import { session } from '../state/session.ts';
import { Button } from '../ui/controls.tsx';
import { formatAge, formatSecond } from '../ui/format.ts';
import { useNow, useStore } from '../ui/hooks.ts';
import { Icon } from '../ui/icon.tsx';

/** Problems that affect every page; each notice disappears once its problem is over. */
export function Notices({ nodes }: { nodes: ResourceState<ClusterNodes> }) {
  return (
    <div class="notices">
      <AddressNotice />
      <NodeNotice nodes={nodes} />
    </div>
  );
}

/** Lists the URL parameters that were ignored: the view may show more than the link meant to. */
function AddressNotice() {
  const problems = useStore(navigation.problems);
  if (problems.length === 0) return null;
  return (
    <div class="notice" role="alert">
      <Icon name="alert" />
      <span>
        <strong>Part of this link was ignored.</strong> {problems.join(' · ')}
      </span>
      <Button onClick={() => navigation.problems.set([])}>Dismiss</Button>
    </div>
  );
}

function NodeNotice({ nodes }: { nodes: ResourceState<ClusterNodes> }) {
  const isDeclined = useStore(session.isDeclined);
  if (isDeclined) return <TokenNotice />;
  // An error response still means that the node is up; the page that sent the request shows it.
  if (nodes.failure && nodes.failure.status === null) return <OfflineNotice nodes={nodes} />;
  if (nodes.value?.membership.state === 'stale') return <StaleNotice membership={nodes.value.membership} />;
  return null;
}

function TokenNotice() {
  return (
    <div class="notice" role="status">
      <Icon name="alert" />
      <span>
        <strong>This node requires a token.</strong>
      </span>
      <Button onClick={() => reopenTokenDialog()}>Enter a token</Button>
    </div>
  );
}

function reopenTokenDialog(): void {
  session.openTokenDialog();
  cluster.reload();
}

function OfflineNotice({ nodes: { value, asOfMs, failure } }: { nodes: ResourceState<ClusterNodes> }) {
  const zone = useStore(preferences.zone);
  const self = value?.nodes.find(({ isSelf }) => isSelf)?.id ?? 'The node';
  if (!failure) return null;
  return (
    <div class="notice is-err" role="alert">
      <Icon name="alert" />
      <span>
        <strong>
          {self} has not responded since {formatSecond(failure.sinceMs, zone)}
        </strong>
        {asOfMs === null ? ' · nothing has been loaded yet' : ` · showing data as of ${formatSecond(asOfMs, zone)}`}
        <span class="dim"> · retrying</span>
      </span>
      <Button title={failure.detail} onClick={() => cluster.reload()}>
        Retry now
      </Button>
    </div>
  );
}

function StaleNotice({ membership: { kind, detail, asOfMs } }: { membership: ClusterNodes['membership'] }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  return (
    <div class="notice" role="status">
      <Icon name="alert" />
      <span>
        <strong>The registry ({kind}) is not responding.</strong> Showing the last known members,{' '}
        <span title={formatSecond(asOfMs, zone)}>{formatAge(asOfMs, nowMs)}</span>
        {detail && `: ${detail}`}
      </span>
    </div>
  );
}
