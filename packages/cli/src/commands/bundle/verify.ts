import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { type BundleManifest, formatBytes, MANIFEST_NAME, parseJson } from '@porthole/contract';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** Checks a bundle and lists what is missing from it. */
export async function run({ args, terminal }: Invocation): Promise<number> {
  const [file = ''] = args;
  return printManifest(await verifyBundle(file), terminal);
}

/** Larger than the manifest of any bundle a node creates. */
const MAX_MANIFEST_BYTES = 64 * 1024 ** 2;

/** Returns the manifest after checking every file against it. Throws if the bundle was changed or damaged. */
export async function verifyBundle(path: string): Promise<BundleManifest> {
  const archive = await ZipArchive.open(path);
  try {
    const manifest = await readManifest(archive);
    const listed = new Set([...manifest.entries.map(({ name }) => name), MANIFEST_NAME]);
    for (const name of archive.names) if (!listed.has(name)) throw damaged(`${name} is not in the manifest`);
    for (const { name, bytes, sha256 } of manifest.entries) {
      const found = await hashChunks(archive.read(name));
      if (found.bytes !== bytes || found.sha256 !== sha256)
        throw damaged(`the hash of ${name} differs from the manifest`);
    }
    return manifest;
  } finally {
    await archive.close();
  }
}

async function readManifest(archive: ZipArchive): Promise<BundleManifest> {
  let text = '';
  for await (const chunk of archive.read(MANIFEST_NAME)) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > MAX_MANIFEST_BYTES) throw damaged('the manifest is too large');
  }
  const manifest = parseJson(Buffer.from(text, 'latin1').toString()) as Partial<BundleManifest> | null | undefined;
  if (manifest?.format !== 'porthole-bundle' || !Array.isArray(manifest.entries) || !Array.isArray(manifest.missing))
    throw damaged('the manifest is invalid');
  if (manifest.formatVersion !== 1)
    throw new ProgramError(`bundle format version ${manifest.formatVersion} is not supported; use a newer porthole`);
  return manifest as BundleManifest;
}

async function hashChunks(chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** The manifest lists all of them. */
const MAX_WARNINGS = 20;

/** Prints a summary of a bundle and what is missing from it. Returns the exit code. */
export function printManifest(manifest: BundleManifest, terminal: Terminal): number {
  const { entries, missing, members, isComplete } = manifest;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const nodes = members.length === 1 ? '1 node' : `${members.length} nodes`;
  terminal.note(`${entries.length} files, ${formatBytes(bytes)} uncompressed, from ${nodes}; all hashes match`);
  const problems = [
    ...missing.map(({ name, reason }) => `${name} is missing: ${reason}`),
    ...entries.flatMap(({ name, problems: known }) => known.map((problem) => `${name}: ${problem}`)),
  ];
  for (const problem of problems.slice(0, MAX_WARNINGS)) terminal.warn(visibleText(problem));
  const more = problems.length - MAX_WARNINGS;
  if (more > 0) terminal.warn(`and ${more} more, listed in manifest.json`);
  return isComplete ? EXIT.ok : EXIT.partial;
}

const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;

/** The comment of an archive of another program: it is refused, as all that follows the directory. */
const MAX_COMMENT_BYTES = 65_535;

const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const HEADER_BYTES = 30;

/** A flag of a file whose lengths stand behind it, with a signature. */
const HAS_DESCRIPTOR = 8;
const DESCRIPTOR_BYTES = 16;

/** Thousands of files need less; anything larger is an attempt to exhaust memory. */
const MAX_DIRECTORY_BYTES = 64 * 1024 ** 2;

const CHUNK_BYTES = 256 * 1024;
const DEFLATED = 8;

interface ZippedFile {
  name: string;
  method: number;
  packedBytes: number;
  headerAt: number;
}

/** A ZIP archive on disk. ZIP64 is not supported: bundles stay below 4 GiB. */
export class ZipArchive {
  readonly #handle: FileHandle;
  readonly #files: ReadonlyMap<string, ZippedFile>;

  private constructor(handle: FileHandle, files: readonly ZippedFile[]) {
    this.#handle = handle;
    this.#files = new Map(files.map((file) => [file.name, file]));
  }

  /** Throws for anything but a complete archive. The caller closes it. */
  static async open(path: string): Promise<ZipArchive> {
    const handle = await open(path);
    try {
      return new ZipArchive(handle, await readDirectory(handle));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get names(): string[] {
    return [...this.#files.keys()];
  }

  /** The uncompressed content of a file. */
  async *read(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const file = this.#files.get(name);
    if (!file) throw damaged(`${name} is missing`);
    const header = await readAt(this.#handle, file.headerAt, HEADER_BYTES);
    const start = file.headerAt + HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    const packed = readPart(this.#handle, start, start + file.packedBytes);
    if (file.method !== DEFLATED) return yield* packed;
    const source = Readable.from(packed);
    const inflate = createInflateRaw();
    source.once('error', (error) => inflate.destroy(error));
    try {
      yield* source.pipe(inflate);
    } catch (error) {
      throw error instanceof ProgramError ? error : damaged(`${name} cannot be unpacked`, error);
    } finally {
      source.destroy();
      inflate.destroy();
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function readDirectory(handle: FileHandle): Promise<ZippedFile[]> {
  const { size } = await handle.stat();
  const tailAt = Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await readAt(handle, tailAt, size - tailAt);
  const end = tail.lastIndexOf(END_SIGNATURE);
  if (end < 0 || end + END_BYTES > tail.length) throw damaged('not a ZIP archive, or truncated');
  if (end + END_BYTES < tail.length) throw damaged('there is something behind the archive');
  const [count, bytes, at] = [tail.readUInt16LE(end + 10), tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (bytes > MAX_DIRECTORY_BYTES || at + bytes !== tailAt + end) throw damaged('invalid central directory');
  const files = readEntries(await readAt(handle, at, bytes), count);
  await checkPlaces(handle, files, at);
  return files;
}

/**
 * Programs differ in which of two files with a name they unpack, and in what they see of data that no file has: there must
 * be nothing that one of them could show and the manifest does not list.
 */
async function checkPlaces(handle: FileHandle, files: readonly ZippedFile[], directoryAt: number): Promise<void> {
  const names = new Set<string>();
  let at = 0;
  for (const file of files) {
    const name = file.name.normalize().toLowerCase();
    if (names.has(name)) throw damaged(`${file.name} is in it twice`);
    names.add(name);
    if (file.headerAt !== at) throw damaged('there is something between the files of the archive');
    const header = await readAt(handle, at, HEADER_BYTES);
    const nameBytes = header.readUInt16LE(26);
    const own = await readAt(handle, at + HEADER_BYTES, nameBytes);
    if (own.toString('utf8') !== file.name) throw damaged(`${file.name} has another name in its place`);
    at += HEADER_BYTES + nameBytes + header.readUInt16LE(28) + file.packedBytes;
    if (header.readUInt16LE(6) & HAS_DESCRIPTOR) at += DESCRIPTOR_BYTES;
  }
  if (at !== directoryAt) throw damaged('there is something behind the files of the archive');
}

function readEntries(directory: Buffer, count: number): ZippedFile[] {
  let at = 0;
  const files = Array.from({ length: count }, () => {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw damaged('truncated central directory');
    const nameEnd = at + ENTRY_BYTES + directory.readUInt16LE(at + 28);
    const file = {
      name: directory.toString('utf8', at + ENTRY_BYTES, nameEnd),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      headerAt: directory.readUInt32LE(at + 42),
    };
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    return file;
  });
  if (at < directory.length) throw damaged('invalid central directory');
  return files;
}

async function* readPart(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += CHUNK_BYTES) yield await readAt(handle, at, Math.min(CHUNK_BYTES, end - at));
}

async function readAt(handle: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(buffer, 0, bytes, at);
  if (bytesRead < bytes) throw damaged('truncated');
  return buffer;
}

export function damaged(what: string, cause?: unknown): ProgramError {
  return new ProgramError(`the bundle is damaged: ${what}`, { cause });
}
