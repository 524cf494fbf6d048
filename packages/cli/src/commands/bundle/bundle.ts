import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from '@porthole/client';
import {
  type BundleManifest,
  type BundleRequest,
  bundleFileName,
  formatBytes,
  type RequestClock,
  selectsMembers,
} from '@porthole/contract';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { Progress } from '../../output/progress.ts';
import { openTimed, requireRange, timeFlag } from '../../records/record-flags.ts';
import { statIfExists } from '../../sources/find-path.ts';
import { memberSelection } from '../../sources/source-flags.ts';
import { printManifest, verifyBundle } from './verify.ts';

const HOUR_MS = 3_600_000;

/** Readable by the owner only: it holds configurations and logs. */
const PRIVATE = 0o600;

/** Downloads a bundle. The file appears complete and verified, or not at all. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { terminal } = invocation;
  const target = invocation.text('output');
  if (target !== undefined && target !== '-') await refuseExisting(target);
  const { client: node, clock } = await openTimed(invocation, signal);
  const request = buildRequest(invocation, clock);
  const scratch = target === '-' ? await mkdtemp(join(tmpdir(), 'porthole-bundle-')) : undefined;
  const partFile =
    scratch === undefined ? `${target ?? 'porthole-bundle'}.${process.pid}.part` : join(scratch, 'bundle');
  const remove = () => rmSync(scratch ?? partFile, { recursive: true, force: true });
  // Also when a failed write to stdout exits the process.
  process.once('exit', remove);
  try {
    await fetchTo(partFile, { invocation, node, request, signal });
    const manifest = await verifyBundle(partFile);
    if (scratch === undefined) await terminal.write(`${await renameBundle(partFile, target, manifest)}\n`);
    else for await (const chunk of createReadStream(partFile)) await terminal.write(chunk as Buffer);
    return printManifest(manifest, terminal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    remove();
  }
}

/** Relative times and times of day are those of the node: its clock, its zone. */
function buildRequest(invocation: Invocation, clock: RequestClock): BundleRequest {
  const toMs = timeFlag(invocation, 'until', clock) ?? clock.nowMs;
  const fromMs = timeFlag(invocation, 'since', clock) ?? toMs - HOUR_MS;
  requireRange(fromMs, toMs);
  const { args } = invocation;
  const members = { ...(args.length > 0 && { nodes: args }), ...memberSelection(invocation) };
  return { fromMs, toMs, ...(selectsMembers(members) ? members : { nodes: ['*'] }) };
}

interface FetchOptions {
  invocation: Invocation;
  node: Client;
  request: BundleRequest;
  signal: AbortSignal;
}

async function fetchTo(path: string, { invocation, node, request, signal }: FetchOptions): Promise<void> {
  const bundle = await node.bundle(request, { signal });
  let done = 0;
  const progress = new Progress(invocation.terminal, () => `creating the bundle: ${formatBytes(done)}`);
  const counted = async function* () {
    for await (const chunk of bundle.chunks) {
      done += chunk.length;
      yield chunk;
    }
  };
  try {
    await pipeline(counted, createWriteStream(path, { flags: 'wx', mode: PRIVATE }));
  } finally {
    progress.end();
    await bundle.close();
  }
}

/** Renames to the requested name, or to one with cluster and time. */
async function renameBundle(part: string, target: string | undefined, manifest: BundleManifest): Promise<string> {
  const path = target ?? bundleFileName(manifest);
  await refuseExisting(path);
  await rename(part, path);
  return path;
}

async function refuseExisting(path: string): Promise<void> {
  if (await statIfExists(path))
    throw new ProgramError(`${path} already exists, not overwritten; use -o to choose another name`);
}
