import type { NodeState } from '@porthole/contract';
import type { LogSelection, Zone } from '@porthole/logs';

/** What can be asked about logs, of a node or of files here. */
export type LogState = Pick<
  NodeState,
  'listLogs' | 'logFiles' | 'openLog' | 'searchLogs' | 'followLogs' | 'logHistogram' | 'logDigest'
>;

/** Logs that are asked for, and who answers for them. */
export interface LogSource {
  /** Tells them apart from others: a path, or a name on a node. */
  label: string;
  state: LogState;
  selection: LogSelection;
  /** In which the logs are written. */
  zone: Zone;
  /** How far the clock of those who write is ahead of ours. */
  clockAheadMs: number;
  /** At most so many records may be asked for at a time. */
  maxRecords: number;
}

/** Everything one command line asks, and how to give it back. */
export interface OpenSources {
  sources: readonly LogSource[];
  close(): Promise<void>;
}
