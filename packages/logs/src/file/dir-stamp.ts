import { stat } from 'node:fs/promises';

/** Directories changed within one tick of the kernel's clock bear the same time; coarse ones take 10 ms, FAT two seconds. */
const TICK_NS = 2_000_000_000n;

/** Says whether the names in a directory are still those they were. */
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

  /** Never where that is not certain. */
  async isSame(): Promise<boolean> {
    return this.#stamp !== undefined && this.#stamp === (await read(this.#dir));
  }
}

/** `undefined` where another change might bear the same time. */
async function read(dir: string): Promise<string | undefined> {
  try {
    const { dev, ino, mtimeNs } = await stat(dir, { bigint: true });
    const isOld = BigInt(Date.now()) * 1_000_000n - mtimeNs > TICK_NS;
    return isOld ? `${dev}:${ino}:${mtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}
