import { MirrorDir, type MirrorDirOptions } from './mirror-dir.ts';

/** Bytes of a file in a directory. */
export interface HeldFile {
  name: string;
  heldBytes: number;
}

/** The directories with the tails of one node: the newest is for new requests, older ones still have followers. */
export class MirrorDirs {
  readonly #options: MirrorDirOptions;
  #dirs: MirrorDir[] = [];

  constructor(options: MirrorDirOptions) {
    this.#options = options;
  }

  /** The newest, in use until released. Only after `prepare`. */
  use(): { dir: MirrorDir; release: () => void } {
    const dir = this.#dirs.at(-1);
    if (dir === undefined) throw new Error('the mirror is used before its first refresh');
    return { dir, release: dir.use() };
  }

  /** Creates the first directory and removes unused ones. */
  async prepare(): Promise<void> {
    const newest = this.#dirs.at(-1) ?? (await MirrorDir.create(this.#options));
    this.#dirs = [...this.#dirs.filter((dir) => dir !== newest && dir.isUsed), newest];
  }

  /** Applies to all directories: each may have followers. */
  async write(act: (dir: MirrorDir) => Promise<void>): Promise<void> {
    for (const dir of this.#dirs) await act(dir);
  }

  /**
   * Copies the newest part of each file into a new directory for new requests. Followers stay in the old one. Returns the
   * number of bytes copied, by name.
   */
  async cut(files: readonly HeldFile[], maxBytes: number): Promise<ReadonlyMap<string, number>> {
    const before = this.#dirs.at(-1);
    const next = await MirrorDir.create(this.#options);
    const copied = new Map<string, number>();
    try {
      for (const { name, heldBytes } of files) {
        copied.set(name, (await before?.copyTo(next, { name, maxBytes })) ?? 0);
        if (heldBytes > maxBytes) await this.write((dir) => dir.moveAside(name));
      }
    } catch (error) {
      await next.close();
      throw error;
    }
    await before?.retire();
    this.#dirs = [...this.#dirs.filter((dir) => dir.isUsed), next];
    return copied;
  }

  async close(): Promise<void> {
    await Promise.all(this.#dirs.map((dir) => dir.close()));
    this.#dirs = [];
  }
}
