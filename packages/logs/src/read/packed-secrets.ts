import { isPackedName } from '../file/compression.ts';
import { fileStamp, isSettled } from '../file/file-stamp.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { unpack } from '../file/unpack.ts';
import { LogError } from '../log-error.ts';
import { decodeAnyUtf16, readEncoding } from '../packed/utf16.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { ReadOptions } from '../types.ts';

/** Files for which the result is cached: decompressing them again would take as long as sending them. */
const MAX_REMEMBERED = 1024;

/** Determines which compressed files contain secrets, and keeps them from being served as is. */
export class PackedSecrets {
  readonly #known = new Map<string, boolean>();

  /**
   * Throws `RAW_HAS_SECRETS` for a compressed or UTF-16 file whose text contains secrets, or cannot be decompressed to find out.
   */
  async refuse(file: RangeSource, options: ReadOptions): Promise<void> {
    const { handle, reads } = file;
    const { scrubber } = reads;
    if (!scrubber || handle.sizeBytes === 0) return;
    const isPacked = isPackedName(handle.name);
    if (!isPacked && (await readEncoding(handle)) === undefined) return;
    const key = `${fileStamp(handle)}:${scrubber.id}`;
    const isLasting = isSettled(handle);
    const hasSecrets = this.#known.get(key) ?? (await this.#inspect(file, scrubber, options));
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    if (isLasting) this.#known.set(key, hasSecrets);
    if (hasSecrets)
      throw refusal(
        handle.name,
        `its text contains secrets, which cannot be masked in ${isPacked ? 'a compressed file' : 'UTF-16'}`,
      );
  }

  /** Throws for a file that was not scanned completely: anything may follow padding, and is decompressed with it. */
  async #inspect(file: RangeSource, scrubber: Scrubber, options: ReadOptions): Promise<boolean> {
    const { name } = file.handle;
    if (!isPackedName(name)) {
      return holdsSecrets(
        decodeAnyUtf16(readRange(file, 0, file.handle.sizeBytes, { ...options, packed: true })),
        scrubber,
      );
    }
    let packedBytes = 0;
    try {
      const onEnd = (bytes: number) => {
        packedBytes = bytes;
      };
      if (await holdsSecrets(decodeAnyUtf16(unpack(file, { ...options, onEnd })), scrubber)) return true;
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
      throw refusal(name, 'it is damaged, so it cannot be checked for secrets', error);
    }
    // The names and comments in member headers are not compressed.
    const raw = new UsedByteCounter(readRange(file, 0, file.handle.sizeBytes, { ...options, packed: true }));
    if (await holdsSecrets(raw.chunks(), scrubber)) return true;
    if (raw.usedBytes <= packedBytes) return false;
    throw refusal(name, 'the data after its compressed text cannot be checked for secrets');
  }
}

/** Tracks the end of the data, without trailing zero padding. */
class UsedByteCounter {
  usedBytes = 0;
  readonly #chunks: AsyncIterable<Buffer>;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks;
  }

  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    let position = 0;
    for await (const chunk of this.#chunks) {
      const last = chunk.findLastIndex((byte) => byte !== 0);
      if (last >= 0) this.usedBytes = position + last + 1;
      position += chunk.length;
      yield chunk;
    }
  }
}

async function holdsSecrets(chunks: AsyncIterable<Buffer>, scrubber: Scrubber): Promise<boolean> {
  let before: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([before, chunk]);
    before = Buffer.from(bytes.subarray(Math.max(0, bytes.length - scrubber.leftBytes)));
    if (scrubber.mask(bytes)) return true;
  }
  return false;
}

function refusal(name: string, reason: string, cause?: unknown): LogError {
  return new LogError(
    'RAW_HAS_SECRETS',
    `${JSON.stringify(name)} cannot be served raw: ${reason}; request its text instead, with a sufficient size`,
    { cause },
  );
}
