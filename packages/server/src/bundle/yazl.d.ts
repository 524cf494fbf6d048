/** What is used of yazl, which has no types. */
declare module 'yazl' {
  import type { Readable } from 'node:stream';

  export class ZipFile {
    readonly outputStream: Readable;
    addReadStream(
      content: Readable,
      name: string,
      options: { mtime: Date; mode: number; compressionLevel: number },
    ): void;
    end(): void;
  }
}
