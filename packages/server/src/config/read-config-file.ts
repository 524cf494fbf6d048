import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { types } from 'node:util';
import { PortholeError } from '@porthole/contract';

/** The text of a configuration file. Throws `CONFIG_UNAVAILABLE` for anything that cannot be read as such. */
export async function readConfigFile(path: string, { maxBytes }: { maxBytes: number }): Promise<string> {
  try {
    // Non-blocking, because it may be a FIFO.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw unavailable(path, 'it is not a regular file');
      if (stats.size > maxBytes)
        throw unavailable(path, `it is larger than ${maxBytes} bytes, the limit set by config.max-bytes`);
      const bytes = await handle.readFile();
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    if (error instanceof TypeError) throw unavailable(path, 'it is not UTF-8 text', error);
    throw unavailable(
      path,
      types.isNativeError(error) && 'code' in error ? String(error.code) : 'it cannot be read',
      error,
    );
  }
}

function unavailable(path: string, reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `the configuration file ${path} cannot be shown: ${reason}`, {
    cause,
  });
}
