import {
  type DriftCell,
  type DriftColumn,
  type DriftMatrix,
  type DriftRow,
  expectedText,
} from '../../../config/drift-matrix.ts';
import { navigation } from '../../../state/navigation.ts';
import type { ConfigView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { AsOf } from '../config-notes.tsx';
import { ValueText } from '../settings-table.tsx';

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
export function DriftTable({ view, matrix, nodeCount }: DriftTableProps) {
  const { rows, expectedRows, notCompared } = matrix;
  const isEmpty = rows.length === 0;
  const hasRows = !isEmpty || expectedRows.length > 0;
  return (
    <>
      {isEmpty && <p class="config-empty">{emptyText(view, matrix, nodeCount)}</p>}
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

function NotCompared({ secrets }: { secrets: DriftMatrix['notCompared'] }) {
  return (
    <details class="config-note">
      <summary>
        {secrets.length === 1 ? '1 secret' : `${secrets.length} secrets`} not compared on every node ·{' '}
        <code>cluster.token-file</code> lets nodes report fingerprints
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
        {row.majority ? <ValueText shown={row.majority} /> : <em class="value-word">no majority</em>}
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
