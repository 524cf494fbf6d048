/** One file of the log directory, exactly the contract's fields. */
export interface LogEntry {
  name: string;
  /** Bytes on disk. */
  size: number;
}

/** What can be said of a file from a look at its two ends. */
export interface LogFileDetails extends LogEntry {
  modifiedMs: number;
  compressed: boolean;
  /** `contract`: the node's own line format; `text`: any other text; `binary`: not text; `unreadable`: see `problem`. */
  format: 'contract' | 'text' | 'binary' | 'empty' | 'unreadable';
  /** Epoch ms of the first timestamp found at the start; `null` where there is none. */
  firstTimeMs: number | null;
  /** Epoch ms of the last timestamp found at the end; `null` where there is none, or where finding it means unpacking the whole file. */
  lastTimeMs: number | null;
  /** Why the file could not be looked into, or `null`. */
  problem: string | null;
}

export interface ReadOptions {
  signal?: AbortSignal | undefined;
}

/** A finite run of bytes whose length is known before the first one is read. */
export interface ByteAnswer {
  sizeBytes: number;
  /** A chunk's bytes are valid until the next chunk is asked for: its memory is used again. Iterate at most once. */
  chunks: AsyncIterable<Uint8Array>;
  /** Gives everything back; may be called at any time and more than once. */
  close(): Promise<void>;
}

/** A file as it is on disk, held open. Its size at opening is its end, whatever happens to its name. */
export interface OpenLog {
  name: string;
  sizeBytes: number;
  modifiedMs: number;
  /** Changes whenever the file is replaced, grows or is written to. A strong entity tag, with its quotes. */
  etag: string;
  /** Bytes from `start` up to, not including, `end`. The same rule for chunks as in `ByteAnswer`. */
  read(start: number, end: number, options?: ReadOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}
