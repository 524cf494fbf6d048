import type { ClusterConfigDiff, NodeSettings } from '@porthole/client';
import { absenceText, coverageOf } from '@porthole/contract';
import { cluster } from '../../state/resource.ts';
import { ALL_CONFIG, nodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Chip } from '../../ui/controls.tsx';
import { showValue } from '../../ui/format.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { CardList, LoadedCard } from '../../ui/loaded-card.tsx';
import { useDrift } from '../nodes/node-resources.ts';
import { DriftList, driftRows } from '../nodes/node-settings.tsx';
import { ownSettings } from './overview-resources.ts';

const SHOWN_SETTINGS = 8;

interface DriftCardProps {
  labels: readonly string[];
  /** Nodes whose absence the page has named already. */
  known: readonly string[];
  names: ReadonlyMap<string, string>;
}

/** Keys that differ unexpectedly between nodes of one role. */
export function DriftCard({ labels, known, names }: DriftCardProps) {
  const all = { ...ALL_CONFIG, tab: 'compare', labels } as const;
  return (
    <LoadedCard
      id="drift-title"
      title="Configuration"
      loaded={useDrift(labels)}
      what="The configuration"
      loading="the configuration of all nodes"
      known={known}
      aside={(value) => {
        const count = value ? driftRows(value).length : 0;
        return (
          <>
            {count > 0 && <Chip tone="warn">{count === 1 ? '1 key differs' : `${count} keys differ`}</Chip>}
            <a href={viewUrl(all)}>Compare</a>
          </>
        );
      }}
    >
      {(value) => {
        const rows = driftRows(value);
        return (
          <>
            <DriftList
              {...{ rows, names }}
              hrefOf={({ role, key }) => viewUrl({ ...all, role, text: key })}
              allHref={viewUrl(all)}
            />
            <p class="dim wraps card-note">{restText(value, rows.length)}</p>
          </>
        );
      }}
    </LoadedCard>
  );
}

/** What else was compared: `14 keys differ as expected (addresses, directories, ids) · 212 are the same everywhere` */
function restText(response: ClusterConfigDiff, differing: number): string {
  const all = response.roles.reduce((sum, { comparedKeys }) => sum + comparedKeys, 0);
  const expected = response.roles.flatMap(({ differences }) =>
    differences.filter(({ isExpected }) => isExpected),
  ).length;
  const same = Math.max(0, all - expected - differing);
  const parts = [
    ...(expected > 0
      ? [`${expected} ${expected === 1 ? 'key differs' : 'keys differ'} as expected (addresses, directories, ids)`]
      : []),
    `${same} are the same on ${coverageOf(response).isComplete ? 'all nodes' : 'those that were read'}`,
  ];
  if (differing > 0) return parts.join(' · ');
  return `${absenceText('No configuration key differs', coverageOf(response))} · ${parts.join(' · ')}`;
}

/** Settings that differ from their defaults, for a node without a cluster. */
export function SettingsCard() {
  const id = useStore(cluster.state).value?.nodes[0]?.id ?? '';
  const configUrl = viewUrl(nodeView(id, 'config'));
  return (
    <LoadedCard
      id="settings-title"
      title={settingsTitle}
      loaded={useResource(ownSettings)}
      what="The settings"
      aside={() => <a href={configUrl}>All settings</a>}
    >
      {({ settings, file }) => (
        <>
          <CardList
            items={settings.filter(({ changed }) => changed)}
            most={SHOWN_SETTINGS}
            kind="setting"
            keyOf={({ key }) => key}
            hrefOf={({ key }) => viewUrl(nodeView(id, 'config', key))}
            more={(count) => <a href={configUrl}>{count} more</a>}
          >
            {(entry) => (
              <>
                <span class="mono">{entry.key}</span>
                <span>
                  <b class="mono value">{showValue(entry.value).text}</b>{' '}
                  <span class="dim">
                    {entry.default !== null && `default ${showValue(entry.default).text} · `}
                    {entry.source}
                  </span>
                </span>
              </>
            )}
          </CardList>
          {settings.every(({ changed }) => changed === null) && (
            <p class="dim wraps card-note">
              {settings.length} keys, read from <code>{file}</code>. Their defaults are unknown.
            </p>
          )}
        </>
      )}
    </LoadedCard>
  );
}

function settingsTitle({ settings }: NodeSettings): string {
  const count = settings.filter(({ changed }) => changed).length;
  if (settings.every(({ changed }) => changed === null)) return 'Settings';
  if (count === 0) return 'All settings at their defaults';
  return count === 1 ? '1 setting changed' : `${count} settings changed`;
}
