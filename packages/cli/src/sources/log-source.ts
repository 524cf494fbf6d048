import type { Client } from '@porthole/client';
import { familySource, fileSource, LogSources, type MemberSelection, type SearchOptions } from '@porthole/contract';
import type { LogEntry, LogSelection, SearchQuery, Zone } from '@porthole/logs';
import type { SearchEnd } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';

export type { PrintableRecord } from '../output/record-layout.ts';

/** What logs are asked: over HTTP a node and through it its cluster, local logs as a cluster of one in this process. */
export type LogState = Pick<
  Client,
  'logFiles' | 'search' | 'follow' | 'around' | 'histogram' | 'digest' | 'fields' | 'top'
>;

/** A node or directory that has a file. */
export type FileHolder = Pick<Client, 'openLog'>;

/** A search for records that are printed as they come. */
export type PrintedSearch = SearchOptions & { asText?: boolean };

/** Where logs are asked. */
export interface Backend {
  state: LogState;
  /** Returns the holder of the files of a record of this node. */
  holderFor(node: string | undefined): FileHolder;
  /** Records as they are printed, as lines of JSON or as text in the files, without decoding them. Only of local files. */
  searchPrinted?(query: SearchQuery, options?: PrintedSearch): AsyncIterable<RecordBatch | SearchEnd>;
  /** Names and sizes of the files, without reading them; of the node that is asked. */
  listLogs?(options?: Pick<SearchOptions, 'signal'>): Promise<LogEntry[]>;
  /** Time zone of the logs. */
  zone: Zone;
  /** How far the clock of the node is ahead of ours. */
  clockAheadMs: number;
  /** Maximum number of records per request. */
  maxRecords: number;
}

/** The logs that one argument selects, and where to ask for them. */
export interface LogSource extends Backend {
  /** A path, or a name on a node. */
  label: string;
  /** What distinguishes its files from those of the other sources: a directory or host with a slash, or nothing. */
  place?: string;
  /** Part of every request: which logs, and of which nodes. */
  selection: LogSelection & MemberSelection;
  /** Whether records are printed with their node: `one` was named, or there may be `several`. */
  nodes?: 'one' | 'several' | undefined;
}

/** How a file is selected. */
export function ofFile(name: string): Required<LogSelection> {
  return { src: [fileSource(name)] };
}

/** How a log is selected with its rotated files. */
export function ofFamily(name: string): Required<LogSelection> {
  return { src: [familySource(name)] };
}

/** The file or log that a source is of; `undefined`: all. */
export function selectedLog({ selection: { src } }: Pick<LogSource, 'selection'>) {
  return new LogSources(src).only;
}

/** All sources of one command line; `close` releases them. */
export interface OpenSources {
  sources: readonly LogSource[];
  close(): Promise<void>;
}

/** A record or event of a node that was not asked for as one: printed without it. */
export function withoutNode<T extends object>(item: T): Omit<T, 'node' | 'atMs'> {
  const { node: _node, atMs: _atMs, ...own } = item as T & { node?: string; atMs?: number };
  return own;
}
