import type { ClusterConfigDiff, ConfigDifference } from '@porthole/client';
import { type AnswerFacts, absenceText, coverageOf, isDrift } from '@porthole/contract';
import { showValue } from '../../config/setting-values.ts';
import { cluster, type Resource } from '../../state/resource.ts';
import { ALL_CONFIG, nodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card } from '../../ui/controls.tsx';
import { useResource, useStore } from '../../ui/hooks.ts';
import { PartialNote, ResourceNote } from '../../ui/notes.tsx';
import { ownSettings } from './cluster-resources.ts';

const SHOWN = 6;

const SHOWN_SETTINGS = 8;

/** Keys that differ unexpectedly between nodes of one role. */
export function DriftCard({ drift, labels }: { drift: Resource<ClusterConfigDiff>; labels: readonly string[] }) {
  const { value } = useResource(drift);
  const all = { ...ALL_CONFIG, labels };
  const rows = value ? driftRows(value) : [];
  const compared = value?.roles.reduce((sum, { comparedKeys }) => sum + comparedKeys, 0) ?? 0;
  return (
    <Card
      id="drift-title"
      title={cardTitle(value ? rows.length : null, value ?? {})}
      aside={<a href={viewUrl(all)}>all keys →</a>}
    >
      <ResourceNote resource={drift} what="The configuration" loading="the configuration of all nodes" />
      <ul class="fact-list">
        {rows.slice(0, SHOWN).map((row) => (
          <li key={`${row.role} ${row.key}`}>
            <a class="mono" href={viewUrl({ ...all, role: row.role, text: row.key })}>
              {row.key}
            </a>
            <DriftValues row={row} />
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && (
        <p>
          <a href={viewUrl(all)}>{rows.length - SHOWN} more →</a>
        </p>
      )}
      {value && rows.length === 0 && <p class="dim">{compared} keys compared; only keys expected to differ do.</p>}
      {value && <PartialNote answer={value} onRetry={() => drift.reload()} />}
    </Card>
  );
}

function DriftValues({ row: { most, outliers } }: { row: DriftRow }) {
  return (
    <span class="fact">
      {most !== null && (
        <>
          <span class="value">{most}</span> majority ·{' '}
        </>
      )}
      {outliers.map(({ value, nodes }, index) => (
        <strong key={value}>
          {index > 0 && ' · '}
          <span class="value">{value}</span> on {nodes.join(', ')}
        </strong>
      ))}
    </span>
  );
}

function cardTitle(count: number | null, answer: AnswerFacts = {}): string {
  if (count === null) return 'Configuration';
  if (count === 0) return absenceText('No configuration key differs', coverageOf(answer));
  return count === 1 ? '1 configuration key differs' : `${count} configuration keys differ`;
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
      aside={<a href={configUrl}>all settings →</a>}
    >
      <ResourceNote resource={ownSettings} what="The settings" />
      <ul class="fact-list">
        {changed.slice(0, SHOWN_SETTINGS).map((entry) => (
          <li key={entry.key}>
            <a class="mono" href={viewUrl(nodeView(id, 'config', entry.key))}>
              {entry.key}
            </a>
            <span class="fact">
              <strong class="value">{showValue(entry.value).text}</strong>
              {entry.default !== null && (
                <span class="dim">
                  {' '}
                  (default <span class="value">{showValue(entry.default).text}</span>)
                </span>
              )}{' '}
              <span class="dim">· {entry.source}</span>
            </span>
          </li>
        ))}
      </ul>
      {changed.length > SHOWN_SETTINGS && (
        <p>
          <a href={configUrl}>{changed.length - SHOWN_SETTINGS} more →</a>
        </p>
      )}
      {isUnknown && (
        <p class="dim">
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
    outliers: others.map(({ value, nodes }) => ({ value: showValue(value).text, nodes })),
  };
}
