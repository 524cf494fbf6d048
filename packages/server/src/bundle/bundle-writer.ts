import {
  type BundleEntry,
  type BundleRequest,
  type ClusterConfig,
  type ClusterNodes,
  type ClusterState,
  codeOf,
  errorMessage,
  exactJson,
  indentJson,
  MANIFEST_NAME,
  type MemberOutcome,
  type MissingEntry,
  unicodeEscape,
} from '@porthole/contract';
import type { Health } from '../health.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import type { ZipStream } from './zip-stream.ts';

const LINE_FEED = 10;

/** The source of a file; without a member: all members, or the node itself. */
interface EntrySource {
  node?: string;
  file?: string;
  /** The source has more than the chunks contain. */
  isCut?: boolean;
  problems?: readonly string[];
  /** More than this is cut off, whatever comes. */
  maxBytes?: number;
}

interface BundleWriterOptions {
  /** For all files together, without the manifest. */
  maxBytes: number;
  /** Fires when the time limit of the bundle is reached: the rest is left out. */
  overtime: AbortSignal;
  /** Fires when the client disconnects. */
  cancelled: AbortSignal;
}

/** Adds files to the archive within its size and time limits, and collects the manifest. */
export class BundleWriter {
  readonly entries: BundleEntry[] = [];
  readonly missing: MissingEntry[] = [];
  readonly #zip: ZipStream;
  readonly #options: BundleWriterOptions;
  #remainingBytes: number;

  constructor(zip: ZipStream, options: BundleWriterOptions) {
    this.#zip = zip;
    this.#options = options;
    this.#remainingBytes = options.maxBytes;
  }

  get remainingBytes(): number {
    return this.#remainingBytes;
  }

  addMissing(name: string, reason: string, node?: string): void {
    this.missing.push({ name, node: node ?? null, reason });
  }

  /** Adds a small file completely or not at all. */
  async addWhole(name: string, make: () => Promise<string>, source: EntrySource = {}): Promise<void> {
    const content = async function* (room: number) {
      const bytes = Buffer.from(await make());
      if (bytes.length > room) throw new Error(NO_ROOM);
      yield bytes;
    };
    await this.add(name, content(this.#remainingBytes), source);
  }

  async addJson(name: string, make: () => Promise<object>, source: EntrySource = {}): Promise<void> {
    await this.addWhole(name, async () => `${indentJson(exactJson(await make()))}\n`, source);
  }

  /**
   * Adds a file of any length. If it fails before its first byte it is missing; if it fails later or exceeds the size limit
   * it is cut. The reader of the source may add problems while it is read.
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>, source: EntrySource = {}): Promise<void> {
    const { node, file, isCut = false, problems = [], maxBytes = Number.POSITIVE_INFINITY } = source;
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      this.#checkTime();
      const first = await iterator.next();
      const entry: BundleEntry = {
        name,
        bytes: 0,
        sha256: '',
        node: node ?? null,
        file: file ?? null,
        isCut,
        problems: [],
      };
      const added = await this.#zip.add(name, this.#inRoom(first, iterator, { entry, maxBytes }));
      this.entries.push({ ...entry, ...added, problems: [...problems, ...entry.problems] });
      this.#remainingBytes -= added.bytes;
    } catch (error) {
      this.#options.cancelled.throwIfAborted();
      this.addMissing(name, this.#reason(error), node);
    } finally {
      await iterator.return?.();
    }
  }

  async addManifest(manifest: object): Promise<void> {
    const text = `${JSON.stringify(manifest, undefined, 2).replace(UNPRINTABLE, unicodeEscape)}\n`;
    await this.#zip.add(
      MANIFEST_NAME,
      (async function* () {
        yield Buffer.from(text);
      })(),
    );
  }

  async *#inRoom(
    first: IteratorResult<Uint8Array>,
    iterator: AsyncIterator<Uint8Array>,
    { entry, maxBytes }: { entry: BundleEntry; maxBytes: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let room = Math.min(this.#remainingBytes, maxBytes);
    try {
      for (let next = first; !next.done; next = await iterator.next()) {
        this.#checkTime();
        if (next.value.length > room) {
          yield wholeLines(next.value.subarray(0, room));
          throw new Error(maxBytes < this.#remainingBytes ? `more than ${maxBytes} bytes of it came` : NO_ROOM);
        }
        room -= next.value.length;
        yield next.value;
      }
    } catch (error) {
      this.#options.cancelled.throwIfAborted();
      entry.isCut = true;
      entry.problems.push(this.#reason(error));
    }
  }

  #checkTime(): void {
    this.#options.cancelled.throwIfAborted();
    this.#options.overtime.throwIfAborted();
  }

  #reason(error: unknown): string {
    return this.#options.overtime.aborted ? NO_TIME : describeError(error);
  }
}

/**
 * What a terminal would act on and JSON does not escape by itself: names and reasons are those of members, and
 * somebody prints the manifest.
 */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const NO_ROOM = 'the bundle would be larger than bundle.max-bytes allows';
const NO_TIME = 'making the bundle took longer than bundle.timeout allows';

function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1);
}

/** An error as the manifest shows it. */
export function describeError(error: unknown): string {
  const code = codeOf(error);
  return code === 'INTERNAL' ? errorMessage(error) : `${code}: ${errorMessage(error)}`;
}

/** Sources and limits of bundles. */
export interface BundleSources {
  health: Health;
  metrics: Pick<NodeMetrics, 'render'>;
  maxBytes: number;
  timeoutMs: number;
  /** Records per search. */
  maxRecords: number;
  /** Time budgets of a search, and of a histogram or digest. */
  searchBudgetMs: number;
  countBudgetMs: number;
}

/** One bundle that is being created. */
export interface BundleContext {
  sources: BundleSources;
  cluster: ClusterState;
  request: BundleRequest;
  madeMs: number;
  nodes: ClusterNodes;
  configs: ClusterConfig['configs'];
  writer: BundleWriter;
  names: EntryNames;
  /** Fires when the client disconnects or the time limit is reached. */
  signal: AbortSignal;
}

/** Members without data at all; a member that refuses one request may accept others. */
const UNRESPONSIVE: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>([
  'refused',
  'timeout',
  'tls',
  'auth',
  'gone',
  'left',
]);

export function isUnresponsive({ report }: ClusterConfig['configs'][number]): boolean {
  return UNRESPONSIVE.has(report.outcome);
}

/** Long enough for all known names, short enough for every file system. */
const MAX_NAME_LENGTH = 120;

/** Device names on Windows, where a bundle may be unpacked. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Safe names for the files of an archive: neither the id of a member nor the name of a log file can lead out of its folder,
 * be hidden, or collide with another one, even on case-insensitive file systems.
 */
export class EntryNames {
  readonly #taken = new Set<string>();

  /** A unique path of these parts, with this ending. */
  take(parts: readonly string[], ending = ''): string {
    const path = safePath(parts);
    for (let count = 1; ; count++) {
      const name = `${path}${count === 1 ? '' : `-${count}`}${ending}`;
      const key = name.toLowerCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return name;
    }
  }
}

/** A path of these parts that is safe, if not unique. */
export function safePath(parts: readonly string[]): string {
  return parts.map(safePart).join('/');
}

function safePart(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+|\.+$/g, '_')
    .slice(0, MAX_NAME_LENGTH);
  return plain === '' || DEVICE.test(plain) ? `_${plain}` : plain;
}
