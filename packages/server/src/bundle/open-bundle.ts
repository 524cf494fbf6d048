import { arch, platform, release } from 'node:os';
import {
  type BundleManifest,
  type BundleRequest,
  bundleFileName,
  type ClusterState,
  incidentHtml,
  kindsQuery,
  type MemberReport,
  type NodeSettings,
} from '@porthole/contract';
import { toItems } from '@porthole/records';
import { expectCode } from '../errors.ts';
import { ownVersion } from '../version.ts';
import { type BundleContext, type BundleSources, BundleWriter, EntryNames, isUnresponsive } from './bundle-writer.ts';
import { addLogs } from './log-entries.ts';
import { ZipStream } from './zip-stream.ts';

/** An archive that is created while it is read. */
export interface OpenBundle {
  /** The file name. */
  fileName: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Aborts the creation. Resolves when all resources are released. */
  close(): Promise<void>;
}

export interface OpenBundleOptions {
  cluster: ClusterState;
  request: BundleRequest;
  /** Fires when the client disconnects. */
  signal: AbortSignal;
}

/**
 * Fetches identity and configuration of the members, which fails for an invalid request, then starts to write. Later
 * failures affect only their own files and are listed in the manifest.
 */
export async function openBundle(
  sources: BundleSources,
  { cluster, request, signal }: OpenBundleOptions,
): Promise<OpenBundle> {
  const { fromMs, toMs, ...selection } = request;
  const madeMs = Date.now(); // clock: when a bundle was made
  const [nodes, { configs }] = await Promise.all([cluster.nodes({ signal }), cluster.config(selection, { signal })]);
  const zip = new ZipStream(madeMs);
  const ends = watchEnds(signal, { timeoutMs: sources.timeoutMs, onLeave: () => zip.discard() });
  const writer = new BundleWriter(zip, { maxBytes: sources.maxBytes, ...ends });
  const names = new EntryNames();
  const context = { sources, cluster, request, madeMs, nodes, configs, writer, names, signal: ends.either };
  const writing = write(context, ends.overtime)
    .then(() => zip.end())
    // Also when the client has disconnected: a pending read of the next chunk must not hang.
    .catch((error: Error) => zip.fail(error))
    .finally(() => ends.release());
  const close = () => {
    ends.cancel();
    return writing;
  };
  return { fileName: bundleFileName({ cluster: nodes.cluster, madeMs }), chunks: zip.chunks(), close };
}

/** The two ways a bundle ends early: the client disconnects, or the time limit is reached. */
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
    // The file that was being written at the time limit is already listed; the rest was not started.
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
    members: configs.map(({ report }) => whetherResponded(report)),
    entries,
    missing,
  };
}

function whetherResponded({ id, outcome, detail, asOfMs, recordedBy, missingMs, isPartial }: MemberReport) {
  const recorded = { ...(recordedBy !== undefined && { recordedBy }), ...(missingMs !== undefined && { missingMs }) };
  return { id, outcome, detail, asOfMs, ...recorded, ...(isPartial && { isPartial }) };
}

/** Whoever reads a bundle may be anywhere. */
const UTC = { offsetMsAt: () => 0 };

/** Groups of the digest. */
const DIGEST_GROUPS = 500;

const EVENTS = 1000;
const EVENTS_BEFORE_MS = 86_400_000;
const HISTORY_PERIODS = 50;

/** Identity and configuration of the members, and the state of this node. */
async function addState(context: BundleContext): Promise<void> {
  const { writer, names, nodes, cluster, request, signal, sources } = context;
  const { fromMs, toMs, ...selection } = request;
  await writer.addJson(names.take(['members.json']), async () => nodes);
  await addVersions(context);
  await addConfigs(context);
  await writer.addJson(names.take(['config-diff.json']), () => cluster.configDiff(selection, { signal }));
  await writer.addJson(names.take(['health.json']), () => sources.health.check());
  await writer.addWhole(names.take(['metrics.txt']), () => sources.metrics.render());
  await writer.addJson(names.take(['digest.json']), () =>
    cluster.logDigest({ ...request, limit: DIGEST_GROUPS }, { signal, budgetMs: sources.countBudgetMs }),
  );
  await writer.addJson(names.take(['recent-events.json']), () => collectEvents(context));
  await writer.addJson(names.take(['config-history.json']), () =>
    cluster.configHistory({ ...selection, limit: HISTORY_PERIODS }, { signal }),
  );
  await writer.addWhole(names.take(['incident.html']), async () => {
    const { findIncident } = await import('@porthole/cluster');
    const options = { signal, budgetMs: sources.countBudgetMs, withValues: true };
    return incidentHtml(await findIncident(cluster, request, options), UTC);
  });
}

/** What happened in the time range, and on the day before it: a cause comes before its effects. */
async function collectEvents({ cluster, request, sources, signal }: BundleContext): Promise<object> {
  const earlier = { ...request, fromMs: request.fromMs - EVENTS_BEFORE_MS };
  const query = { ...earlier, query: kindsQuery(), order: 'newest', limit: EVENTS, before: 0, after: 0 } as const;
  const events: object[] = [];
  let end: object = {};
  for await (const items of toItems(cluster.events(query, { signal, budgetMs: sources.countBudgetMs })))
    for (const item of items) {
      if (item.type === 'end') end = item;
      else events.push(item);
    }
  return { events: events.reverse(), end };
}

async function addVersions({ writer, names, configs, cluster, signal }: BundleContext): Promise<void> {
  const fetchVersion = async (id: string) => {
    try {
      const { node, versions, observes, timeZone } = await cluster.member(id).describe({ signal });
      return { id, version: node.version, ...versions, observes, timeZone };
    } catch (error) {
      signal.throwIfAborted();
      expectCode(error);
      return { id, version: null }; // the manifest has the reason
    }
  };
  await writer.addJson(names.take(['versions.json']), async () => {
    const members = [];
    for (const config of configs) {
      const { id } = config;
      members.push(
        isUnresponsive(config) ? { id, version: config.config?.node.version ?? null } : await fetchVersion(id),
      );
    }
    const madeOn = { porthole: ownVersion(), node: process.versions.node, os: `${platform()} ${release()} ${arch()}` };
    return { madeOn, members };
  });
}

async function addConfigs({ writer, names, configs, cluster, signal }: BundleContext): Promise<void> {
  for (const memberConfig of configs) {
    const { id: node, config, report } = memberConfig;
    const [tomlName, settingsName] = ['.toml', '.settings.json'].map((ending) => names.take(['config', node], ending));
    const reason = report.detail === null ? report.outcome : `${report.outcome}: ${report.detail}`;
    // A member that left regularly is not missing; it has its own line in the manifest.
    const hasLeft = report.outcome === 'left';
    if (config === null) {
      if (!hasLeft) writer.addMissing(tomlName ?? '', reason, node);
    } else {
      const asOf = report.asOfMs === null ? '' : new Date(report.asOfMs).toISOString();
      const problems = asOf === '' || hasLeft ? [] : [`as of ${asOf}: ${reason}`];
      await writer.addWhole(tomlName ?? '', async () => config.config, { node, problems });
    }
    if (hasLeft) continue;
    if (isUnresponsive(memberConfig)) {
      writer.addMissing(settingsName ?? '', reason, node);
      continue;
    }
    const member = cluster.member(node);
    let settings: NodeSettings | undefined;
    const fetchSettings = async () => {
      settings = await member.settings({ signal });
      return settings;
    };
    await writer.addJson(settingsName ?? '', fetchSettings, { node });
    if (settings?.format === undefined) continue; // its source is TOML
    const fetchSource = async () => (await member.config({ format: 'source', signal })).config;
    await writer.addWhole(names.take(['config', node], '.source.txt'), fetchSource, { node });
  }
}
