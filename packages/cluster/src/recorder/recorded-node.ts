import { open } from 'node:fs/promises';
import {
  type CallOptions,
  type ConfigHistory,
  type ConfigHistoryRequest,
  type ConfigOptions,
  type ConfigVersion,
  type FileRequest,
  familySource,
  formatSpan,
  LogSources,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PortholeError,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import { decodeCursor, encodeMark, type LogDir, markFile, positionAnchor, START_CURSOR } from '@porthole/logs';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  RecordFilter,
  SearchEnd,
  SearchQuery,
  StartPoint,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { batchOf, isBatch, joinCursors, type RecordBatch, recordsOf, splitCursors } from '@porthole/records';
import { nameOnNode, toNodeRecord } from '../contract-only/mirror-dir.ts';
import type { MemberProfile } from '../membership/profiles/member-profile.ts';
import type { NodePast } from '../past/node-past.ts';
import { encodePlace, type RecordedRange, type Recording } from './recording.ts';

const NEWLINE = 10;

/** Bytes that identify a file. */
const HEAD_BYTES = 1024;

/** Bytes read at a time. */
const CHUNK_BYTES = 256 * 1024;

export interface RecordedNodeDeps {
  id: string;
  recording: Recording;
  /** What is kept of the member besides; `undefined`: nothing. */
  profile: MemberProfile | undefined;
  /** Its events and the history of its configuration; absent: this is about those events. */
  past?: NodePast;
  /** Reads the directory of the recording. */
  logs: LogDir;
  /** Who has recorded it, until when. */
  label: string;
}

/**
 * A member by what was recorded of it: its records with the positions and cursors that they have in its own log, its
 * configuration and list of files. Times are by its clock. What was not recorded is UNREACHABLE.
 */
export class RecordedNode implements NodeState {
  readonly #id: string;
  readonly #recording: Recording;
  readonly #profile: MemberProfile | undefined;
  readonly #past: NodePast | undefined;
  readonly #logs: LogDir;
  readonly #label: string;

  constructor({ id, recording, profile, past, logs, label }: RecordedNodeDeps) {
    this.#id = id;
    this.#recording = recording;
    this.#profile = profile;
    this.#past = past;
    this.#logs = logs;
    this.#label = label;
  }

  async describe(): Promise<NodeDescription> {
    throw this.#notRecorded('its description');
  }

  async config({ format }: ConfigOptions = {}): Promise<NodeConfig> {
    const { config = null } = this.#profile ?? {};
    if (format === 'source') throw this.#notRecorded('the source of its configuration');
    if (config === null) throw this.#notRecorded('its configuration');
    return config;
  }

  /** The caller reads them from the configuration. */
  async settings(): Promise<NodeSettings> {
    throw new PortholeError('NOT_SUPPORTED', 'of a recorded member, the configuration is known, not the settings');
  }

  async listLogs(): Promise<LogEntry[]> {
    return (await this.logFiles()).map(({ name, size }) => ({ name, size }));
  }

  async logFiles(): Promise<LogFileDetails[]> {
    const { files = null } = this.#profile ?? {};
    if (files === null) throw this.#notRecorded('its list of files');
    return files;
  }

  async viewLog({ file, sizeBytes }: ViewRequest): Promise<ByteStream> {
    if (this.#isCopy) return this.#logs.tail(file, sizeBytes);
    const whole = this.#open(file);
    const from = Math.max(0, whole.sizeBytes - sizeBytes);
    const start = from === 0 ? 0 : await lineStart(whole, from);
    return { sizeBytes: whole.sizeBytes - start, chunks: whole.read(start, whole.sizeBytes), close: whole.close };
  }

  async openLog({ file }: FileRequest): Promise<OpenLog> {
    return this.#isCopy ? this.#logs.open(file) : this.#open(file);
  }

  async *search(
    query: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    const asked = { ...this.#select(query), ...(await this.#startIn(query)) };
    // Its batches are made anew: they are not those of the engine.
    const { reusesMemory: _reuses, onlyRaw: _onlyRaw, ...how } = options;
    for await (const item of this.#logs.search(asked, how)) {
      if (!isBatch(item)) {
        yield { ...this.#toEnd(item, query), ...(await this.#cursorOf(item)) };
        continue;
      }
      const records = recordsOf<FoundRecord>(item).map((record) => this.#toMember(record));
      const logs = new LogSources(query.src);
      const isAsked = ({ file }: FoundRecord) => logs.hasFile(file, this.#recording.familyOf(file));
      yield batchOf(this.#isCopy ? records : records.filter(isAsked));
    }
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *followLogs(): AsyncGenerator<FollowItem[], void, undefined> {
    throw this.#notRecorded('new records');
  }

  async logHistogram(query: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    const counted = await this.#logs.histogram(this.#select(query), options);
    return { ...counted, end: this.#toEnd(counted.end, query) };
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    const { groups, baseline, end, ...rest } = await this.#logs.digest(this.#select(query), options);
    const { sinceMs } = this.#recording.facts;
    // What is not in the recording may be in the rest of the log: nothing is new for certain.
    const toKnown = ({ isNew, ...group }: Digest['groups'][number]) =>
      isNew ? { ...group, isNew: false, isNewUnknown: true as const } : { ...group, isNew };
    const older = sinceMs === null ? '' : `; what is older than ${new Date(sinceMs).toISOString()} was not recorded`;
    return {
      ...rest,
      groups: groups.map(toKnown).map((group) => ({ ...group, sample: this.#toMember(group.sample) })),
      ...(baseline && { baseline: { ...baseline, isComplete: false, detail: `${this.#label}${older}` } }),
      end: this.#toEnd(end, query),
    };
  }

  async logFields(query: FieldsQuery, options: SearchOptions = {}): Promise<Fields> {
    const counted = await this.#logs.fields(this.#select(query), options);
    return { ...counted, end: this.#toEnd(counted.end, query) };
  }

  async logTop(query: TopQuery, options: SearchOptions = {}): Promise<Top> {
    const counted = await this.#logs.top(this.#select(query), options);
    return { ...counted, end: this.#toEnd(counted.end, query) };
  }

  async *events(query: SearchQuery, options?: SearchOptions): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    yield* this.#recordedPast('its events').events(query, options);
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *followEvents(): AsyncGenerator<never, void, undefined> {
    throw this.#notRecorded('new events');
  }

  async configHistory(request: ConfigHistoryRequest, options?: CallOptions): Promise<ConfigHistory> {
    return this.#recordedPast('the history of its configuration').configHistory(request, options);
  }

  async configVersion(version: string): Promise<ConfigVersion> {
    return this.#recordedPast('the history of its configuration').configVersion(version);
  }

  /** Whether files have their names and positions, as far as they were copied. */
  get #isCopy(): boolean {
    return this.#recording.facts.copy !== null;
  }

  /** A file of the member is a part of a family here. */
  #select<Q extends LogSelection & RecordFilter>(query: Q): Q {
    const logs = new LogSources(query.src);
    if (this.#isCopy || logs.isAll) return query;
    const chosen = new Set<string>();
    for (const file of this.#recording.files) {
      const family = this.#recording.familyOf(file);
      if (logs.hasFile(file, family)) chosen.add(family);
    }
    if (chosen.size === 0)
      throw this.#notRecorded(`records of ${logs.list.map(({ name }) => JSON.stringify(name)).join(', ')}`);
    // A search leaves out the other files of a family; counts cannot.
    const others = this.#recording.files.filter((file) => {
      const family = this.#recording.familyOf(file);
      return chosen.has(family) && !logs.hasFile(file, family);
    });
    const [other] = others;
    if (other !== undefined && !('order' in query))
      throw this.#notRecorded(`the selected files apart from ${JSON.stringify(other)}, which is of the same log`);
    return { ...query, src: [...chosen].map(familySource) };
  }

  /** Positions of the member as positions of the recording. */
  async #startIn({ start, until, order }: SearchQuery): Promise<Pick<SearchQuery, 'start' | 'until'>> {
    const translated = {
      ...(start && { start: await this.#startPoint(start, order) }),
      ...(until !== undefined && { until: await this.#toRecorded(until, order) }),
    };
    // A position before everything is where a search begins without one.
    if (translated.start && 'cursor' in translated.start && translated.start.cursor === '') delete translated.start;
    return translated as Pick<SearchQuery, 'start' | 'until'>;
  }

  async #startPoint(start: StartPoint, order: SearchQuery['order']): Promise<StartPoint> {
    if ('timeMs' in start || ('offset' in start && this.#isCopy)) return start;
    if ('offset' in start) throw this.#notRecorded('the file that this offset is in');
    if ('cursor' in start) return { cursor: await this.#toRecorded(start.cursor, order) };
    return { record: await this.#toRecorded(start.record, order) };
  }

  async #toRecorded(cursor: string, order: SearchQuery['order']): Promise<string> {
    if (cursor === START_CURSOR) return cursor;
    // A position names files: of those of one log, the last one counts.
    const lasts = new Map(decodeCursor(cursor).map((mark) => [this.#recording.familyOf(mark.file), mark]));
    if (this.#isCopy) return joinCursors([...lasts.values()].map(encodeMark));
    const marks: string[] = [];
    const places = [...lasts.values()].map((mark) => this.#recording.toRecorded(mark, order));
    // What was recorded begins at one time in all logs: behind a position that it has in one, it has nothing to leave out of
    // another whose position it lacks.
    if (places.every((place) => place === undefined))
      throw new PortholeError('CURSOR_GONE', `what was recorded of "${this.#id}" lacks this record`);
    for (const place of places) {
      if (place === undefined || place === 'start') continue;
      marks.push(
        encodeMark({ ...(await this.#markOf(place.name)), file: place.name, ...positionAnchor(place.offset) }),
      );
    }
    return joinCursors(marks);
  }

  async #markOf(name: string) {
    const file = await this.#logs.open(name);
    try {
      const chunks: Uint8Array[] = [];
      for await (const chunk of file.read(0, Math.min(HEAD_BYTES, file.sizeBytes))) chunks.push(Buffer.from(chunk));
      return markFile(Buffer.concat(chunks));
    } finally {
      await file.close();
    }
  }

  /** The record as the member itself would return it. */
  #toMember(record: FoundRecord): FoundRecord {
    if (this.#isCopy) return toNodeRecord(record);
    const place = this.#recording.toMember(record.file, record.offset);
    if (!place) return record;
    const [mark] = decodeCursor(record.cursor);
    const { before, after } = record;
    return {
      ...record,
      file: place.file,
      offset: place.offset,
      cursor: encodePlace(place, mark),
      ...(before && { before: before.map((each) => this.#toMember(each)) }),
      ...(after && { after: after.map((each) => this.#toMember(each)) }),
    };
  }

  /** Where the member itself continues. */
  async #cursorOf({ cursor }: SearchEnd): Promise<Pick<SearchEnd, 'cursor'>> {
    if (cursor === null || cursor === START_CURSOR || this.#isCopy) return { cursor };
    const marks = splitCursors(cursor).flatMap((text) => {
      if (text === START_CURSOR) return [text];
      const [mark] = decodeCursor(text);
      const place = mark && this.#recording.toMember(mark.file, mark.offset);
      return mark && place ? [encodePlace(place, mark)] : [];
    });
    return { cursor: marks.length === 0 ? START_CURSOR : joinCursors(marks) };
  }

  /** Covered is at most what was recorded. */
  #toEnd<E extends Omit<SearchEnd, 'type' | 'cursor'>>(end: E, { fromMs = -Infinity }: RecordFilter): E {
    const { sinceMs, asOfMs, clock } = this.#recording.facts;
    const untilMs = Math.floor(asOfMs + (clock?.offsetMs ?? 0));
    const from = Math.max(end.coveredFromMs ?? Infinity, sinceMs ?? Infinity);
    const to = Math.min(end.coveredToMs ?? -Infinity, untilMs);
    const isCovered = end.coveredFromMs !== null && from <= to;
    const begin = sinceMs === null || fromMs >= sinceMs ? '' : `; since ${new Date(sinceMs).toISOString()}`;
    const nameOf = (file: string) => this.#recording.toMember(file, 0)?.file ?? nameOnNode(file);
    return {
      ...end,
      coveredFromMs: isCovered ? from : null,
      coveredToMs: isCovered ? to : null,
      problems: end.problems.map((problem) => ({ ...problem, file: nameOf(problem.file) })),
      limits: `${this.#label}${begin}`,
    };
  }

  #open(file: string): OpenLog {
    const ranges = this.#recording.rangesOf(file);
    if (ranges.length === 0) throw this.#notRecorded(`the text of ${JSON.stringify(file)}`);
    const sizeBytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
    const { asOfMs } = this.#recording.facts;
    const etag = `"recorded-${sizeBytes.toString(36)}-${Math.floor(asOfMs).toString(36)}"`;
    const read = (start: number, end: number) => readRanges(ranges, start, end);
    return { name: file, sizeBytes, modifiedMs: asOfMs, etag, read, close: async () => {} };
  }

  #recordedPast(what: string): NodePast {
    if (!this.#past) throw this.#notRecorded(what);
    return this.#past;
  }

  #notRecorded(what: string): PortholeError {
    const message = `member "${this.#id}" does not respond; ${this.#label}, without ${what}`;
    return new PortholeError('UNREACHABLE', message);
  }
}

const DAY_MS = 24 * 3_600_000;

/** `recorded by storage-1, until 03:15:42.118 (0.3 s before it was lost)` */
export function recordedText(
  by: string | null,
  { asOfMs, missingMs }: { asOfMs: number; missingMs: number | null },
): string {
  if (by === null) return 'nothing of it was recorded';
  const time = new Date(asOfMs).toISOString();
  const until = (missingMs ?? 0) < DAY_MS ? time.slice(11, -1) : time;
  if (missingMs === null) return `recorded by ${by} only as it was followed there, until ${until}`;
  if (missingMs === 0) return `recorded by ${by}, until ${until}`;
  const missing = missingMs < 60_000 ? `${(missingMs / 1000).toFixed(1)} s` : formatSpan(missingMs);
  return `recorded by ${by}, until ${until} (${missing} before it was lost)`;
}

/** The start of the first line at or after an offset; of the last line if there is none. */
async function lineStart(file: OpenLog, from: number): Promise<number> {
  let at = from - 1;
  for await (const chunk of file.read(at, file.sizeBytes)) {
    const newline = chunk.indexOf(NEWLINE);
    if (newline >= 0 && at + newline + 1 < file.sizeBytes) return at + newline + 1;
    at += chunk.length;
  }
  return from;
}

/** Bytes of several ranges as if they were one file. */
async function* readRanges(ranges: readonly RecordedRange[], start: number, end: number): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const { path, from, to } of ranges) {
    const [first, last] = [Math.max(start, at), Math.min(end, at + to - from)];
    if (first < last) {
      const file = await open(path);
      try {
        for (let offset = first; offset < last; ) {
          const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last - offset));
          const { bytesRead } = await file.read(chunk, 0, chunk.length, from + offset - at);
          if (bytesRead === 0) throw new PortholeError('UNREACHABLE', 'what was recorded was deleted meanwhile');
          offset += bytesRead;
          yield chunk.subarray(0, bytesRead);
        }
      } finally {
        await file.close();
      }
    }
    at += to - from;
  }
}
