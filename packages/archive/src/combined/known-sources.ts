import type { CallOptions, ClusterState, Labels, MemberReport, MembershipState } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';

/** What is known of a member when a request is planned. */
export interface MemberFacts {
  id: string;
  role: string;
  labels?: Labels;
  /** Whether it has just listed its logs. Others are represented by their snapshot, and by the archive. */
  isAlive: boolean;
  /** How it responded to that. */
  report: MemberReport;
  /** To take off its times. */
  offsetMs: number;
  /** Its logs, by family: the oldest time on its disk by its own clock; `null`: its records have no times. */
  logs: ReadonlyMap<string, number | null>;
}

export interface ClusterFacts {
  members: readonly MemberFacts[];
  membership: MembershipState;
}

/** Asks the members what they have on disk. */
export async function fetchFacts(cluster: Pick<ClusterState, 'nodes' | 'logFiles'>): Promise<ClusterFacts> {
  const [{ nodes, membership }, { files, members }] = await Promise.all([cluster.nodes(), cluster.logFiles({})]);
  const reports = new Map(members.map((report) => [report.id, report]));
  const logs = new Map<string, Map<string, number | null>>();
  const offsets = new Map(nodes.map(({ id, clock }) => [id, Math.round(clock?.offsetMs ?? 0)]));
  for (const { node, family, firstTimeMs, format } of files) {
    // Has no records: the rest of its log may be in the archive.
    if (format === 'empty') continue;
    const own = logs.get(node) ?? new Map<string, number | null>();
    logs.set(node, own);
    const timeMs = firstTimeMs === null ? null : firstTimeMs + (offsets.get(node) ?? 0);
    own.set(family, earliest(own.get(family) ?? null, timeMs));
  }
  const listed = nodes.flatMap(({ id, role, labels = {} }): MemberFacts[] => {
    const report = reports.get(id);
    // It joined or left in between.
    if (!report) return [];
    const own = logs.get(id) ?? new Map<string, number | null>();
    return [{ id, role, labels, isAlive: report.outcome === 'ok', report, offsetMs: offsets.get(id) ?? 0, logs: own }];
  });
  return { members: listed, membership };
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** How long a result is reused. */
const KEEP_MS = 5000;

/** How long a failure is: one that comes at once is not asked again and again. */
const KEEP_FAILURE_MS = 1000;

/** How long a request waits to see whether what failed last time is back. */
const RETRY_WAIT_MS = 500;

interface Failure {
  readonly error: unknown;
  /** When the first one was, epoch ms. */
  readonly sinceMs: number;
}

/** Fetches something at most every few seconds, for all requests that need it. */
export class Remembered<T> {
  readonly #fetch: () => Promise<T>;
  readonly #known: Shared<T>;
  #failure: Failure | undefined;

  constructor(fetch: () => Promise<T>, nowMs?: () => number) {
    this.#fetch = fetch;
    this.#known = new Shared({ keepMs: KEEP_MS, keepFailureMs: KEEP_FAILURE_MS, ...(nowMs && { nowMs }) });
  }

  /** Why it could not be fetched the last time; `undefined`: it could, or was not tried. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** No request cancels it for the others. What hangs costs one of them its timeout; until it is back, the others hardly wait. */
  async get(options?: CallOptions): Promise<T> {
    const fetched = this.#known.run(() => this.#fetchNoted(), options);
    const failure = this.#failure;
    if (!failure) return fetched;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(failure.error), RETRY_WAIT_MS);
    });
    return Promise.race([fetched, late]).finally(() => clearTimeout(timer));
  }

  async #fetchNoted(): Promise<T> {
    try {
      const value = await this.#fetch();
      this.#failure = undefined;
      return value;
    } catch (error) {
      this.#failure = { error, sinceMs: this.#failure?.sinceMs ?? Date.now() };
      throw error;
    }
  }
}
