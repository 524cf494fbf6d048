import type { ClusterNode } from '@porthole/client';

/** A node that is up, with overrides. */
export function clusterNode(id: string, given: Partial<ClusterNode> = {}): ClusterNode {
  return {
    id,
    role: 'node',
    labels: {},
    url: `http://${id}:9000`,
    isSelf: false,
    node: { hostIp: '10.0.0.1', hostName: id, grpcPort: 9001, httpPort: 9000, version: '1.0', onlineTime: 0 },
    state: 'up',
    problems: [],
    sinceMs: null,
    report: { id, outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null },
    clock: { offsetMs: 0, uncertaintyMs: 1 },
    timeZone: 'UTC',
    uptimeMs: 1000,
    lastRecordMs: 0,
    recentErrors: 0,
    lastSeenMs: 0,
    ...given,
  };
}

export function version(id: string, text: string): ClusterNode {
  const node = clusterNode(id);
  return { ...node, node: { ...node.node, version: text } };
}
