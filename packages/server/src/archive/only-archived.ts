import type { ShipperStatus } from '@porthole/archive';
import type { DeletedRecords } from '@porthole/logs';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';

/**
 * What a question about the files of this node does not find, although it was logged in the time range: records that
 * were shipped, or lost, before their files were deleted. Without a time range, files are what was asked for.
 */
export function onlyArchived(
  logs: readonly Pick<ShipperStatus['logs'][number], 'log' | 'gone' | 'losses' | 'diskFromMs'>[],
  { file, family, fromMs }: LogSelection & Pick<RecordFilter, 'fromMs'>,
): DeletedRecords[] {
  if (fromMs === undefined || file !== undefined) return [];
  return logs.flatMap(({ log, gone, losses, diskFromMs }) => {
    const deletedMs = gone.count > 0 ? gone.toMs + 1 : -Infinity;
    const beginMs = diskFromMs ?? deletedMs;
    const toMs = losses > 0 ? Math.max(deletedMs, beginMs) : deletedMs;
    if ((family !== undefined && family !== log) || toMs <= fromMs) return [];
    const where =
      diskFromMs === null ? 'it is no longer on disk' : `its files begin at ${new Date(diskFromMs).toISOString()}`;
    const detail = `${where}; older records are in the archive: ask /api/v1/cluster/log/search (program: --all)`;
    return [{ problem: { file: log, code: 'ONLY_ARCHIVED', detail }, toMs: Math.max(toMs, beginMs) }];
  });
}
