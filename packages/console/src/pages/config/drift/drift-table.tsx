import type { DriftColumn, DriftMatrix } from '../../../config/drift-matrix.ts';
import { expectedText } from '../../../config/drift-text.ts';
import { navigation } from '../../../state/navigation.ts';
import type { ConfigView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { AsOf } from '../config-notes.tsx';
import { DriftRowView } from './drift-row.tsx';

interface DriftTableProps {
  view: ConfigView;
  matrix: DriftMatrix;
  nodeCount: number;
}

/** Keys down, nodes across. */
export function DriftTable({ view, matrix, nodeCount }: DriftTableProps) {
  const { rows, expectedRows, notCompared } = matrix;
  const isEmpty = rows.length === 0;
  const hasRows = !isEmpty || expectedRows.length > 0;
  return (
    <>
      {isEmpty && <p class="config-empty">{emptyText(view, nodeCount)}</p>}
      {hasRows && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys only scroll what has the focus
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
      {notCompared.length > 0 && <NotCompared keys={notCompared} />}
    </>
  );
}

function emptyText({ text }: ConfigView, nodeCount: number): string {
  if (text !== '') return `No differing key has “${text}” in its name.`;
  if (nodeCount === 1) return 'Only one node has this role: there is nothing to compare it with.';
  return `All ${nodeCount} nodes are configured the same, but for what is expected to differ.`;
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
      <a href={viewUrl({ page: 'node', id, tab: 'config', text: '' })}>{id}</a> {report && <AsOf report={report} />}
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
          <button
            type="button"
            class="link-button"
            aria-expanded={isOpen}
            onClick={() => navigation.go({ ...view, showExpected: !isOpen }, { replace: true })}
          >
            {isOpen ? '▾' : '▸'} {expectedText(expectedRows.map(({ key }) => key))}
          </button>
        </td>
      </tr>
      {isOpen && expectedRows.map((row) => <DriftRowView key={row.key} row={row} matrix={matrix} view={view} />)}
    </tbody>
  );
}

function NotCompared({ keys }: { keys: readonly string[] }) {
  return (
    <details class="config-note">
      <summary>
        {keys.length === 1 ? '1 secret' : `${keys.length} secrets`} could not be compared: not every node tells a
        fingerprint
      </summary>
      <p>
        {keys.map((key) => (
          <code key={key} class="key-chip">
            {key}
          </code>
        ))}
      </p>
      <p>Nodes that share a cluster credential tell fingerprints, which are the same where the secrets are.</p>
    </details>
  );
}
