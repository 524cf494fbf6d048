import type { MemberReport } from '@porthole/client';
import type { Edge, Row } from '../model/workspace-state.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;

/**
 * Adds a row for each node that is shown from its snapshot, where its lines end; in front of all rows if those are
 * newer, so that the missing node is noticed.
 */
export function withSnapshotRows(
  rows: readonly Row[],
  members: readonly MemberReport[],
  bottom: Edge['kind'],
): readonly Row[] {
  const missing = members.filter(({ asOfMs }) => asOfMs !== null);
  if (missing.length === 0 || rows.length === 0) return rows;
  const insertions = missing.flatMap((report) => {
    const { asOfMs } = report;
    const index = rows.findIndex((row) => row.kind === 'record' && (row.record.atMs ?? -Infinity) > (asOfMs ?? 0));
    // Rows below the last one may still be older than the snapshot.
    if (index < 0 && bottom === 'more') return [];
    return [{ index: index < 0 ? rows.length : index, row: snapshotRow(report) }];
  });
  return insertions
    .sort((a, b) => b.index - a.index)
    .reduce<readonly Row[]>((all, { index, row }) => all.toSpliced(index, 0, row), rows);
}

function snapshotRow({ id, outcome, asOfMs, sinceMs = null }: MemberReport): GapRow {
  return {
    kind: 'gap',
    key: `snapshot ${id}`,
    node: id,
    text: outcome === 'left' ? 'left the cluster' : 'stopped responding',
    canLoad: false,
    isLoading: false,
    snapshot: { asOfMs: asOfMs ?? 0, sinceMs },
  };
}
