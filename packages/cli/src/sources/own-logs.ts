import { LogsAlone, type NodeLogs } from '@porthole/cluster/alone';
import {
  type AroundRequest,
  type CallOptions,
  type CountQueries,
  clusterItems,
  type FollowOptions,
  type MemberSelection,
  type SearchOptions,
} from '@porthole/contract';
import type { FollowQuery, SearchQuery } from '@porthole/logs';
import type { LogState } from './log-source.ts';

/** The only member of a cluster of local logs. Nothing prints it unless nodes are asked for. */
const OWN_ID = 'local';

type Asked<Query> = Query & MemberSelection;

/** Logs that are read in this process, as a cluster of one. */
export class OwnLogs implements LogState {
  readonly #logs: LogsAlone;

  constructor(logs: NodeLogs, id = OWN_ID) {
    this.#logs = new LogsAlone(logs, id);
  }

  logFiles(request: MemberSelection = {}, options?: CallOptions) {
    return this.#logs.logFiles(request, options);
  }

  search(request: Asked<SearchQuery>, options?: SearchOptions) {
    return clusterItems(this.#logs, request, options);
  }

  follow(request: Asked<FollowQuery>, options?: FollowOptions) {
    return this.#logs.followLogs(request, options);
  }

  around(request: AroundRequest, options?: CallOptions) {
    return this.#logs.around(request, options);
  }

  histogram(request: Asked<CountQueries['logHistogram']>, options?: SearchOptions) {
    return this.#logs.logHistogram(request, options);
  }

  digest(request: Asked<CountQueries['logDigest']>, options?: SearchOptions) {
    return this.#logs.logDigest(request, options);
  }

  fields(request: Asked<CountQueries['logFields']>, options?: SearchOptions) {
    return this.#logs.logFields(request, options);
  }

  top(request: Asked<CountQueries['logTop']>, options?: SearchOptions) {
    return this.#logs.logTop(request, options);
  }
}
