/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { encodeEtcdValue, readEtcdValue } from '../membership/etcd-members.ts';
export { readLindbValue } from '../membership/lindb-members.ts';
export { Cable } from '../membership/testing/cable.ts';
export { startTestEtcd, type TestEtcd } from '../membership/testing/etcd.ts';
export { decodeClusterCursor, encodeClusterCursor, type MemberPosition } from '../records/search/cluster-cursor.ts';
export { searchCluster } from '../records/search/cluster-search.ts';
export { collectResponse } from './collect-response.ts';
export { fakeCluster } from './fake-cluster.ts';
export { FakeLindb, renderView } from './fake-lindb.ts';
export { endItem, FakeNode, record } from './fake-node.ts';
export { incidentSource } from './incident-source.ts';
