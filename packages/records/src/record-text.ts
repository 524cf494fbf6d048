import { contextJson } from './exact-json.ts';
import { joinBytes, type RecordBatch, recordsOf } from './record-batch.ts';

/** What is used of a merged record as text. */
interface MergedRecord {
  node: string;
  file: string;
  atMs?: number;
  level?: string;
  source?: string;
  tags?: string[];
  message: string;
  cut?: boolean;
  raw?: string;
  context?: Record<string, unknown>;
  contextText?: string;
}

/**
 * What is written of each record: its text in the file (its message if it has none) and a newline, the same behind its
 * node and a colon, or its columns as in the log format of nodes.
 */
export type TextLayout = 'raw' | 'node and raw' | 'columns';

const ENCODER = new TextEncoder();

/** The records of a batch of a cluster with their text as bytes. */
export function renderText(batch: RecordBatch, layout: TextLayout): RecordBatch {
  const texts = recordsOf<MergedRecord>(batch).map((record) => ENCODER.encode(recordText(record, layout)));
  let end = 0;
  return { ...batch, bytes: joinBytes(texts), ends: Uint32Array.from(texts, ({ length }) => (end += length)) };
}

function recordText(record: MergedRecord, layout: TextLayout): string {
  if (layout === 'columns') return columnsText(record);
  const { node, raw, message } = record;
  return `${layout === 'raw' ? '' : `${node}:`}${raw ?? message}\n`;
}

/** Missing columns are left out, as readers of the format allow; node and file come before the record's own tags. */
function columnsText(record: MergedRecord): string {
  const { node, file, atMs, level, source, tags = [], message, cut } = record;
  const time = atMs === undefined ? undefined : new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  const labels = [node, file, ...tags].map((label) => `[${label.replace(/[\p{Cc}[\]]/gu, '_')}]`).join(' ');
  const [firstLine = '', ...lines] = message.split('\n');
  const columns = [time, level, source, `${labels}: ${firstLine}`, contextJson(record)];
  const first = columns.filter((column) => column !== undefined).join('\t');
  return `${[first, ...lines].join('\n')}${cut ? ' ...' : ''}\n`;
}
