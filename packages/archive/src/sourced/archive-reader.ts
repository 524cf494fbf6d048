import type { ArchiveState } from '../ask/archive-state.ts';

/** What is read of the archive. */
export type ArchiveReader = Pick<
  ArchiveState,
  'nodes' | 'searchLogs' | 'around' | 'logHistogram' | 'logDigest' | 'logFields' | 'logTop'
>;
