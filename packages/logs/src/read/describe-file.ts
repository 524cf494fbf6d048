import { gunzipRange } from '../file/gunzip.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { isGzipName } from '../file/text-source.ts';
import { FormatDetector } from '../parse/detect-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { ReadOptions } from '../types.ts';
import { type EndsLook, HeadLook, LOOK_BYTES, NOTHING_SEEN } from './look-at-ends.ts';

/** What the two ends of a file tell. Releases nothing. */
export async function describeFile(file: RangeSource, zone: Zone, options: ReadOptions): Promise<EndsLook> {
  const { handle } = file;
  if (handle.sizeBytes === 0) return NOTHING_SEEN;
  const compressed = isGzipName(handle.name);
  const head = compressed
    ? await collect(gunzipRange(file, 0, LOOK_BYTES, options))
    : await collect(readRange(file, 0, Math.min(LOOK_BYTES, handle.sizeBytes), options));
  if (head.length === 0) return NOTHING_SEEN;
  const look = new HeadLook(head, {
    detector: new FormatDetector(zone),
    writtenMs: Number(handle.modifiedNs / 1_000_000n),
  });
  if (compressed) return look.withoutTail();
  const from = Math.max(0, handle.sizeBytes - LOOK_BYTES);
  return look.withTail(await collect(readRange(file, from, handle.sizeBytes, options)), { isWhole: from === 0 });
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
