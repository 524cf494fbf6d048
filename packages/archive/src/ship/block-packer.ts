import { setImmediate } from 'node:timers/promises';
import { type LoadedWasm, loadWasm } from '@porthole/records';
import { WASM_BASE64 } from '../kernel/blocks-wasm.ts';

interface Exports {
  pack(length: number): number;
}

/** Packs bytes as compressed blocks with checksums, as ClickHouse reads them with `decompress=1`. */
export class BlockPacker {
  readonly #loaded: LoadedWasm;
  readonly #memory: Buffer;

  constructor() {
    this.#loaded = loadWasm(WASM_BASE64);
    this.#memory = Buffer.from(this.#loaded.buffer);
  }

  /** A block at a time, so that other work of the thread has its turn in between. */
  async pack(bytes: Buffer): Promise<Buffer> {
    const { constant } = this.#loaded;
    const blocks: Buffer[] = [];
    for (let from = 0; from < bytes.length; from += constant('INPUT_BYTES')) {
      if (from > 0) await setImmediate();
      blocks.push(this.#packBlock(bytes.subarray(from, from + constant('INPUT_BYTES'))));
    }
    return Buffer.concat(blocks);
  }

  #packBlock(bytes: Buffer): Buffer {
    const { constant, exports } = this.#loaded;
    bytes.copy(this.#memory, constant('INPUT'));
    const size = (exports as unknown as Exports).pack(bytes.length);
    return Buffer.from(this.#memory.subarray(constant('OUTPUT'), constant('OUTPUT') + size));
  }
}
