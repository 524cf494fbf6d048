import type { DriftCell, DriftColumn, DriftMatrix, DriftRow } from '../../../config/drift-matrix.ts';
import type { ConfigView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { ValueText } from '../value-text.tsx';

interface DriftRowProps {
  row: DriftRow;
  matrix: DriftMatrix;
  view: ConfigView;
}

export function DriftRowView({ row, matrix, view }: DriftRowProps) {
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
        <span class="sr-only">{column.isSilent ? 'not known' : 'as most'}</span>
      </td>
    );
  const url = viewUrl({ ...view, left: cell.against, right: column.id });
  return (
    <td class={cellClass(row, cell)}>
      <a href={url} title={`${cell.against} and ${column.id} side by side`}>
        <ValueText shown={cell.shown} />
      </a>
      {cell.isSameMeaning && <span class="same-note"> ≈ same</span>}
    </td>
  );
}

function cellClass({ isExpected }: DriftRow, { isSameMeaning }: DriftCell): string {
  return isExpected || isSameMeaning ? '' : 'is-outlier';
}

/** Keys expected to differ have a value for each node, too many to be shown. */
function foldedText({ cells }: DriftRow, foldedNodes: readonly string[]): string {
  const count = foldedNodes.filter((id) => cells.has(id)).length;
  return count === 0 ? '·' : `${count} with another value`;
}
