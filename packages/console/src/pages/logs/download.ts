import type { NodeState } from '@porthole/client';
import type { LogSource, RowFilter } from '../../log-view/log-source.ts';
import { recordLine } from '../../log-view/record-text.ts';

/** A page of records asked at once. */
const PAGE_RECORDS = 1000;

/** A file in the memory of the browser should not be larger; the command line has no such limit. */
const MAX_RECORDS = 100_000;
const MAX_CHARACTERS = 64_000_000;

/** Of a file, on each side of a record. */
const AROUND_BYTES = 512 * 1024;

export interface Download {
  name: string;
  content: Blob;
  /** Not all of it: there was more than a page can hold. */
  isCut: boolean;
}

/** The records that the filter finds, oldest first, as lines of text. */
export async function foundRecords(source: LogSource, filter: RowFilter, signal: AbortSignal): Promise<Download> {
  const parts: string[] = [];
  const withNode = source.nodes.length !== 1;
  let records = 0;
  let characters = 0;
  let from: Parameters<LogSource['page']>[0]['from'] | null = 'start';
  while (from !== null && records < MAX_RECORDS && characters < MAX_CHARACTERS) {
    const page = await source.page({ direction: 'newer', from, limit: PAGE_RECORDS, filter }, { signal });
    for (const record of page.records) {
      const line = `${recordLine(record, { withNode })}\n`;
      parts.push(line);
      characters += line.length;
    }
    records += page.records.length;
    from = page.next === null ? null : { page: page.next };
  }
  return { name: 'records.log', content: new Blob(parts, { type: 'text/plain' }), isCut: from !== null };
}

/** Bytes of a file as they are; without a place the whole file, as far as a page can hold it. */
export async function fileBytes(
  node: Pick<NodeState, 'openLog'>,
  { file, around }: { file: string; around?: { offset: number; bytes: number } },
  signal: AbortSignal,
): Promise<Download> {
  const log = await node.openLog({ file }, { signal });
  try {
    const start = around ? Math.max(0, around.offset - AROUND_BYTES) : Math.max(0, log.sizeBytes - MAX_CHARACTERS);
    const end = around
      ? Math.min(log.sizeBytes, around.offset + Math.min(around.bytes, AROUND_BYTES) + AROUND_BYTES)
      : log.sizeBytes;
    const chunks: BlobPart[] = [];
    // Chunks are used again: what is kept is a copy.
    for await (const chunk of log.read(start, end, { signal })) chunks.push(chunk.slice());
    const isCut = around === undefined && start > 0;
    return { name: file, content: new Blob(chunks, { type: 'application/octet-stream' }), isCut };
  } finally {
    await log.close();
  }
}
