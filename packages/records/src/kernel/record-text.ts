import { contextJson } from '../exact-json.ts';
import { joinBytes, type RecordBatch, recordsOf, sliceBatch, startOf } from '../record-batch.ts';
import { LineTextKernel, type TextLayout } from './line-text-kernel.ts';

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

/** Records are parsed in rows of so many where none is recognized: each attempt takes as long as parsing some. */
const MAX_PARSED = 1023;

const ENCODER = new TextEncoder();

/** Renders batches of a cluster as text. Records that are not as nodes write them are parsed, which takes ten times as long. */
export class TextRenderer {
  readonly #kernel = new LineTextKernel();
  readonly #layout: TextLayout;
  #room = new Uint8Array(0);

  constructor(layout: TextLayout) {
    this.#layout = layout;
  }

  /** The same records with their text as bytes. Each batch is used up before the next one is requested. */
  *render(batch: RecordBatch): Generator<RecordBatch, void, undefined> {
    const count = batch.ends.length;
    let pause = 0;
    for (let index = 0; index < count; ) {
      const rendered = this.#kernel.render(batch.bytes, startOf(batch, index), this.#layout);
      if (rendered > 0) {
        const ends = this.#kernel.textEnds.slice(0, rendered);
        yield { ...sliceBatch(batch, index, index + rendered), bytes: this.#copy(this.#kernel.text(rendered)), ends };
      }
      pause = rendered > 0 ? 1 : Math.min(2 * pause + 1, MAX_PARSED);
      const parsedTo = Math.min(count, index + rendered + pause);
      if (parsedTo > index + rendered) yield this.#parsed(sliceBatch(batch, index + rendered, parsedTo));
      index = parsedTo;
    }
  }

  #copy(text: Uint8Array): Uint8Array {
    if (this.#room.length < text.length) this.#room = new Uint8Array(Math.ceil(text.length * 1.25));
    this.#room.set(text);
    return this.#room.subarray(0, text.length);
  }

  #parsed(batch: RecordBatch): RecordBatch {
    const texts = recordsOf<MergedRecord>(batch).map((record) => ENCODER.encode(recordText(record, this.#layout)));
    let end = 0;
    return { ...batch, bytes: joinBytes(texts), ends: Uint32Array.from(texts, ({ length }) => (end += length)) };
  }
}

/** The text of a record, as the kernel renders it from its line. */
export function recordText(record: MergedRecord, layout: TextLayout): string {
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
