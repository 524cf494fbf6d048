import { isPackedName, refuseUndecoded } from '../file/compression.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { unpackRange } from '../file/unpack.ts';
import { decodeUtf16, detectUtf16 } from '../file/utf16.ts';
import { FormatSet } from '../parse/format-set.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { ReadOptions } from '../types.ts';
import { EMPTY_SUMMARY, type EndsSummary, HeadSummary, INSPECTED_BYTES } from './head-summary.ts';

/** Format and time range of a file, read from both ends. Does not release the file. */
export async function describeFile(
  file: RangeSource,
  { zone, formats }: { zone: Zone; formats?: readonly UserFormat[] | undefined },
  options: ReadOptions,
): Promise<EndsSummary> {
  const { handle } = file;
  if (handle.sizeBytes === 0) return EMPTY_SUMMARY;
  refuseUndecoded(handle);
  const compressed = isPackedName(handle.name);
  const bytes = compressed
    ? await collect(unpackRange(file, 0, INSPECTED_BYTES, options))
    : await collect(readRange(file, 0, Math.min(INSPECTED_BYTES, handle.sizeBytes), options));
  const encoding = detectUtf16(bytes);
  const head = encoding ? decodeUtf16(bytes, encoding) : bytes;
  if (head.length === 0) return EMPTY_SUMMARY;
  const summary = new HeadSummary(head, {
    detector: new FormatSet(formats).detector(zone),
    writtenMs: Number(handle.modifiedNs / 1_000_000n),
  });
  if (compressed) return summary.withoutTail();
  // UTF-16 has two bytes for a character.
  const from = Math.max(0, handle.sizeBytes - (handle.sizeBytes % 2) - INSPECTED_BYTES);
  const end = await collect(readRange(file, from, handle.sizeBytes, options));
  const tail = encoding ? decodeUtf16(end, encoding) : end;
  return summary.withTail(tail, { isWhole: from === 0 });
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
