import type { ClusterHistogram, MemberReport } from '@porthole/contract';

/**
 * The nodes for which counts can be compared: those that have counted all of each. Whoever says "new", "more" or "none
 * before" asks here first: what a node had no time to read is not absent. The coverage of the report names the others.
 */
export class ComparedNodes {
  readonly #unread: ReadonlySet<string>;

  constructor(counts: readonly { members: readonly MemberReport[] }[]) {
    const reports = counts.flatMap(({ members }) => members);
    this.#unread = new Set(reports.filter((report) => !hasCountedAll(report)).map(({ id }) => id));
  }

  has(node: string): boolean {
    return !this.#unread.has(node);
  }

  /** The counts of these nodes alone. */
  countsOf(nodes: Readonly<Record<string, number>>): Record<string, number> {
    return Object.fromEntries(Object.entries(nodes).filter(([node]) => this.has(node)));
  }

  /** A histogram of these nodes alone. */
  histogramOf(histogram: ClusterHistogram): ClusterHistogram {
    const buckets = histogram.buckets.map((bucket) => ({ ...bucket, nodes: this.countsOf(bucket.nodes) }));
    return { ...histogram, buckets };
  }
}

/** What was recorded of a member that is gone is all there is of it; a slow one has more than it has counted in time. */
function hasCountedAll({ outcome, coveredFromMs, recordedBy }: MemberReport): boolean {
  const isRecorded = recordedBy !== undefined || outcome === 'gone' || outcome === 'left';
  return isRecorded || (outcome === 'ok' && coveredFromMs === undefined);
}
