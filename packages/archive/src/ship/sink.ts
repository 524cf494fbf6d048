import { errorMessage } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { SinkError } from '../sink-error.ts';
import type { LineWriter } from './line-writer.ts';

/** What records are shipped to: how they are written there, and how a batch of them is sent. */
export interface Sink {
  /** In metrics and in codes of problems. */
  readonly name: 'archive' | 'otlp';
  /** What is searched for besides all records, in order. */
  readonly query: Pick<SearchQuery, 'raw' | 'fields'>;
  /** Of a batch: bytes before it is packed, and records. */
  readonly limits: { bytes: number; records: number };
  /** What `pack` returns: a batch that was packed as another one, by another version, is made anew. */
  readonly format: string;
  createWriter(): LineWriter;
  /** Makes sure that it can take records. Called before the first batch and after failures. */
  prepare(): Promise<void>;
  /** What is sent for what was written: a copy, because the memory is used again. Does not depend on `prepare`. */
  pack(written: Buffer): Promise<Buffer>;
  /** Sends what was packed, as often as it takes. Resolves once it is stored, or refused for good. */
  send(batch: SentBatch, signal: AbortSignal): Promise<Refusal>;
  /** Files of a log of which it has records, newest first: for a node that has lost its positions. */
  knownFiles(log: { cluster: string; node: string; log: string }, signal: AbortSignal): Promise<KnownFile[]>;
}

export interface SentBatch {
  packed: Buffer;
  records: number;
}

/** Records of a batch that are not stored, whenever they are sent, and why. */
export interface Refusal {
  records: number;
  detail: string;
}

export const NOTHING_REFUSED: Refusal = { records: 0, detail: '' };

/** A file of which a sink has records. */
export interface KnownFile {
  id: string;
  /** Time of the newest of them; 0 if none has one. */
  toMs: number;
}

/** Why nothing is shipped now. */
export interface ShipProblem {
  code: string;
  detail: string;
}

/** A failure of the sink, or of the disk that positions are kept on. */
export function toProblem(error: unknown, { name }: Pick<Sink, 'name'>): ShipProblem {
  const code = error instanceof SinkError ? error.code : `${name.toUpperCase()}_POSITION`;
  return { code, detail: errorMessage(error) };
}
