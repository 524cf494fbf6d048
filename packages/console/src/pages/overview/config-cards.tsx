import type { ClusterConfigDiff, ConfigDifference } from '@porthole/client';
import { absenceText, coverageOf, isDrift } from '@porthole/contract';
import { showValue } from '../../config/setting-values.ts';
import { cluster, type Resource } from '../../state/resource.ts';
import { ALL_CONFIG, nodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card, Chip } from '../../ui/controls.tsx';
import { useResource, useStore } from '../../ui/hooks.ts';
import { PartialNote, ResourceNote } from '../../ui/notes.tsx';
import { ownSettings } from './overview-resources.ts';

const SHOWN = 6;

const SHOWN_SETTINGS = 8;

interface DriftCardProps {
  drift: Resource<ClusterConfigDiff>;
  labels: readonly string[];
  /** Nodes whose absence the page has named already. */
  known: readonly string[];
}

/** Keys that differ unexpectedly between nodes of one role. */
export function DriftCard({ drift, labels, known }: DriftCardProps) {
  const { value } = useResource(drift);
  const all = { ...ALL_CONFIG, labels };
  const rows = value ? driftRows(value) : [];
  return (
    <Card
      id="drift-title"
      title="Configuration"
      aside={
        <>
          {rows.length > 0 && (
            <Chip tone="warn">{rows.length === 1 ? '1 key differs' : `${rows.length} keys differ`}</Chip>
          )}
          <a href={viewUrl(all)}>Compare</a>
        </>
      }
    >
      <ResourceNote resource={drift} what="The configuration" loading="the configuration of all nodes" />
      <ul class="card-list">
        {rows.slice(0, SHOWN).map((row) => (
          <li key={`${row.role} ${row.key}`}>
            <DriftKey row={row} href={viewUrl({ ...all, role: row.role, text: row.key })} />
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && (
        <p class="dim wraps card-note">
          <a href={viewUrl(all)}>{rows.length - SHOWN} more</a>
        </p>
      )}
      {value && <p class="dim wraps card-note">{restText(value, rows.length)}</p>}
      {value && <PartialNote answer={value} known={known} onRetry={() => drift.reload()} />}
    </Card>
  );
}

function DriftKey({ row: { key, most, outliers, others }, href }: { row: DriftRow; href: string }) {
  return (
    <a class="card-row setting" href={href}>
      <span class="mono">{key}</span>
      {outliers.map(({ value, nodes }) => (
        <span key={value}>
          <b class="mono warning value">{value}</b> <span class="dim">{nodes.join(', ')}</span>
        </span>
      ))}
      {most !== null && (
        <span>
          <span class="mono value">{most}</span>{' '}
          <span class="dim">{others === 1 ? '1 other' : `${others} others`}</span>
        </span>
      )}
    </a>
  );
}

/** What else was compared: `14 keys differ as expected (addresses, ids) · 212 are the same everywhere` */
function restText(answer: ClusterConfigDiff, differing: number): string {
  const all = answer.roles.reduce((sum, { comparedKeys }) => sum + comparedKeys, 0);
  const expected = answer.roles.flatMap(({ differences }) => differences.filter(({ isExpected }) => isExpected)).length;
  const same = Math.max(0, all - expected - differing);
  const parts = [
    ...(expected > 0
      ? [`${expected} ${expected === 1 ? 'key differs' : 'keys differ'} as expected (addresses, ids)`]
      : []),
    `${same} are the same on all nodes`,
  ];
  if (differing > 0) return parts.join(' · ');
  return `${absenceText('No configuration key differs', coverageOf(answer))} · ${parts.join(' · ')}`;
}

/** Settings that differ from their defaults, for a node without a cluster. */
export function SettingsCard() {
  const { value } = useResource(ownSettings);
  const id = useStore(cluster.state).value?.nodes[0]?.id ?? '';
  const changed = value?.settings.filter((entry) => entry.changed) ?? [];
  const isUnknown = value?.settings.every((entry) => entry.changed === null) ?? false;
  const configUrl = viewUrl(nodeView(id, 'config'));
  return (
    <Card
      id="settings-title"
      title={settingsTitle(value && !isUnknown ? changed.length : null)}
      aside={<a href={configUrl}>All settings</a>}
    >
      <ResourceNote resource={ownSettings} what="The settings" />
      <ul class="card-list">
        {changed.slice(0, SHOWN_SETTINGS).map((entry) => (
          <li key={entry.key}>
            <a class="card-row setting" href={viewUrl(nodeView(id, 'config', entry.key))}>
              <span class="mono">{entry.key}</span>
              <span>
                <b class="mono value">{showValue(entry.value).text}</b>{' '}
                <span class="dim">
                  {entry.default !== null && `default ${showValue(entry.default).text} · `}
                  {entry.source}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {changed.length > SHOWN_SETTINGS && (
        <p class="dim wraps card-note">
          <a href={configUrl}>{changed.length - SHOWN_SETTINGS} more</a>
        </p>
      )}
      {isUnknown && (
        <p class="dim wraps card-note">
          {value?.settings.length} keys, read from <code>{value?.file}</code>. Their defaults are unknown.
        </p>
      )}
    </Card>
  );
}

function settingsTitle(count: number | null): string {
  if (count === null) return 'Settings';
  if (count === 0) return 'All settings at their defaults';
  return count === 1 ? '1 setting changed' : `${count} settings changed`;
}

/** A key that differs unexpectedly. */
interface DriftRow {
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
