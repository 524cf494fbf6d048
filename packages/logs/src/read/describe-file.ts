import { isPackedName, refuseUndecoded } from '../file/compression.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { unpackRange } from '../file/unpack.ts';
import { isUtf16 } from '../file/utf16.ts';
import { FormatSet } from '../parse/format-set.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { ReadOptions } from '../types.ts';
import { EMPTY_SUMMARY, type EndsSummary, HeadSummary, INSPECTED_BYTES, UTF16_SUMMARY } from './head-summary.ts';

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
  const head = compressed
    ? await collect(unpackRange(file, 0, INSPECTED_BYTES, options))
    : await collect(readRange(file, 0, Math.min(INSPECTED_BYTES, handle.sizeBytes), options));
  if (head.length === 0) return EMPTY_SUMMARY;
  if (isUtf16(head)) return UTF16_SUMMARY;
  const summary = new HeadSummary(head, {
    detector: new FormatSet(formats).detector(zone),
    writtenMs: Number(handle.modifiedNs / 1_000_000n),
  });
  if (compressed) return summary.withoutTail();
  const from = Math.max(0, handle.sizeBytes - INSPECTED_BYTES);
  return summary.withTail(await collect(readRange(file, from, handle.sizeBytes, options)), { isWhole: from === 0 });
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
