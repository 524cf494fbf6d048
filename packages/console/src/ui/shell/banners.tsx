import type { ClusterNodes } from '@porthole/client';
import { cluster } from '../../state/cluster.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import type { ResourceState } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { formatAge, formatSecond } from '../format.ts';
import { useNow } from '../hooks/use-now.ts';
import { useStore } from '../hooks/use-store.ts';

/** What is wrong with all that is shown, whatever the page; each goes by itself when it is over. */
export function Banners({ nodes }: { nodes: ResourceState<ClusterNodes> }) {
  return (
    <>
      <AddressBanner />
      <NodeBanner nodes={nodes} />
    </>
  );
}

/** What of the address was ignored: a view that shows more than was asked for must not look like it. */
function AddressBanner() {
  const problems = useStore(navigation.problems);
  if (problems.length === 0) return null;
  return (
    <div class="banner" role="alert">
      <span>
        <strong>Part of this address is ignored.</strong> {problems.join(' · ')}
      </span>
      <button type="button" class="button" onClick={() => navigation.problems.set([])}>
        Dismiss
      </button>
    </div>
  );
}

function NodeBanner({ nodes }: { nodes: ResourceState<ClusterNodes> }) {
  const isDeclined = useStore(session.isDeclined);
  if (isDeclined) return <TokenBanner />;
  // An answer that says no is an answer: the page that asked shows it.
  if (nodes.failure && nodes.failure.status === null) return <OfflineBanner nodes={nodes} />;
  if (nodes.value?.membership.state === 'stale') return <StaleBanner membership={nodes.value.membership} />;
  return null;
}

function TokenBanner() {
  return (
    <div class="banner" role="status">
      <span>
        <strong>This node answers only with a token.</strong>
      </span>
      <button type="button" class="button" onClick={() => reopenTokenDialog()}>
        Enter token
      </button>
    </div>
  );
}

function reopenTokenDialog(): void {
  session.openTokenDialog();
  cluster.reload();
}

function OfflineBanner({ nodes: { value, asOfMs, failure } }: { nodes: ResourceState<ClusterNodes> }) {
  const zone = useStore(preferences.zone);
  const self = value?.nodes.find(({ isSelf }) => isSelf)?.id ?? 'The node';
  if (!failure) return null;
  return (
    <div class="banner banner-problem" role="alert">
      <span>
        <strong>
          {self} does not answer since {formatSecond(failure.sinceMs, zone)}
        </strong>
        {asOfMs === null ? ' · nothing has been loaded yet' : ` · what is shown is as of ${formatSecond(asOfMs, zone)}`}
        <span class="dim"> · asked again every few seconds</span>
      </span>
      <button type="button" class="button" title={failure.detail} onClick={() => cluster.reload()}>
        Ask now
      </button>
    </div>
  );
}

function StaleBanner({ membership: { kind, detail, asOfMs } }: { membership: ClusterNodes['membership'] }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  return (
    <div class="banner" role="status">
      <span>
        <strong>The registry ({kind}) does not answer.</strong> The members are those last known,{' '}
        <span title={formatSecond(asOfMs, zone)}>{formatAge(asOfMs, nowMs)}</span>
        {detail && `: ${detail}`}
      </span>
    </div>
  );
}
