import { type BundleManifest, type BundleRequest, bundleFileName, type ClusterState } from '@porthole/contract';
import { ownVersion } from '../version.ts';
import type { BundleParts, BundleSources } from './bundle-parts.ts';
import { BundleWriter } from './bundle-writer.ts';
import { EntryNames } from './entry-names.ts';
import { addLogs } from './log-entries.ts';
import { addState } from './state-entries.ts';
import { ZipStream } from './zip-stream.ts';

/** An archive that is made while it is read. */
export interface OpenBundle {
  /** What to call it. */
  fileName: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Ends the making of it, wherever that is. Resolves when nothing is held any more. */
  close(): Promise<void>;
}

export interface OpenBundleOptions {
  cluster: ClusterState;
  request: BundleRequest;
  /** Fires when nobody wants it any more. */
  signal: AbortSignal;
}

/**
 * Asks the members who they are and how they are configured, which is where a bad request shows, then begins to write.
 * What fails later costs its own files, and the manifest says so.
 */
export async function openBundle(
  sources: BundleSources,
  { cluster, request, signal }: OpenBundleOptions,
): Promise<OpenBundle> {
  const { fromMs, toMs, ...selection } = request;
  const madeMs = Date.now();
  const [nodes, { configs }] = await Promise.all([cluster.nodes({ signal }), cluster.config(selection, { signal })]);
  const zip = new ZipStream(madeMs);
  const ends = watchEnds(signal, { timeoutMs: sources.timeoutMs, onLeave: () => zip.leave() });
  const writer = new BundleWriter(zip, { maxBytes: sources.maxBytes, ...ends });
  const names = new EntryNames();
  const parts = { sources, cluster, request, madeMs, nodes, configs, writer, names, signal: ends.either };
  const writing = write(parts, ends.overtime)
    .then(() => zip.end())
    // Also where nobody wants it any more: whoever still waits for the next chunk must not wait for ever.
    .catch((error: Error) => zip.fail(error))
    .finally(() => ends.release());
  const close = () => {
    ends.leave();
    return writing;
  };
  return { fileName: bundleFileName({ cluster: nodes.cluster, madeMs }), chunks: zip.chunks(), close };
}

/** The two ways in which the making of a bundle ends too early: it is left, or its time is over. */
interface Ends {
  leaving: AbortSignal;
  overtime: AbortSignal;
  either: AbortSignal;
  leave(): void;
  release(): void;
}

function watchEnds(signal: AbortSignal, { timeoutMs, onLeave }: { timeoutMs: number; onLeave: () => void }): Ends {
  const leaving = new AbortController();
  const overtime = new AbortController();
  const timer = setTimeout(() => overtime.abort(), timeoutMs);
  const leave = () => {
    leaving.abort();
    onLeave();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  return {
    leaving: leaving.signal,
    overtime: overtime.signal,
    either: AbortSignal.any([leaving.signal, overtime.signal]),
    leave,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    },
  };
}

async function write(parts: BundleParts, overtime: AbortSignal): Promise<void> {
  try {
    await addState(parts);
    await addLogs(parts);
  } catch (error) {
    // What was under way when the time was over has been noted; the rest was not begun.
    if (!overtime.aborted) throw error;
    parts.writer.miss('logs', 'making the bundle took longer than bundle.timeout allows');
  }
  await parts.writer.addManifest(manifestOf(parts));
}

function manifestOf({ request, madeMs, nodes, configs, writer }: BundleParts): BundleManifest {
  const { fromMs, toMs, nodes: asked = [], role = null } = request;
  const { entries, missing } = writer;
  const isWell = entries.every(({ isCut, problems }) => !isCut && problems.length === 0);
  return {
    format: 'porthole-bundle',
    formatVersion: 1,
    madeMs,
    madeBy: { id: nodes.nodes.find(({ isSelf }) => isSelf)?.id ?? '', porthole: ownVersion() },
    cluster: nodes.cluster,
    range: { fromMs, toMs },
    selection: { nodes: [...asked], role },
    isComplete: isWell && missing.length === 0,
    members: configs.map(({ id, report: { outcome, detail } }) => ({ id, outcome, detail })),
    entries,
    missing,
  };
}
