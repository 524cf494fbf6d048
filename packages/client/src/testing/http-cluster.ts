import {
  type ClusterEnd,
  type ClusterRecord,
  type ClusterState,
  type MemberSelection,
  selectsMembers,
} from '@porthole/contract';
import { toBatches } from '@porthole/records';
import type { Client } from '../client.ts';
import { createMemberClient } from '../member.ts';

/** All members, unless the request selects some. */
function ofAll<Request extends MemberSelection>(request: Request): Request {
  return selectsMembers(request) ? request : { ...request, nodes: ['*'] };
}

/** The cluster of a node as the node itself has it, over HTTP. `urls` has the address of each member. */
export function httpCluster(client: Client, urls: Readonly<Record<string, string>> = {}): ClusterState {
  return {
    nodes: (options) => client.nodes(options),
    config: (request, options) => client.settings(ofAll(request), options),
    configDiff: (request, options) => client.configDiff(request, options),
    configHistory: (request, options) => client.configHistory(ofAll(request), options),
    logFiles: (request, options) => client.logFiles(ofAll(request), options),
    search: (request, options) => toBatches<ClusterRecord, ClusterEnd>(client.search(ofAll(request), options)),
    events: (request, options) => toBatches<ClusterRecord, ClusterEnd>(client.events(ofAll(request), options)),
    followLogs: (request, options) => client.follow(ofAll(request), options),
    followEvents: (request, options) => client.followEvents(ofAll(request), options),
    logHistogram: (request, options) => client.histogram(ofAll(request), options),
    logDigest: (request, options) => client.digest(ofAll(request), options),
    logFields: (request, options) => client.fields(ofAll(request), options),
    logTop: (request, options) => client.top(ofAll(request), options),
    around: (request, options) => client.around(ofAll(request), options),
    member: (id) => createMemberClient({ url: urls[id] ?? client.url }),
    forget: (id, options) => client.forget(id, options),
  };
}
