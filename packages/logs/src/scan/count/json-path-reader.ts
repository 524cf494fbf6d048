import type { ScanKernel } from '../../kernel/scan-kernel.ts';

/**
 * Finds the values at a path of a JSON object in the kernel's text without parsing it: no strings and no objects are
 * created. Everything is validated on the way, because text that is no JSON is no context.
 */
export class JsonPathReader {
  readonly #kernel: ScanKernel;
  readonly #path: Buffer;

  /** The kernel has one path: there may be only one reader at a time. */
  constructor(kernel: ScanKernel, path: string) {
    this.#kernel = kernel;
    this.#path = Buffer.from(path);
    kernel.path.set(this.#path);
  }

  static canRead(kernel: ScanKernel, path: string): boolean {
    return Buffer.byteLength(path) <= kernel.path.length;
  }

  /**
   * How many values the object in the line `[start, end)` has; negative if it must be parsed: it is no object, or
   * unusual, or has several lines.
   */
  readObject(start: number, end: number): number {
    return this.#kernel.jsonPath(start, end, this.#path.length);
  }

  /** The same for the context of a line of the contract's format. */
  readContext(start: number, end: number): number {
    return this.#kernel.contextPath(start, end, this.#path.length);
  }

  /** The first value, without quotes. */
  get start(): number {
    return this.#kernel.foundValue[0] ?? 0;
  }

  get end(): number {
    return this.#kernel.foundValue[1] ?? 0;
  }

  get isEscaped(): boolean {
    return this.#kernel.foundValue[2] === 1;
  }
}
