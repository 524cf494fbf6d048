import { type ClusterRecord, contextJson } from '@porthole/contract';
import type { TextLayout } from '@porthole/logs';

/** The text of a record, as the kernel renders it from its line. */
export function slowText(record: ClusterRecord, layout: TextLayout): string {
  if (layout === 'contract') return contractText(record);
  const { node, raw, message } = record;
  return `${layout === 'raw' ? '' : `${node}:`}${raw ?? message}\n`;
}

/** Missing columns are left out, as readers of the format allow; node and file come before the record's own tags. */
function contractText(record: ClusterRecord): string {
  const { node, file, atMs, level, source, tags = [], message, cut } = record;
  const time = atMs === undefined ? undefined : new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  const labels = [node, file, ...tags].map((label) => `[${label.replace(/[\p{Cc}[\]]/gu, '_')}]`).join(' ');
  const [firstLine = '', ...lines] = message.split('\n');
  const columns = [time, level, source, `${labels}: ${firstLine}`, contextJson(record)];
  const first = columns.filter((column) => column !== undefined).join('\t');
  return `${[first, ...lines].join('\n')}${cut ? ' ...' : ''}\n`;
}
