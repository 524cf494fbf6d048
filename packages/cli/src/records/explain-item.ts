import type { FollowItem, FoundRecord } from '@porthole/logs';
import { showBytes } from '../output/show-bytes.ts';

/** What happened to a log that is followed, in a sentence. */
export function explainItem(item: Exclude<FollowItem, FoundRecord>): string {
  switch (item.type) {
    case 'rotated':
      return `${item.family} was rotated: the old file is ${item.from} now`;
    case 'truncated':
      return `${item.file} was cut short${item.lostBytes === null ? '' : `, ${showBytes(item.lostBytes)} lost`}; reading it from its start`;
    case 'gap':
      return explainGap(item);
    case 'missing':
      return `${item.family} is not there at the moment`;
    case 'reconnecting':
      return `${item.reason}; trying again in ${(item.waitMs / 1000).toFixed(1)} s`;
    case 'end':
      return item.reason === 'stopping' ? 'the node is stopping' : 'ended';
  }
}

function explainGap({ family, reason, bytes, after, until }: Extract<FollowItem, { type: 'gap' }>): string {
  const amount = bytes === null ? '' : ` of ${showBytes(bytes)}`;
  if (after !== null || until !== null) return `a gap${amount} in ${family} was filled from the file`;
  const why = { slow: 'this reader was too slow', truncated: 'the file was cut short', gone: 'the file is gone' };
  return `a gap${amount} in ${family}: ${why[reason]}`;
}
