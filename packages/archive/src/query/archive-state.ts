import type {
  AroundRequest,
  ClusterDigest,
  ClusterFields,
  ClusterHistogram,
  ClusterItem,
  ClusterTop,
  MemberSelection,
  SearchOptions,
} from '@porthole/contract';
import type { DigestQuery, FieldsQuery, HistogramQuery, SearchQuery, TopQuery } from '@porthole/logs/types';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quoteName } from '../clickhouse/quote.ts';
import { PROGRESS, RECORDS } from '../schema/schema.ts';
import { type ArchivedNode, fetchNodes, requireProgress } from './archived-nodes.ts';
import { archiveDigest } from './counts/archive-digest.ts';
import { archiveFields, archiveHistogram } from './counts/archive-histogram.ts';
import { archiveTop } from './counts/archive-top.ts';
import { type ArchiveOptions, ArchiveRun, type QueryDeps } from './prepare-query.ts';
import type { MatchRegex } from './row-columns.ts';
import { searchArchive, searchAroundArchive } from './search-archive.ts';

export interface ArchiveStateOptions {
  /** Reads as a user who needs no right to write. Not closed. */
  reader: ClickHouse;
  /** Whose rows are read. */
  cluster: string;
  /** Rows of such logs are as if they were not there. */
  isHidden?: ((log: string) => boolean) | undefined;
  /** Tests regexes in other threads; without it, in this one. */
  matchRegex?: MatchRegex | undefined;
  nowMs?: (() => number) | undefined;
}

/**
 * What has been shipped to the archive, with the requests and responses of a cluster. Times are those of the nodes that
 * logged the records, uncorrected. Rejects with ARCHIVE_UNAVAILABLE for everything that is the archive's fault.
 */
export class ArchiveState {
  readonly #deps: QueryDeps;

  // clock: as of when a response is
  constructor({ reader, cluster, isHidden, matchRegex, nowMs = Date.now }: ArchiveStateOptions) {
    const table = (name: string) => `${quoteName(reader.database)}.${quoteName(name)}`;
    this.#deps = { reader, records: table(RECORDS), progress: table(PROGRESS), cluster, isHidden, matchRegex, nowMs };
  }

  /** Every node that has ever shipped records, by id, also those that no longer exist. All of them, or an error. */
  async nodes(options?: SearchOptions): Promise<ArchivedNode[]> {
    const run = new ArchiveRun(this.#deps.reader, options);
    const nodes = await fetchNodes(this.#deps, run);
    if (nodes.length === 0) await requireProgress(this.#deps, run);
    return nodes;
  }

  searchLogs(
    request: SearchQuery & MemberSelection,
    options?: ArchiveOptions,
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    return searchArchive(this.#deps, request, options);
  }

  around(request: AroundRequest, options?: ArchiveOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    return searchAroundArchive(this.#deps, request, options);
  }

  logHistogram(request: HistogramQuery & MemberSelection, options?: ArchiveOptions): Promise<ClusterHistogram> {
    return archiveHistogram(this.#deps, request, options);
  }

  logDigest(request: DigestQuery & MemberSelection, options?: ArchiveOptions): Promise<ClusterDigest> {
    return archiveDigest(this.#deps, request, options);
  }

  logTop(request: TopQuery & MemberSelection, options?: ArchiveOptions): Promise<ClusterTop> {
    return archiveTop(this.#deps, request, options);
  }

  logFields(request: FieldsQuery & MemberSelection, options?: ArchiveOptions): Promise<ClusterFields> {
    return archiveFields(this.#deps, request, options);
  }
}
