import type { BundleRequest, ClusterConfig, ClusterNodes, ClusterState, MemberOutcome } from '@porthole/contract';
import type { Health } from '../health.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import type { BundleWriter } from './bundle-writer.ts';

/** Sources and limits of bundles. */
export interface BundleSources {
  health: Health;
  metrics: Pick<NodeMetrics, 'render'>;
  maxBytes: number;
  timeoutMs: number;
  /** Records per search. */
  maxRecords: number;
  /** Time budgets of a search, and of a histogram or digest. */
  searchBudgetMs: number;
  countBudgetMs: number;
}

/** One bundle that is being created. */
export interface BundleContext {
  sources: BundleSources;
  cluster: ClusterState;
  request: BundleRequest;
  madeMs: number;
  nodes: ClusterNodes;
  configs: ClusterConfig['configs'];
  writer: BundleWriter;
  names: EntryNames;
  /** Fires when the client disconnects or the time limit is reached. */
  signal: AbortSignal;
}

/** Members without data at all; a member that refuses one request may accept others. */
const UNRESPONSIVE: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>([
  'refused',
  'timeout',
  'tls',
  'auth',
  'gone',
  'left',
]);

export function isUnresponsive({ report }: ClusterConfig['configs'][number]): boolean {
  return UNRESPONSIVE.has(report.outcome);
}

/** Long enough for all known names, short enough for every file system. */
const MAX_NAME_LENGTH = 120;

/** Device names on Windows, where a bundle may be unpacked. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Safe names for the files of an archive: neither the id of a member nor the name of a log file can lead out of its folder,
 * be hidden, or collide with another one, even on case-insensitive file systems.
 */
export class EntryNames {
  readonly #taken = new Set<string>();

  /** A unique path of these parts, with this ending. */
  take(parts: readonly string[], ending = ''): string {
    const path = safePath(parts);
    for (let count = 1; ; count++) {
      const name = `${path}${count === 1 ? '' : `-${count}`}${ending}`;
      const key = name.toLowerCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return name;
    }
  }
}

/** A path of these parts that is safe, if not unique. */
export function safePath(parts: readonly string[]): string {
  return parts.map(safePart).join('/');
}

function safePart(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+|\.+$/g, '_')
    .slice(0, MAX_NAME_LENGTH);
  return plain === '' || DEVICE.test(plain) ? `_${plain}` : plain;
}
