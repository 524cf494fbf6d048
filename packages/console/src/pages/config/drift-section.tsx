import type { ClusterConfigDiff, ClusterNode } from '@porthole/client';
import { absenceText, coverageOf } from '@porthole/contract';
import { useMemo } from 'preact/hooks';
import {
  chooseRole,
  countDrift,
  type DriftCell,
  type DriftColumn,
  type DriftMatrix,
  type DriftRow,
  driftHeading,
  driftMatrix,
  expectedText,
  firstPair,
  isRequested,
  outlierNodes,
  type RoleDiff,
  roleName,
  secretsText,
  silentNodes,
} from '../../config/drift-matrix.ts';
import { loadSettings, type SettingsByKey, settingsByKey } from '../../config/setting-values.ts';
import { configDiffCommand } from '../../state/cli-command.ts';
import { navigation } from '../../state/navigation.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { type ConfigView, nodeView } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { CopyCommand, LinkButton } from '../../ui/controls.tsx';
import { formatCounted } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { PartialNote } from '../../ui/notes.tsx';
import { AsOf } from './config-notes.tsx';
import { FindBox } from './find-box.tsx';
import { PairSection } from './pair-section.tsx';
import { ValueText } from './settings-table.tsx';

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
  // Nodes that left are not compared, but what is known of them can be shown.
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
      <div class="wrap config-top">
        <div>
          <h1>{driftHeading(matrix, role)}</h1>
          <p class="dim config-sub">
            {role.comparedKeys} keys compared · majority value in grey · {secretsText(role)}
          </p>
        </div>
        <DriftTools view={view} />
      </div>
      <RoleSwitch view={view} diff={diff} shown={role} />
      {partial}
      {isRequested(role, view) ? null : (
        <p class="dim config-sub" role="alert">
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
  return (
    <div class="config-tools">
      <FindBox
        label="Find key"
        text={view.text}
        onText={(text) => navigation.go({ ...view, text }, { replace: true })}
      />
      <CopyCommand command={configDiffCommand(view, { url: nodeUrl(location) })} />
    </div>
  );
}

/** `broker · 1 differs`: a link for each role, and each label compared within; renders nothing if there is only one. */
function RoleSwitch({ view, diff, shown }: RoleSwitchProps) {
  if (diff.roles.length < 2) return null;
  return (
    <nav class="segments" aria-label={view.by === null ? 'Role' : `Role and ${view.by}`}>
      {diff.roles.map((one) => {
        const url = viewUrl({ ...view, role: one.role, group: one.label ?? null, left: null, right: null });
        const name = roleName(one);
        return (
          <a key={name} class="segment" href={url} aria-current={one === shown ? 'true' : undefined}>
            {name} <span>· {driftText(countDrift(one), diff)}</span>
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

interface DriftTableProps {
  view: ConfigView;
  matrix: DriftMatrix;
  nodeCount: number;
}

interface DriftRowProps {
  row: DriftRow;
  matrix: DriftMatrix;
  view: ConfigView;
}

/** One row per key, one column per node. */
function DriftTable({ view, matrix, nodeCount }: DriftTableProps) {
  const { rows, expectedRows, notCompared } = matrix;
  const isEmpty = rows.length === 0;
  const hasRows = !isEmpty || expectedRows.length > 0;
  return (
    <>
      {isEmpty && <p class="dim wraps config-empty">{emptyText(view, matrix, nodeCount)}</p>}
      {hasRows && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and only a focused element scrolls by keyboard
        <section class="table-frame" aria-label="Keys that differ, by node" tabIndex={0}>
          <table class="config-table drift-table">
            {(!isEmpty || view.showExpected) && <Head matrix={matrix} />}
            <tbody>
              {rows.map((row) => (
                <DriftRowView key={row.key} row={row} matrix={matrix} view={view} />
              ))}
            </tbody>
            {expectedRows.length > 0 && <Expected view={view} matrix={matrix} />}
          </table>
        </section>
      )}
      {notCompared.length > 0 && <NotCompared secrets={notCompared} />}
    </>
  );
}

function emptyText({ text }: ConfigView, { notCompared, columns }: DriftMatrix, nodeCount: number): string {
  if (text !== '') return `No differing key contains “${text}”.`;
  if (nodeCount === 1) return 'Only one node has this role; there is nothing to compare it with.';
  if (notCompared.length > 0 || columns.some(({ report, isSilent }) => isSilent || report !== null))
    return 'No difference was found, but not everything could be compared, or is current.';
  return `All ${nodeCount} nodes have the same configuration, except for keys expected to differ.`;
}

function Head({ matrix: { columns, foldedNodes, hasDefaults, hasSources } }: { matrix: DriftMatrix }) {
  return (
    <thead>
      <tr>
        <th scope="col" class="key-column">
          Key
        </th>
        <th scope="col">Most nodes</th>
        {columns.map((column) => (
          <ColumnHead key={column.id} column={column} />
        ))}
        {foldedNodes.length > 0 && (
          <th scope="col" title={foldedNodes.join(', ')}>
            {foldedNodes.length} other nodes
          </th>
        )}
        {hasDefaults && <th scope="col">Default</th>}
        {hasSources && <th scope="col">Source</th>}
      </tr>
    </thead>
  );
}

function ColumnHead({ column: { id, report } }: { column: DriftColumn }) {
  return (
    <th scope="col" class={report ? 'is-old' : ''}>
      <a href={viewUrl(nodeView(id, 'config'))}>{id}</a> {report && <AsOf report={report} />}
    </th>
  );
}

function Expected({ view, matrix }: { view: ConfigView; matrix: DriftMatrix }) {
  const { expectedRows, columns } = matrix;
  const isOpen = view.showExpected;
  return (
    <tbody>
      <tr class="expected-row">
        <td colSpan={columns.length + 5}>
          <LinkButton
            aria-expanded={isOpen}
            onClick={() => navigation.go({ ...view, showExpected: !isOpen }, { replace: true })}
          >
            {isOpen ? '▾' : '▸'} {expectedText(expectedRows.map(({ key }) => key))}
          </LinkButton>
        </td>
      </tr>
      {isOpen && expectedRows.map((row) => <DriftRowView key={row.key} row={row} matrix={matrix} view={view} />)}
    </tbody>
  );
}

function NotCompared({ secrets }: { secrets: DriftMatrix['notCompared'] }) {
  return (
    <details class="config-note">
      <summary>
        {formatCounted(secrets.length, 'secret')} not compared on every node · <code>cluster.token-file</code> lets
        nodes report fingerprints
      </summary>
      <ul>
        {secrets.map(({ key, nodes }) => (
          <li key={key}>
            <code class="key-chip">{key}</code> {nodes.length > 0 && `no fingerprint of ${nodes.join(', ')}`}
          </li>
        ))}
      </ul>
      <p>
        Nodes that share a cluster token report fingerprints of their secrets; equal fingerprints mean equal secrets. Of
        a node that does not respond none is known.
      </p>
    </details>
  );
}

function DriftRowView({ row, matrix, view }: DriftRowProps) {
  const { columns, foldedNodes, hasDefaults, hasSources } = matrix;
  return (
    <tr>
      <th scope="row" class="key-column">
        <code>{row.key}</code>
      </th>
      <td class="is-quiet">
        {row.majority ? <ValueText shown={row.majority} /> : <em class="dim value-word">no majority</em>}
      </td>
      {columns.map((column) => (
        <Cell key={column.id} row={row} column={column} view={view} />
      ))}
      {foldedNodes.length > 0 && <td class="is-quiet is-origin">{foldedText(row, foldedNodes)}</td>}
      {hasDefaults && <td class="is-quiet is-origin">{row.default ?? '–'}</td>}
      {hasSources && <td class="is-quiet is-origin">{row.source ?? '–'}</td>}
    </tr>
  );
}

function Cell({ row, column, view }: { row: DriftRow; column: DriftColumn; view: ConfigView }) {
  const cell = row.cells.get(column.id);
  if (cell === undefined)
    return (
      <td class="is-quiet">
        <span aria-hidden="true">{column.isSilent ? '?' : '·'}</span>
        <span class="sr-only">{column.isSilent ? 'unknown' : 'same as the majority'}</span>
      </td>
    );
  const url = viewUrl({ ...view, left: cell.against, right: column.id });
  return (
    <td class={cellClass(row, cell)}>
      <a href={url} title={`${cell.against} and ${column.id} side by side`}>
        <ValueText shown={cell.shown} />
      </a>
      {cell.isSameMeaning && <span class="same-note"> ≈ same</span>}
      {cell.isNotCompared && <span class="same-note"> not compared</span>}
    </td>
  );
}

function cellClass({ isExpected }: DriftRow, { isSameMeaning, isNotCompared }: DriftCell): string {
  return isExpected || isSameMeaning || isNotCompared ? '' : 'is-outlier';
}

/** Keys expected to differ have one value per node, too many to show. */
function foldedText({ cells }: DriftRow, foldedNodes: readonly string[]): string {
  const count = foldedNodes.filter((id) => cells.has(id)).length;
  return count === 0 ? '·' : `${count} with another value`;
}
