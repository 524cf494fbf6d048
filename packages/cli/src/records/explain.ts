import { type ClusterFollowItem, type ClusterRecord, reportText } from '@porthole/contract';
import type { FollowItem, FoundRecord } from '@porthole/logs';
import { formatBytes } from '../output/format-units.ts';

/** What a follow emits besides records. */
export type FollowEvent = Exclude<FollowItem, FoundRecord> | Exclude<ClusterFollowItem, ClusterRecord>;

/** Describes an event of a follow; for a cluster, prefixed with the node. */
export function explainItem(item: FollowEvent): string {
  if (item.type === 'member') return explainMember(item);
  return 'node' in item ? `${item.node}: ${explainEvent(item)}` : explainEvent(item);
}

function explainMember({ node, report }: Extract<FollowEvent, { type: 'member' }>): string {
  if (report.outcome === 'ok') return `following ${node}`;
  // A departed member is followed again only if it registers again.
  const hasDeparted = report.outcome === 'gone' || report.outcome === 'left';
  return hasDeparted ? reportText(report) : `${reportText(report)}; retrying`;
}

function explainEvent(item: Exclude<FollowEvent, { type: 'member' }>): string {
  switch (item.type) {
    case 'rotated':
      return `${item.family} was rotated to ${item.from}`;
    case 'truncated':
      return `${item.file} was truncated${item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} lost`}; reading from the start`;
    case 'gap':
      return explainGap(item);
    case 'missing':
      return `${item.family} does not exist; waiting for it`;
    case 'reconnecting':
      return `${item.reason}; retrying in ${(item.waitMs / 1000).toFixed(1)} s`;
    case 'skipped':
      return item.detail;
    case 'position':
      return 'all records so far were shown';
    case 'end':
      return item.reason === 'stopping' ? 'the node is stopping' : 'ended';
  }
}

const GAP_REASONS = {
  slow: 'this reader was too slow',
  truncated: 'the file was truncated',
  gone: 'a file was removed before it could be read',
} as const;

function explainGap({ family, reason, bytes }: Extract<FollowItem, { type: 'gap' }>): string {
  const log = family === '' ? 'the logs' : family;
  const amount = bytes === null ? 'records' : `up to ${formatBytes(bytes)}`;
  return `${amount} of ${log} may be missing here: ${GAP_REASONS[reason]}`;
}
