import { stat } from 'node:fs/promises';
import { systemCode } from '../log-error.ts';

/**
 * Changes within one tick of the kernel clock get the same timestamp; coarse clocks tick every 10 ms, FAT every two
 * seconds.
 */
const TICK_NS = 2_000_000_000n;

/** Detects whether the names in a directory may have changed. */
export class DirStamp {
  readonly #dir: string;
  readonly #stamp: string | undefined;

  private constructor(dir: string, stamp: string | undefined) {
    this.#dir = dir;
    this.#stamp = stamp;
  }

  static async take(dir: string): Promise<DirStamp> {
    return new DirStamp(dir, await read(dir));
  }

  /** False unless it is certain. */
  async isSame(): Promise<boolean> {
    return this.#stamp !== undefined && this.#stamp === (await read(this.#dir));
  }
}

/** `undefined` if another change could get the same timestamp. */
async function read(dir: string): Promise<string | undefined> {
  try {
    const { dev, ino, mtimeNs } = await stat(dir, { bigint: true });
    const isOld = BigInt(Date.now()) * 1_000_000n - mtimeNs > TICK_NS;
    return isOld ? `${dev}:${ino}:${mtimeNs}` : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
