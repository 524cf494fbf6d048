import type { ClusterFollowItem, ClusterRecord } from '@porthole/contract';
import type { FollowItem, FoundRecord } from '@porthole/logs';
import { formatBytes } from '../output/format-bytes.ts';
import { explainReport } from './explain-report.ts';

/** What a follow tells beside records. */
export type FollowEvent = Exclude<FollowItem, FoundRecord> | Exclude<ClusterFollowItem, ClusterRecord>;

/** What happened to a log that is followed, in a sentence; of a cluster, with its node in front. */
export function explainItem(item: FollowEvent): string {
  if (item.type === 'member') return explainMember(item);
  return 'node' in item ? `${item.node}: ${explainEvent(item)}` : explainEvent(item);
}

function explainMember({ node, report }: Extract<FollowEvent, { type: 'member' }>): string {
  if (report.outcome === 'ok') return `${node} is followed`;
  // One that has departed is followed again when it is registered again, which nobody can promise.
  const hasDeparted = report.outcome === 'gone' || report.outcome === 'left';
  return hasDeparted ? explainReport(report) : `${explainReport(report)}; it comes back by itself`;
}

function explainEvent(item: Exclude<FollowEvent, { type: 'member' }>): string {
  switch (item.type) {
    case 'rotated':
      return `${item.family} was rotated: the old file is ${item.from} now`;
    case 'truncated':
      return `${item.file} was cut short${item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} lost`}; reading it from its start`;
    case 'gap':
      return explainGap(item);
    case 'missing':
      return `${item.family} is not there at the moment`;
    case 'reconnecting':
      return `${item.reason}; trying again in ${(item.waitMs / 1000).toFixed(1)} s`;
    case 'skipped':
      return item.detail;
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
