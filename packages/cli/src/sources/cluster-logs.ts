import type { CallOptions, ClusterState, MemberSelection, SearchOptions } from '@porthole/contract';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs';
import type { LogState } from './log-source.ts';

/** The logs of some members of a cluster, with the interface of a single node. */
export class ClusterLogs implements LogState {
  readonly #cluster: ClusterState;
  readonly #members: MemberSelection;

  constructor(cluster: ClusterState, members: MemberSelection) {
    this.#cluster = cluster;
    this.#members = members;
  }

  async logFiles(options?: CallOptions) {
    return (await this.#cluster.logFiles(this.#members, options)).files;
  }

  searchLogs(query: SearchQuery, options?: SearchOptions) {
    return this.#cluster.searchLogs({ ...query, ...this.#members }, options);
  }

  followLogs(query: FollowQuery, options?: CallOptions) {
    return this.#cluster.followLogs({ ...query, ...this.#members }, options);
  }

  logHistogram(query: HistogramQuery, options?: SearchOptions) {
    return this.#cluster.logHistogram({ ...query, ...this.#members }, options);
  }

  logDigest(query: DigestQuery, options?: SearchOptions) {
    return this.#cluster.logDigest({ ...query, ...this.#members }, options);
  }
}
