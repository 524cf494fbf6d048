import type { ArchiveState, ClickHouse, CombinedCluster, LogShipper, ProgressWriter } from '@porthole/archive';
import { type ClusterState, labelsOf, type ShippingState } from '@porthole/contract';
import { type DeletedRecords, type LogDir, matchRegex, WorkerPool } from '@porthole/logs';
import { ONCE, Shared } from '@porthole/logs/shared';
import { ownDirs } from '../own-dirs.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { type ArchiveStatus, checkShipping, onlyArchived, shippingState } from './archive-status.ts';

export interface NodeArchiveDeps {
  settings: Settings;
  logs: LogDir;
  /** `auth.denied-files` and what else is never shown. */
  isHidden(log: string): boolean;
  log: Logger;
}

/** Threads that test regular expressions on archived records. */
const REGEX_THREADS = 1;

/** A request waits this long for the archive before the response says that it does not respond. */
const READ_TIMEOUT_MS = 10_000;

/** A server takes some tens of inserts a second, of all nodes together. */
const INTERVAL_PER_MEMBER_MS = 50;
const MAX_INTERVAL_MS = 120_000;

/**
 * The archive of a running node. Its code is loaded when the node has joined its cluster, and only if `archive.url` is
 * set: a node without an archive loads nothing of it.
 */
export class NodeArchive {
  readonly #deps: NodeArchiveDeps;
  readonly #opening = new Shared<OpenArchive>(ONCE);
  #shipper: LogShipper | undefined;
  #progress: ProgressWriter | undefined;
  #past: CombinedCluster | undefined;

  constructor(deps: NodeArchiveDeps) {
    this.#deps = deps;
  }

  /** What was shipped; `undefined` if this node ships nothing. */
  get status(): ArchiveStatus | undefined {
    return this.#shipper && { ...this.#shipper.status(), progressProblem: this.#progress?.problem };
  }

  /** For `/health/ready`. */
  check(): { ok: boolean; detail: string } {
    const { maxLagMs } = this.#deps.settings.archive;
    return checkShipping(this.status, { maxLagMs, unread: this.#past?.checkArchive() });
  }

  /** How far shipping is; `undefined` if this node ships nothing. */
  get shipping(): ShippingState | undefined {
    return shippingState(this.status);
  }

  /** What of a selection is no longer in the files of this node. */
  deleted(selection: Parameters<typeof onlyArchived>[1]): DeletedRecords[] {
    return onlyArchived(this.#shipper?.status().logs ?? [], selection);
  }

  /** Starts shipping, as this member. An archive that does not respond does not prevent the start. */
  async start({ id, role }: { id: string; role: string }, memberCount: () => number): Promise<void> {
    const { settings, logs, log } = this.#deps;
    if (!settings.archive.ship) return;
    const { archive, writer } = await this.#open();
    const self = { cluster: settings.cluster.name, node: id, role };
    const intervalMs = () => sendInterval(settings.archive.intervalMs, memberCount());
    const shipper = archive.LogShipper.open({
      ...self,
      intervalMs,
      logs,
      sink: new archive.ClickHouseSink(writer),
      positionsDir: ownDirs(settings).archive,
      report: (problem) => {
        if (problem) log.warn('ship', 'records cannot be shipped to the archive', { ...problem });
        else log.info('ship', 'records are shipped to the archive again');
      },
    });
    this.#shipper = shipper;
    const progress = () => shipper.status().logs;
    const labels = labelsOf(settings.node.labels);
    this.#progress = new archive.ProgressWriter({
      ...self,
      labels,
      clickhouse: writer,
      progress,
      intervalMs,
      report: (problem) => {
        if (problem) log.warn('ship', 'progress cannot be written to the archive', { ...problem });
        else log.info('ship', 'progress is written to the archive again');
      },
    });
  }

  /** The cluster with what the archive has of it. */
  async withPast(cluster: ClusterState): Promise<ClusterState> {
    const { archive, state } = await this.#open();
    this.#past = new archive.CombinedCluster(cluster, state);
    return this.#past;
  }

  /** Lets a batch in flight end. */
  async close(): Promise<void> {
    await this.#shipper?.close();
    await this.#progress?.close();
    await (await this.#opening.last())?.close();
  }

  #open(): Promise<OpenArchive> {
    return this.#opening.run(() => openArchive(this.#deps));
  }
}

interface OpenArchive {
  archive: typeof import('@porthole/archive');
  writer: ClickHouse;
  state: ArchiveState;
  close(): Promise<void>;
}

async function openArchive({ settings, isHidden }: NodeArchiveDeps): Promise<OpenArchive> {
  const archive = await import('@porthole/archive');
  const { url, database, user, passwordFile, reader, readerPasswordFile, caFile } = settings.archive;
  const connect = (name: string, password: string, timeoutMs?: number) =>
    new archive.ClickHouse({
      url,
      database,
      user: name,
      ...(password !== '' && { passwordFile: password }),
      ...(caFile !== '' && { caFile }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  const writer = connect(user, passwordFile);
  const reading =
    reader === '' ? connect(user, passwordFile, READ_TIMEOUT_MS) : connect(reader, readerPasswordFile, READ_TIMEOUT_MS);
  let threads: WorkerPool | undefined;
  const state = new archive.ArchiveState({
    reader: reading,
    cluster: settings.cluster.name,
    isHidden,
    matchRegex: (filter, texts) => {
      threads ??= new WorkerPool(REGEX_THREADS);
      return matchRegex(threads, { filter, texts });
    },
  });
  return {
    archive,
    writer,
    state,
    close: async () => {
      writer.close();
      reading.close();
      await threads?.close();
    },
  };
}

/** How often a node sends records: the more members there are, the less often. */
export function sendInterval(intervalMs: number, memberCount: number): number {
  return Math.max(intervalMs, Math.min(MAX_INTERVAL_MS, memberCount * INTERVAL_PER_MEMBER_MS));
}
