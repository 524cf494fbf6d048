import { LogError } from '../log-error.ts';
import type { DecoderName } from '../packed/decoders.ts';

interface Compression {
  name: string;
  /** The command that decompresses a file; `undefined` for those that are read as text. */
  decompress: string | undefined;
}

/** Compressions of rotated files, by the suffix they add to the name. */
const COMPRESSIONS: ReadonlyMap<string, Compression> = new Map([
  ['.gz', { name: 'gzip', decompress: undefined }],
  ['.zst', { name: 'zstd', decompress: undefined }],
  ['.xz', { name: 'xz', decompress: undefined }],
  ['.bz2', { name: 'bzip2', decompress: undefined }],
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

/** Whether it is compressed and its text is read. */
export function isPackedName(name: string): boolean {
  return isCompressedName(name) && !isUndecodedName(name);
}

/** What decodes the text of a file of this name; `undefined` for plain files and gzip, which zlib decodes. */
export function findDecoder(name: string): DecoderName | undefined {
  const found = COMPRESSIONS.get(compressionSuffix(name).toLowerCase())?.name;
  return found === 'zstd' || found === 'xz' || found === 'bzip2' ? found : undefined;
}

/** The name of the file before it was compressed. */
export function plainName(name: string): string {
  return name.slice(0, name.length - compressionSuffix(name).length);
}

/** Whether its compression is not read: it belongs to its log, and its text is reported as missing. */
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
      `decompress it with "${compression.decompress}", or have rotated files compressed with gzip, zstd, xz or bzip2`,
  );
}

function findUndecoded(name: string): Compression | undefined {
  const compression = COMPRESSIONS.get(compressionSuffix(name).toLowerCase());
  return compression?.decompress === undefined ? undefined : compression;
}
