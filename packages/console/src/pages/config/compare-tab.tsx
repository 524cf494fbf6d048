import type { ClusterConfigDiff } from '@porthole/client';
import { absenceText, coverageOf, outcomeText } from '@porthole/contract';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  chooseRole,
  countDrift,
  type DriftRow,
  driftHeading,
  driftRows,
  firstPair,
  isRequested,
  type Outlier,
  type RoleDiff,
  roleName,
} from '../../config/drift-rows.ts';
import { compareSecrets, type DiffRow, diffLines } from '../../config/line-diff.ts';
import { tomlLines } from '../../config/toml-text.ts';
import { configDiffCommand, configPairCommand } from '../../state/cli-command.ts';
import { navigation } from '../../state/navigation.ts';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigView } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { CopyCommand, LinkButton, NodeDot, NodeNames } from '../../ui/controls.tsx';
import { formatCounted } from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { LoadedNote, PartialNote, RecordedNote } from '../../ui/notes.tsx';
import { DiffLines } from './code-lines.tsx';
import { ValueText } from './config-parts.tsx';

/** Nodes named beside a value; the rest is a count. */
const MAX_NODES = 4;

/** Nodes that do not respond and have a notice of their own; of others, one line says so. */
const MAX_NOTES = 2;

const REFRESH_MS = 30_000;

interface CompareTabProps {
  view: ConfigView;
  diff: ClusterConfigDiff;
  onRetry: () => void;
}

/** Where nodes of the same role differ, outliers first, and two of them side by side. */
export function CompareTab({ view, diff, onRetry }: CompareTabProps) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const role = chooseRole(diff, view);
  const found = useMemo(() => role && driftRows(role, view.text), [role, view.text]);
  const recorded = diff.members.filter(({ asOfMs }) => asOfMs !== null).slice(0, MAX_NOTES);
  const options = { url: nodeUrl(location) };
  const { left, right } = view;
  const command = left && right ? configPairCommand(left, right, options) : configDiffCommand(view, options);
  const none = diff.members.length === 0 ? 'No node has these labels' : 'No configurations could be compared';
  return (
    <div class="config-body">
      <div class="flex wrap page-head">
        <div>
          <h1>{role ? driftHeading(role) : none}</h1>
          {role && (
            <p class="dim">
              {role.comparedKeys} keys compared · secrets compared by fingerprint, never shown
              {isRequested(role, view) ? '' : ' · the requested nodes are not there'}
            </p>
          )}
        </div>
        <span class="wide-only">
          <CopyCommand command={command} />
        </span>
      </div>
      {role && diff.roles.length > 1 && <RoleSwitch {...{ view, diff, role }} />}
      {recorded.map((report) => (
        <RecordedNote key={report.id} report={report} onRetry={onRetry} />
      ))}
      <PartialNote response={diff} known={recorded.map(({ id }) => id)} onRetry={onRetry} />
      {role && found && <DriftTable {...{ view, diff, role, found }} />}
      {diff.members.length > 1 && (
        <PairSection
          key={role ? roleName(role) : ''}
          view={view}
          // Nodes that left are not compared, but what is known of them can be shown.
          nodes={[...new Set([...diff.members, ...nodes].map(({ id }) => id))].sort()}
          proposed={found ? firstPair(found) : null}
        />
      )}
    </div>
  );
}

interface RoleProps {
  view: ConfigView;
  diff: ClusterConfigDiff;
  /** Whose nodes are compared. */
  role: RoleDiff;
}

/** `broker · 1 differs`: a link for each role, and each label compared within. */
function RoleSwitch({ view, diff, role }: RoleProps) {
  const words = (count: number) => (count === 1 ? '1 differs' : `${count} differ`);
  return (
    <nav class="segments config-roles" aria-label={view.by === null ? 'Role' : `Role and ${view.by}`}>
      {diff.roles.map((one) => {
        const url = viewUrl({ ...view, role: one.role, group: one.label ?? null, left: null, right: null });
        const count = countDrift(one);
        return (
          <a key={roleName(one)} class="segment" href={url} aria-current={one === role ? 'true' : undefined}>
            {roleName(one)} · {count === 0 ? absenceText('no drift', coverageOf(diff)) : words(count)}
          </a>
        );
      })}
    </nav>
  );
}

/** A row for each key: the value of most nodes, and those that have another. */
function DriftTable({ view, diff, role, found }: RoleProps & { found: ReturnType<typeof driftRows> }) {
  const { rows, expectedRows, notCompared } = found;
  const isOpen = view.showExpected;
  const shown = [...rows, ...(isOpen ? expectedRows : [])];
  return (
    <section class="card" aria-label="Keys that differ">
      {rows.length === 0 && <p class="dim wraps card-note">{emptyText(view, diff, role)}</p>}
      {shown.length > 0 && (
        <table class="data-table config-table">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Most nodes</th>
              <th scope="col">Others</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <DriftRowView key={row.key} {...{ row, view }} />
            ))}
          </tbody>
        </table>
      )}
      {expectedRows.length > 0 && (
        <p class="card-note">
          <LinkButton
            aria-expanded={isOpen}
            onClick={() => navigation.go({ ...view, showExpected: !isOpen }, { replace: true })}
          >
            {isOpen && 'Hide '}
            {formatCounted(expectedRows.length, 'key')} expected to differ (addresses, directories, ids)
          </LinkButton>
        </p>
      )}
      {notCompared.length > 0 && (
        <details class="dim card-note">
          <summary>
            {formatCounted(notCompared.length, 'secret')} unknown on some nodes, which report no fingerprint
          </summary>
          {notCompared.map(({ key, nodes }) => (
            <p key={key}>
              <code>{key}</code> {nodes.join(', ')}
            </p>
          ))}
          Nodes with the same <code>cluster.token-file</code> report fingerprints; one that does not respond does not.
        </details>
      )}
    </section>
  );
}

function emptyText({ text }: ConfigView, diff: ClusterConfigDiff, { nodes, notCompared }: RoleDiff): string {
  if (text !== '') return `No differing key or value contains “${text}”.`;
  if (diff.members.length === 1) return 'The only node here; with others, this page shows where they differ.';
  if (nodes.length === 1) return 'Only one node has this role; there is nothing to compare it with.';
  if (notCompared.length > 0 || !coverageOf(diff).isComplete)
    return 'No difference was found, but not everything could be compared, or is current.';
  return `All ${nodes.length} nodes have the same configuration, except for keys expected to differ.`;
}

function DriftRowView({ row: { key, isExpected, majority, outliers }, view }: { row: DriftRow; view: ConfigView }) {
  return (
    <tr>
      <th scope="row">
        <code class="wraps">{key}</code> {isExpected && <span class="faint">expected</span>}
      </th>
      <td class="dim" data-name="Most nodes">
        {majority ? (
          <>
            <ValueText shown={majority.shown} /> <span class="faint">{formatCounted(majority.count, 'node')}</span>
          </>
        ) : (
          'no majority'
        )}
      </td>
      <td data-name="Others">
        {outliers.map((outlier) => (
          <OutlierLink key={outlier.nodes[0]} {...{ outlier, view }} />
        ))}
      </td>
    </tr>
  );
}

/** A value that most nodes do not have; it opens both sides. */
function OutlierLink({ outlier, view }: { outlier: Outlier; view: ConfigView }) {
  const { shown, nodes, note, isUnusual, against } = outlier;
  const [first = ''] = nodes;
  return (
    <a
      class={`flex wrap outlier ${isUnusual ? 'is-unusual' : ''}`}
      href={viewUrl({ ...view, left: against, right: first })}
      data-tip={`${against} and ${first} side by side`}
    >
      <ValueText shown={shown} />
      <NodeNames ids={nodes} most={MAX_NODES} />
      {note && <span class="faint">{note}</span>}
    </a>
  );
}

interface PairSectionProps {
  view: ConfigView;
  /** Ids that can be chosen. */
  nodes: readonly string[];
  /** A pair to show when none was chosen. */
  proposed: { left: string; right: string } | null;
}

/** Two nodes side by side: the chosen ones, or the proposed pair. */
function PairSection({ view, nodes, proposed }: PairSectionProps) {
  // Keep the first proposal: someone may be reading it when a later response would change it.
  const [first] = useState(proposed);
  const suggested = view.left || view.right ? null : (first ?? proposed);
  const left = view.left ?? suggested?.left ?? null;
  const right = view.right ?? suggested?.right ?? null;
  const heading = useRef<HTMLHeadingElement>(null);
  const chosen = `${view.left} ${view.right}`;
  const last = useRef(chosen);
  useEffect(() => {
    if (last.current === chosen) return;
    last.current = chosen;
    // Chosen in the table above: this section may be out of view.
    heading.current?.scrollIntoView({ block: 'start' });
    heading.current?.focus({ preventScroll: true });
  }, [chosen]);
  const unknown = [left, right].filter((id) => id !== null && !nodes.includes(id));
  const choose = (side: 'left' | 'right', id: string | null) => {
    const pair = { left, right, [side]: id };
    last.current = `${pair.left} ${pair.right}`;
    navigation.go({ ...view, ...pair }, { replace: true });
  };
  return (
    <section aria-labelledby="pair-heading">
      <div class="flex wrap config-head">
        <h2 id="pair-heading" tabIndex={-1} ref={heading}>
          Side by side
        </h2>
        {(['left', 'right'] as const).map((side) => (
          <select
            key={side}
            aria-label={side === 'left' ? 'Left node' : 'Right node'}
            value={(side === 'left' ? left : right) ?? ''}
            onChange={(event) => choose(side, event.currentTarget.value || null)}
          >
            <option value="">{side} node …</option>
            {[...nodes, ...unknown].map((id) => (
              <option key={id} value={id ?? ''}>
                {id}
              </option>
            ))}
          </select>
        ))}
      </div>
      {unknown.length > 0 && (
        <p class="dim" role="alert">
          {unknown.map((id) => `No node named "${id}"`).join(' · ')}: choose another.
        </p>
      )}
      {(left === null || right === null) && <p class="dim">Choose two nodes to compare their configurations.</p>}
      {left !== null && right !== null && unknown.length === 0 && (
        <Pair key={`${left} ${right}`} {...{ left, right }} />
      )}
    </section>
  );
}

/** Two texts line by line. */
function Pair({ left, right }: { left: string; right: string }) {
  const loaded = useLoaded(
    `${left} ${right}`,
    (signal) => Promise.all([loadSide(left, signal), loadSide(right, signal)]),
    { everyMs: REFRESH_MS },
  );
  const { value } = loaded;
  const rows = useMemo(() => {
    if (!value || value.some(({ problem }) => problem !== null)) return null;
    return compareSecrets(diffLines(value[0].lines, value[1].lines), ...value);
  }, [value]);
  return (
    <>
      <LoadedNote loaded={loaded} what="The configurations" loading="both configurations" />
      {value?.map(
        ({ id, problem }) =>
          problem !== null && (
            <p key={id} class="dim" role="status">
              No configuration available for <strong>{id}</strong>: {problem}
            </p>
          ),
      )}
      {value && rows && (
        <>
          <p class="dim config-head" role="status">
            <NodeDot id={left} /> <b>{left}</b> and <NodeDot id={right} /> <b>{right}</b>: {pairText(rows)}
          </p>
          <DiffLines
            left={value[0].lines}
            right={value[1].lines}
            rows={rows}
            isSplit
            label={`Lines of ${left} and ${right}`}
          />
        </>
      )}
    </>
  );
}

function pairText(rows: readonly DiffRow[]): string {
  const differing = rows.filter(({ kind }) => kind !== 'equal').length;
  const unknown = rows.filter(({ secret }) => secret === 'unknown').length;
  const parts = [differing === 1 ? '1 line differs' : `${differing} lines differ`];
  if (differing === 0) parts[0] = unknown === 0 ? 'no line differs' : 'no line that could be compared differs';
  if (unknown > 0) parts.push(`${formatCounted(unknown, 'masked line')} not compared`);
  return parts.join(' · ');
}

/** The text of a node, and the fingerprints of its secrets as far as it reports them. */
async function loadSide(id: string, signal: AbortSignal) {
  const { configs } = await session.client.settings({ nodes: [id] }, { signal });
  const found = configs.find((one) => one.id === id);
  // Without settings, its secrets are said to be not compared.
  const fingerprints = new Map((found?.settings?.settings ?? []).map(({ key, fingerprint }) => [key, fingerprint]));
  const text = found?.config?.config;
  const problem = text === undefined ? (found?.report.detail ?? outcomeText(found?.report.outcome ?? 'gone')) : null;
  return { id, lines: tomlLines(text ?? ''), fingerprints, problem };
}
