import type { MemberReport } from '@porthole/client';
import { isPastNode } from '../../ui/missing-members.ts';
import type { Edge, Row } from '../model/workspace-state.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;

/**
 * Adds a row for each node that is shown from its snapshot, where its lines end; in front of all rows if those are
 * newer, so that the missing node is noticed. Nobody misses a node that only the archive knows: it has a row only
 * between its lines and newer ones.
 */
export function withSnapshotRows(
  rows: readonly Row[],
  members: readonly MemberReport[],
  { bottom, toMs = Infinity }: { bottom: Edge['kind']; toMs?: number | undefined },
): readonly Row[] {
  const missing = members.filter(({ asOfMs }) => asOfMs !== null && asOfMs < toMs);
  if (missing.length === 0 || rows.length === 0) return rows;
  const insertions = missing.flatMap((report) => {
    const { asOfMs } = report;
    const index = rows.findIndex((row) => row.kind === 'record' && (row.record.atMs ?? -Infinity) > (asOfMs ?? 0));
    // Rows below the last one may still be older than the snapshot.
    if (index < 0 && bottom === 'more') return [];
    if (index <= 0 && isPastNode(report)) return [];
    return [{ index: index < 0 ? rows.length : index, row: snapshotRow(report) }];
  });
  return insertions
    .sort((a, b) => b.index - a.index)
    .reduce<readonly Row[]>((all, { index, row }) => all.toSpliced(index, 0, row), rows);
}

function snapshotRow(report: MemberReport): GapRow {
  const { id, outcome, asOfMs, sinceMs = null, archive } = report;
  const sources = [...(archive ? ['the archive'] : []), ...(isPastNode(report) ? [] : ['its snapshot'])];
  return {
    kind: 'gap',
    key: `snapshot ${id}`,
    node: id,
    text: outcome === 'left' ? 'left the cluster' : 'stopped responding',
    canLoad: false,
    isLoading: false,
    snapshot: { asOfMs: asOfMs ?? 0, sinceMs, from: sources.join(' and ') },
  };
}
