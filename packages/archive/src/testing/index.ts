/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { OtlpReceiver } from '../otlp/testing/otlp-receiver.ts';
export { ArchiveFixture, collect, toRows } from '../query/testing/archive-fixture.ts';
export { serverPorts, startClickHouse, TestClickHouse } from './server.ts';
export { canMount, mountSmallDisk, remount } from './small-disk.ts';
