import type { ClusterConfigDiff, ConfigDifference } from '@porthole/client';
import { isDrift } from '@porthole/contract';
import { preferences } from '../../state/preferences.ts';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { nodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Chip } from '../../ui/controls.tsx';
import { formatCounted, formatShortTime, showValue } from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { CardList, LoadedCard } from '../../ui/loaded-card.tsx';
import { useDrift } from './node-resources.ts';

const SHOWN = 6;

/** A key that differs unexpectedly. */
export interface DriftRow {
  role: string;
  key: string;
  /** The majority value; `null` if there is none. */
  most: string | null;
  outliers: { value: string; nodes: readonly string[] }[];
  /** How many nodes have the majority value. */
  others: number;
}

/** The keys of every role whose values differ in meaning and should not. */
export function driftRows({ roles }: ClusterConfigDiff): DriftRow[] {
  return roles.flatMap(({ role, differences }) =>
    differences.filter(isDrift).map((difference) => driftRow(role, difference)),
  );
}

function driftRow(role: string, { key, values }: ConfigDifference): DriftRow {
  const majority = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== majority && !value.isSameMeaning && !value.isNotCompared);
  return {
    role,
    key,
    most: majority ? showValue(majority.value).text : null,
    others: majority?.nodes.length ?? 0,
    outliers: others.map(({ value, nodes }) => ({ value: showValue(value).text, nodes })),
  };
}

/** In how many keys each node differs from the majority of its role. */
export function differingKeys(rows: readonly DriftRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const nodes = rows.flatMap(({ outliers }) => [...new Set(outliers.flatMap((outlier) => outlier.nodes))]);
  for (const id of nodes) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

interface DriftListProps {
  /** Short names of nodes. */
  names?: ReadonlyMap<string, string>;
  rows: readonly DriftRow[];
  hrefOf: (row: DriftRow) => string;
  /** Where all of them are. */
  allHref: string;
}

/** Each key with the values that few nodes have, and the value that most have. */
export function DriftList({ rows, names, hrefOf, allHref }: DriftListProps) {
  const nodesText = (ids: readonly string[]) =>
    ids.length <= 3 ? ids.map((id) => names?.get(id) ?? id).join(', ') : `${ids.length} nodes`;
  return (
    <CardList
      items={rows}
      most={SHOWN}
      kind="setting"
      keyOf={({ role, key }) => `${role} ${key}`}
      hrefOf={hrefOf}
      more={(count) => <a href={allHref}>{count} more</a>}
    >
      {(row) => (
        <>
          <span class="mono">{row.key}</span>
          {row.outliers.slice(0, SHOWN).map(({ value, nodes }) => (
            <span key={value}>
              <b class="mono warning value">{value}</b> <span class="dim">{nodesText(nodes)}</span>
            </span>
          ))}
          {row.most !== null && (
            <span>
              <span class="mono value">{row.most}</span> <span class="dim">{formatCounted(row.others, 'other')}</span>
            </span>
          )}
        </>
      )}
    </CardList>
  );
}

/** The configuration of a node in short: how many keys, since when, and where it differs from the others of its role. */
export function NodeSettingsCard({ id }: { id: string }) {
  const zone = useStore(preferences.zone);
  const history = useLoaded(id, (signal) => session.client.configHistory({ nodes: [id], limit: 1 }, { signal })).value;
  // Others are not what this is about.
  const known = useStore(cluster.state).value?.nodes.map((node) => node.id) ?? [];
  const [period] = history?.nodes[0]?.history?.periods ?? [];
  const href = viewUrl(nodeView(id, 'config'));
  return (
    <LoadedCard
      id="settings-title"
      title="Settings"
      loaded={useDrift([])}
      what="The settings"
      known={known}
      aside={() => <a href={href}>Configuration</a>}
    >
      {(diff) => {
        const rows = driftRows(diff).filter(({ outliers }) => outliers.some(({ nodes }) => nodes.includes(id)));
        const role = diff.roles.find(({ nodes }) => nodes.includes(id));
        const expected = role?.differences.filter(({ isExpected }) => isExpected).length ?? 0;
        const facts = [
          ...(role ? [formatCounted(role.comparedKeys, 'key')] : []),
          ...(period ? [`unchanged since ${formatShortTime(period.fromMs, zone, Date.now())}`] : []),
          ...(expected > 0 ? [`${expected} differ as expected between the nodes of its role`] : []),
        ];
        return (
          <>
            <p class="dim wraps card-note">
              {facts.join(' · ') || 'Its configuration is not known.'}{' '}
              {rows.length > 0 && (
                <Chip tone="warn">
                  {formatCounted(rows.length, 'key')} differ{rows.length === 1 && 's'}
                </Chip>
              )}
            </p>
            <DriftList rows={rows} hrefOf={({ key }) => viewUrl(nodeView(id, 'config', key))} allHref={href} />
          </>
        );
      }}
    </LoadedCard>
  );
}
