import { CancelFlag } from '../cancel-flag.ts';
import type { TextSource } from '../file/unpack.ts';
import { LogError } from '../log-error.ts';
import type { FileProblem, ReadOptions } from '../types.ts';
import type { OpenFile } from './files/open-file.ts';
import type { ScanContext } from './scan-context.ts';

/** Read by one job: little enough to be copied between threads, and to stop soon. */
const CHUNK_BYTES = 256 * 1024;

/**
 * The text of an archive, with secrets masked, readable from any offset by means of its map. An archive that cannot be
 * decompressed to its end is an error: a partial text must not look complete.
 */
export async function packedText(
  scanContext: ScanContext,
  file: OpenFile,
  { signal, client }: ReadOptions,
): Promise<TextSource> {
  const problems: FileProblem[] = [];
  const scanFile = await cancellable({ signal, client }, (flag) => scanContext.prepare(file, flag, problems));
  const [problem] = problems;
  if (problem) {
    const detail = `${JSON.stringify(file.name)} cannot be decompressed completely: ${problem.detail}`;
    throw new LogError(problem.code === 'LOG_FILE_UNSUPPORTED' ? problem.code : 'LOG_FILE_CORRUPT', detail);
  }
  return {
    sizeBytes: scanFile.textBytes,
    async *read(start, end, options = {}) {
      for (let offset = start; offset < end; offset += CHUNK_BYTES) {
        const bytes = Math.min(CHUNK_BYTES, end - offset);
        const job = { kind: 'text', file: scanFile, offset, bytes } as const;
        const chunk = await cancellable({ signal: options.signal, client }, (flag) => scanContext.pool.run(job, flag));
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      }
    },
  };
}

/** Runs what is cancelled by the signal; the file may be closed when this settles. */
export async function cancellable<T>(
  { signal, client }: ReadOptions,
  run: (flag: CancelFlag) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flag = new CancelFlag({ client });
  const cancel = () => flag.set();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await run(flag);
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
