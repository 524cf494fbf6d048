import { createHash } from 'node:crypto';
import { type BundleManifest, MANIFEST_NAME } from '@porthole/contract';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatBytes } from '../../output/format-bytes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { damaged, ZipArchive } from './zip-archive.ts';

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
  const manifest = parse(Buffer.from(text, 'latin1').toString());
  if (manifest?.format !== 'porthole-bundle' || !Array.isArray(manifest.entries) || !Array.isArray(manifest.missing))
    throw damaged('the manifest is invalid');
  if (manifest.formatVersion !== 1)
    throw new ProgramError(`bundle format version ${manifest.formatVersion} is not supported; use a newer porthole`);
  return manifest as BundleManifest;
}

function parse(text: string): Partial<BundleManifest> | null {
  try {
    return JSON.parse(text) as Partial<BundleManifest> | null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
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
