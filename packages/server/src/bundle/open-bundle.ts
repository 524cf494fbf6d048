import { type BundleManifest, type BundleRequest, bundleFileName, type ClusterState } from '@porthole/contract';
import { ownVersion } from '../version.ts';
import type { BundleContext, BundleSources } from './bundle-context.ts';
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
  const ends = watchEnds(signal, { timeoutMs: sources.timeoutMs, onLeave: () => zip.discard() });
  const writer = new BundleWriter(zip, { maxBytes: sources.maxBytes, ...ends });
  const names = new EntryNames();
  const context = { sources, cluster, request, madeMs, nodes, configs, writer, names, signal: ends.either };
  const writing = write(context, ends.overtime)
    .then(() => zip.end())
    // Also where nobody wants it any more: whoever still waits for the next chunk must not wait for ever.
    .catch((error: Error) => zip.fail(error))
    .finally(() => ends.release());
  const close = () => {
    ends.cancel();
    return writing;
  };
  return { fileName: bundleFileName({ cluster: nodes.cluster, madeMs }), chunks: zip.chunks(), close };
}

/** The two ways in which the making of a bundle ends too early: it is left, or its time is over. */
interface EndSignals {
  cancelled: AbortSignal;
  overtime: AbortSignal;
  either: AbortSignal;
  cancel(): void;
  release(): void;
}

function watchEnds(
  signal: AbortSignal,
  { timeoutMs, onLeave }: { timeoutMs: number; onLeave: () => void },
): EndSignals {
  const cancelling = new AbortController();
  const overtime = new AbortController();
  const timer = setTimeout(() => overtime.abort(), timeoutMs);
  const cancel = () => {
    cancelling.abort();
    onLeave();
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  return {
    cancelled: cancelling.signal,
    overtime: overtime.signal,
    either: AbortSignal.any([cancelling.signal, overtime.signal]),
    cancel: cancel,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    },
  };
}

async function write(context: BundleContext, overtime: AbortSignal): Promise<void> {
  try {
    await addState(context);
    await addLogs(context);
  } catch (error) {
    // What was under way when the time was over has been noted; the rest was not begun.
    if (!overtime.aborted) throw error;
    context.writer.addMissing('logs', 'making the bundle took longer than bundle.timeout allows');
  }
  await context.writer.addManifest(buildManifest(context));
}

function buildManifest({ request, madeMs, nodes, configs, writer }: BundleContext): BundleManifest {
  const { fromMs, toMs, nodes: selected = [], role = null } = request;
  const { entries, missing } = writer;
  const isIntact = entries.every(({ isCut, problems }) => !isCut && problems.length === 0);
  return {
    format: 'porthole-bundle',
    formatVersion: 1,
    madeMs,
    madeBy: { id: nodes.nodes.find(({ isSelf }) => isSelf)?.id ?? '', porthole: ownVersion() },
    cluster: nodes.cluster,
    range: { fromMs, toMs },
    selection: { nodes: [...selected], role },
    isComplete: isIntact && missing.length === 0,
    members: configs.map(({ id, report: { outcome, detail } }) => ({ id, outcome, detail })),
    entries,
    missing,
  };
}
