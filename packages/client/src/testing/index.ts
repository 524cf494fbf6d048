/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { type Cut, startCuttingProxy } from './cutting-proxy.ts';
export { httpCluster } from './http-cluster.ts';
export { type Handler, JSON_HEADERS, NDJSON_HEADERS, respondWith, SSE_HEADERS, startOddServer } from './odd-server.ts';
export { RestartableNode } from './restartable-node.ts';
export { testClient, testMember } from './test-client.ts';
