import type { ClusterConfigDiff, ClusterNode } from '@porthole/client';
import { absenceText, coverageOf } from '@porthole/contract';
import { useMemo } from 'preact/hooks';
import {
  chooseRole,
  countDrift,
  driftHeading,
  driftMatrix,
  firstPair,
  isRequested,
  outlierNodes,
  type RoleDiff,
  roleName,
  secretsText,
  silentNodes,
} from '../../../config/drift-matrix.ts';
import { loadSettings } from '../../../config/load-node-config.ts';
import { type SettingsByKey, settingsByKey } from '../../../config/setting-values.ts';
import { nodeUrl } from '../../../state/base-path.ts';
import { configDiffCommand } from '../../../state/cli-command.ts';
import { navigation } from '../../../state/navigation.ts';
import { copyText } from '../../../state/notice.ts';
import { Resource } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import type { ConfigView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { useResource } from '../../../ui/hooks.ts';
import { PartialNote } from '../../../ui/notes.tsx';
import { FindBox } from '../find-box.tsx';
import { PairSection } from '../pair/pair-section.tsx';
import { DriftTable } from './drift-table.tsx';

interface DriftSectionProps {
  view: ConfigView;
  /** Empty until they are loaded. */
  nodes: readonly ClusterNode[];
  diff: ClusterConfigDiff;
  onRetry: () => void;
}

interface RoleSwitchProps {
  view: ConfigView;
  diff: ClusterConfigDiff;
  /** The role and label that are shown. */
  shown: RoleDiff;
}

/** Defaults and sources are optional: a few nodes provide them for nearly all keys. */
const MAX_NODES = 5;

const REFRESH_MS = 60_000;

const NONE: ReadonlyMap<string, SettingsByKey> = new Map();

/** Drift between the nodes of one role, and two of them side by side. */
export function DriftSection({ view, nodes, diff, onRetry }: DriftSectionProps) {
  const role = chooseRole(diff, view);
  const settings = useSettings(role, diff, nodes);
  const matrix = useMemo(
    () =>
      role &&
      driftMatrix(role, {
        text: view.text,
        members: diff.members,
        silentNodes: silentNodes(role, diff, nodes),
        settings,
      }),
    [role, diff, nodes, settings, view.text],
  );
  // Nodes that left are not compared, but their snapshots can be shown.
  const ids = [...diff.members, ...nodes].map(({ id }) => id);
  const partial = <PartialNote answer={diff} onRetry={onRetry} />;
  if (!role || !matrix)
    return (
      <>
        <h1>No configurations could be compared</h1>
        {partial}
        <PairSection view={view} nodes={ids} proposed={null} />
      </>
    );
  return (
    <>
      <div class="config-top">
        <div>
          <h1>{driftHeading(matrix, role)}</h1>
          <p class="config-sub">
            {role.comparedKeys} keys compared · majority value in grey · {secretsText(role)}
          </p>
        </div>
        <DriftTools view={view} />
      </div>
      <RoleSwitch view={view} diff={diff} shown={role} />
      {partial}
      {isRequested(role, view) ? null : (
        <p class="config-sub" role="alert">
          No nodes with {requestText(view)} to compare; showing {roleName(role)}.
        </p>
      )}
      <DriftTable view={view} matrix={matrix} nodeCount={role.nodes.length} />
      <PairSection key={roleName(role)} view={view} nodes={ids} proposed={firstPair(matrix)} />
    </>
  );
}

/** Tools for the whole matrix. */
function DriftTools({ view }: { view: ConfigView }) {
  const command = configDiffCommand(view, { url: nodeUrl(location) });
  return (
    <div class="config-tools">
      <FindBox
        label="Find key"
        text={view.text}
        onText={(text) => navigation.go({ ...view, text }, { replace: true })}
      />
      <button type="button" class="button" title={command} onClick={() => void copyText(command, 'Command')}>
        Copy as CLI
      </button>
    </div>
  );
}

/** `broker · 1 differs`: a link for each role, and each label compared within; renders nothing if there is only one. */
function RoleSwitch({ view, diff, shown }: RoleSwitchProps) {
  if (diff.roles.length < 2) return null;
  return (
    <nav class="config-segments" aria-label={view.by === null ? 'Role' : `Role and ${view.by}`}>
      {diff.roles.map((one) => {
        const url = viewUrl({ ...view, role: one.role, group: one.label ?? null, left: null, right: null });
        const name = roleName(one);
        return (
          <a key={name} class="config-segment" href={url} aria-current={one === shown ? 'true' : undefined}>
            {name} <span class="config-segment-count">· {driftText(countDrift(one), diff)}</span>
          </a>
        );
      })}
    </nav>
  );
}

/** What the URL asked for: `role "broker" and zone=eu-1`. */
function requestText({ role, by, group }: ConfigView): string {
  const label = group === '' ? `no ${by ?? 'label'}` : group;
  return [...(role === null ? [] : [`role "${role}"`]), ...(label === null ? [] : [label])].join(' and ');
}

function driftText(count: number, diff: ClusterConfigDiff): string {
  if (count === 0) return absenceText('no drift', coverageOf(diff));
  return count === 1 ? '1 differs' : `${count} differ`;
}

/** Settings of differing nodes and of this node, as far as they report them. */
function useSettings(
  role: RoleDiff | undefined,
  { members }: Pick<ClusterConfigDiff, 'members'>,
  nodes: readonly ClusterNode[],
): ReadonlyMap<string, SettingsByKey> {
  // A node that did not respond would only delay the others.
  const responding = new Set(members.filter(({ outcome }) => outcome === 'ok').map(({ id }) => id));
  const outliers = role ? outlierNodes(role).filter((id) => responding.has(id)) : [];
  const self = nodes.find(({ isSelf }) => isSelf)?.id;
  // Wait until this node is known: otherwise some would be requested, and shown, twice.
  const ids = self === undefined ? [] : [...new Set([...outliers.slice(0, MAX_NODES), self])];
  // Ids have no spaces. Only a change of the nodes triggers another request.
  const key = ids.join(' ');
  const resource = useMemo(
    () =>
      new Resource(
        async (signal) => {
          const nodeIds = key.split(' ').filter((id) => id !== '');
          const loaded = await Promise.all(nodeIds.map((id) => loadSettings(session.client.cluster, id, { signal })));
          return new Map(nodeIds.flatMap((id, index) => settingsEntry(id, loaded[index]?.settings?.settings)));
        },
        { everyMs: REFRESH_MS },
      ),
    [key],
  );
  return useResource(resource).value ?? NONE;
}

function settingsEntry(
  id: string,
  settings: Parameters<typeof settingsByKey>[0] | undefined,
): (readonly [string, SettingsByKey])[] {
  return settings ? [[id, settingsByKey(settings)]] : [];
}
