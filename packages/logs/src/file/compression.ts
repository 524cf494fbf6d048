import { LogError } from '../log-error.ts';

interface Compression {
  name: string;
  /** The command that decompresses a file; `undefined` for the one that is read as text. */
  decompress: string | undefined;
}

/** Compressions of rotated files, by the suffix they add to the name. */
const COMPRESSIONS: ReadonlyMap<string, Compression> = new Map([
  ['.gz', { name: 'gzip', decompress: undefined }],
  ['.zst', { name: 'zstd', decompress: 'zstd -d' }],
  ['.xz', { name: 'xz', decompress: 'xz -d' }],
  ['.bz2', { name: 'bzip2', decompress: 'bzip2 -d' }],
  ['.lz4', { name: 'lz4', decompress: 'lz4 -d' }],
  ['.zip', { name: 'zip', decompress: 'unzip' }],
]);

const SUFFIX_MAX_CHARS = Math.max(...Array.from(COMPRESSIONS.keys(), (suffix) => suffix.length));

/** The suffix of a compressed file as it is in its name, or nothing. */
export function compressionSuffix(name: string): string {
  const dot = name.lastIndexOf('.');
  if (dot < 0 || name.length - dot > SUFFIX_MAX_CHARS) return '';
  const suffix = name.slice(dot);
  return COMPRESSIONS.has(suffix.toLowerCase()) ? suffix : '';
}

export function isCompressedName(name: string): boolean {
  return compressionSuffix(name) !== '';
}

/** Whether it is compressed by anything but gzip: it belongs to its log, and its text is not read. */
export function isUndecodedName(name: string): boolean {
  return findUndecoded(name) !== undefined;
}

/** Throws for a file whose compression is not read: its bytes are not text. An empty file is an empty text. */
export function refuseUndecoded({ name, sizeBytes }: { name: string; sizeBytes: number }): void {
  const compression = sizeBytes > 0 ? findUndecoded(name) : undefined;
  if (!compression) return;
  throw new LogError(
    'LOG_FILE_UNSUPPORTED',
    `${JSON.stringify(name)} is compressed with ${compression.name}, which is not read; ` +
      `decompress it with "${compression.decompress}", or have rotated files compressed with gzip`,
  );
}

function findUndecoded(name: string): Compression | undefined {
  const compression = COMPRESSIONS.get(compressionSuffix(name).toLowerCase());
  return compression?.decompress === undefined ? undefined : compression;
}
