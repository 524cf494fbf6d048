import type { ClusterNodes } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { navigation } from '../state/navigation.ts';
import { preferences } from '../state/preferences.ts';
import { cluster, type ResourceState, startVersion } from '../state/resource.ts';
import { session } from '../state/session.ts';
import { viewUrl, withoutBase } from '../state/view-url.ts';
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
      <VersionNotice nodes={nodes.value} />
    </div>
  );
}

interface NoticeProps {
  isAlert?: boolean;
  role?: 'alert' | 'status';
  children: ComponentChildren;
}

function Notice({ isAlert = false, role = isAlert ? 'alert' : 'status', children }: NoticeProps) {
  return (
    <div class={isAlert ? 'notice is-err' : 'notice'} role={role}>
      <Icon name="alert" />
      {children}
    </div>
  );
}

/** Lists the URL parameters that were ignored: the view may show more than the link meant to. */
function AddressNotice() {
  const problems = useStore(navigation.problems);
  if (problems.length === 0) return null;
  return (
    <Notice role="alert">
      <span>
        <strong>Part of this link was ignored.</strong> {problems.join(' · ')}
      </span>
      <Button onClick={() => navigation.problems.set([])}>Dismiss</Button>
    </Notice>
  );
}

function NodeNotice({ nodes }: { nodes: ResourceState<ClusterNodes> }) {
  const isDeclined = useStore(session.isDeclined);
  const via = useStore(session.via);
  const offered = useStore(session.offered);
  if (isDeclined)
    return (
      <Notice>
        <strong>This node requires a token.</strong>
        <Button
          onClick={() => {
            session.openTokenDialog();
            cluster.reload();
          }}
        >
          Enter a token
        </Button>
      </Notice>
    );
  if (via) return <DetourNotice via={via} />;
  if (offered)
    return (
      <Notice isAlert>
        <span>
          <strong>{session.home.id} does not respond.</strong> {offered.id} does; your token would be sent to{' '}
          {offered.url}
        </span>
        <Button
          onClick={() => {
            session.agree();
            cluster.reload();
          }}
        >
          Read through {offered.id}
        </Button>
      </Notice>
    );
  // An error response still means that the node is up; the page that sent the request shows it.
  if (nodes.failure && nodes.failure.status === null) return <OfflineNotice nodes={nodes} />;
  if (nodes.value?.membership.state === 'stale') return <StaleNotice membership={nodes.value.membership} />;
  return null;
}

/** Links of this page still lead to its own node: the same page of the other one survives a reload. */
function DetourNotice({ via: { id, url } }: { via: { id: string; url: string } }) {
  const view = useStore(navigation.view);
  return (
    <Notice>
      <span>
        <strong>
          {session.home.id} does not respond; reading through {id}.
        </strong>{' '}
        <a href={url + withoutBase(viewUrl(view))}>Open the page of {id}</a>
      </span>
    </Notice>
  );
}

function OfflineNotice({ nodes: { asOfMs, failure } }: { nodes: ResourceState<ClusterNodes> }) {
  const zone = useStore(preferences.zone);
  if (!failure) return null;
  return (
    <Notice isAlert>
      <span>
        <strong>
          {session.home.id} has not responded since {formatSecond(failure.sinceMs, zone)}
        </strong>
        {asOfMs === null ? ' · nothing has been loaded yet' : ` · showing data as of ${formatSecond(asOfMs, zone)}`}
        <span class="dim"> · retrying</span>
      </span>
      <Button title={failure.detail} onClick={() => cluster.reload()}>
        Retry now
      </Button>
    </Notice>
  );
}

function StaleNotice({ membership: { kind, detail, asOfMs } }: { membership: ClusterNodes['membership'] }) {
  const nowMs = useNow();
  const zone = useStore(preferences.zone);
  return (
    <Notice>
      <span>
        <strong>The registry ({kind}) is not responding.</strong> Showing the last known members,{' '}
        <span title={formatSecond(asOfMs, zone)}>{formatAge(asOfMs, nowMs)}</span>
        {detail && `: ${detail}`}
      </span>
    </Notice>
  );
}

/** Asked once for each version: nothing is reloaded by itself, which could lose what somebody reads, or go on forever. */
function VersionNotice({ nodes }: { nodes: ClusterNodes | null }) {
  const first = useStore(startVersion);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const self = nodes?.nodes.find(({ isSelf }) => isSelf);
  const version = self?.node.version;
  if (!version || !first || self.id !== first.id || version === first.version || version === dismissed) return null;
  return (
    <Notice>
      <span>
        <strong>
          {self.id} now runs version {version}.
        </strong>{' '}
        This page is of version {first.version}.
      </span>
      <Button onClick={() => location.reload()}>Reload</Button>
      <Button class="is-quiet" onClick={() => setDismissed(version)}>
        Later
      </Button>
    </Notice>
  );
}
