import {
  type ClusterFollowItem,
  type ClusterRecord,
  decodeFollowPositions,
  type encodeFollow,
  encodeFollowPositions,
  MAX_BODY_BYTES,
  type MemberSelection,
  parseLogSource,
  selectsMembers,
} from '@porthole/contract';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import { joinCursors, LogPositions } from '@porthole/records';
import type { Clock } from '../retry.ts';

/** Maximum length of a position in the body of a request; the rest is for the other parameters. */
const LONG_CHARACTERS = MAX_BODY_BYTES - 64 * 1024;

/** The same in a URL or a header, for nodes that accept no parameters in a body. */
const SHORT_CHARACTERS = 5 * 1024;

/**
 * Logs without records so far resume at the start of the follow, minus this margin: their records may have earlier
 * timestamps, and better one too many than one lost.
 */
const MARGIN_MS = 1000;

/**
 * The same of several nodes, and before their newest record: records of slower ones may still have been in flight. Longer
 * than the reorder window of a node and the lag of following a file.
 */
const NODES_MARGIN_MS = 5000;

/** Minimum number of delivered records to remember: enough for some thousand records per second. */
const MAX_REMEMBERED = 10_000;

/** Nodes whose position is remembered: the maximum size of a cluster. */
const MAX_NODES = 10_000;

/** Maximum length of a remembered event id. */
const MAX_ID_CHARACTERS = 4096;

/** The one node that is asked, if it answers alone. */
const ALONE = '';

type AnyItem = FollowItem | ClusterFollowItem;

interface PositionOptions {
  clock: Pick<Clock, 'now'>;
  /** Writes the request. */
  encode: typeof encodeFollow;
}

/** Where a request resumes; `isWhole`: it names all logs that had records. */
interface EncodedPosition {
  headers: Record<string, string>;
  /** Of several nodes. */
  positions?: string;
  isWhole: boolean;
}

/**
 * The position of a follow, to resume without losing or repeating records: after the last record of each log of each node,
 * independent of their clocks. Without that, or if it is too long, by time; records of several nodes that were delivered
 * already are dropped then.
 */
export class FollowPosition<T extends AnyItem> {
  readonly #query: FollowQuery & MemberSelection;
  readonly #options: PositionOptions;
  readonly #isAlone: boolean;
  readonly #marginMs: number;
  readonly #nodes = new Map<string, LogPositions>();
  /** The most recently delivered records, and those before them. */
  #delivered = new Set<string>();
  #deliveredBefore = new Set<string>();
  #beganMs: number | undefined;
  /** Time of the newest record. */
  #newestMs: number | undefined;
  #wasQuiet = false;
  #maxCharacters = LONG_CHARACTERS;

  constructor(query: FollowQuery & MemberSelection, options: PositionOptions) {
    this.#query = query;
    this.#options = options;
    this.#isAlone = !selectsMembers(query);
    this.#marginMs = this.#isAlone ? MARGIN_MS : NODES_MARGIN_MS;
    const { start } = query;
    if (start === 'end' || !('cursor' in start)) return;
    const given = this.#isAlone ? [[ALONE, start.cursor] as const] : decodeFollowPositions(start.cursor);
    for (const [id, base] of given) this.#nodes.set(id, new LogPositions(base));
  }

  /** Connected; the request was sent at this time. */
  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  /** Received items; none for a heartbeat. Returns those not delivered before. */
  track(items: T[], received: { heartbeat: boolean; ids: readonly (string | undefined)[] }): T[] {
    this.#wasQuiet ||= received.heartbeat;
    const nowMs = this.#options.clock.now();
    return items.filter((item, index) => {
      if (item.type === 'position') this.#positionOf(item).locate(item.cursor);
      if (item.type === 'text') this.#positionOf(item).track(item);
      return item.type !== 'record' || this.#take(item, nowMs, received.ids[index]);
    });
  }

  /** Records of a gap, which a resumed follow must not bring again. */
  loaded(records: readonly (FoundRecord | ClusterRecord)[]): void {
    const nowMs = this.#options.clock.now();
    for (const record of records) this.#take(record, nowMs);
  }

  /** The node accepts no long requests. */
  shorten(): void {
    this.#maxCharacters = SHORT_CHARACTERS;
  }

  /**
   * The node no longer knows the position: continues by time. Returns the items to emit for that; several nodes report
   * gaps themselves.
   */
  forget(): T[] {
    this.#nodes.clear();
    if (!this.#isAlone) return [];
    const [source] = this.#query.src ?? [];
    const family = source === undefined ? '' : parseLogSource(source).name;
    return [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null } as AnyItem as T];
  }

  /** The request to start or resume. */
  request(nowMs: number): { query: URLSearchParams; headers: Record<string, string> } {
    const { encode } = this.#options;
    const { start } = this.#query;
    const position = this.#position();
    // Past records come first: if none have arrived, nothing was delivered.
    const isPast = start !== 'end' && !('cursor' in start) && !('back' in start && this.#wasQuiet);
    const isNew = position === undefined && this.#newestMs === undefined && isPast;
    if (this.#beganMs === undefined || isNew) return { query: encode(this.#query), headers: {} };
    const query = encode({ ...this.#query, start: 'end' });
    if (position?.positions !== undefined) query.set('positions', position.positions);
    if (position === undefined) query.set('time', this.#since(nowMs));
    else if (position.isWhole) query.set('time', this.#sinceBegan(nowMs));
    return { query, headers: position?.headers ?? {} };
  }

  /** `false` for a record that was delivered before. */
  #take(record: FoundRecord | ClusterRecord, nowMs: number, id?: string): boolean {
    this.#noteTime(record, nowMs);
    if (!this.#isAlone && !this.#isNew(`${nodeOf(record)} ${record.cursor}`, record.unfinished)) return false;
    const cursor = this.#isAlone ? eventId(record, id) : record.cursor;
    if (cursor !== '' && !record.unfinished) this.#positionOf(record).track({ file: record.file, cursor });
    return true;
  }

  #noteTime(record: FoundRecord | ClusterRecord, nowMs: number): void {
    const timeMs = this.#isAlone || !('atMs' in record) ? record.timeMs : record.atMs;
    if (timeMs === undefined) return;
    // A timestamp in the future would skip everything that other nodes write until then.
    const atMs = this.#isAlone ? timeMs : Math.min(timeMs, nowMs);
    this.#newestMs = Math.max(this.#newestMs ?? atMs, atMs);
  }

  #positionOf(item: object): LogPositions {
    const id = this.#isAlone ? ALONE : nodeOf(item);
    const position = this.#nodes.get(id) ?? new LogPositions();
    this.#nodes.set(id, position);
    if (this.#nodes.size > MAX_NODES) this.#nodes.delete(this.#nodes.keys().next().value ?? '');
    return position;
  }

  /** `undefined` if it is not known, or cannot be sent. */
  #position(): EncodedPosition | undefined {
    if (this.#nodes.size === 0) return undefined;
    if (this.#isAlone) return this.#lastEventId();
    const nodes = Array.from(this.#nodes, ([id, position]) => [id, joinCursors(position.cursors())] as const);
    const positions = encodeFollowPositions(new Map(nodes));
    return positions.length > this.#maxCharacters ? undefined : { headers: {}, positions, isWhole: true };
  }

  /** The position in each log. A node that accepts no long ones gets the newest that fit, which is then incomplete. */
  #lastEventId(): EncodedPosition | undefined {
    const cursors = this.#nodes.get(ALONE)?.cursors() ?? [];
    let from = cursors.length;
    for (let left = this.#maxCharacters; from > 0; from--) {
      left -= (cursors[from - 1]?.length ?? 0) + 1;
      if (left < 0) break;
    }
    const headers = { 'last-event-id': joinCursors(cursors.slice(from)) };
    return cursors.length === 0 ? undefined : { headers, isWhole: from === 0 };
  }

  #since(nowMs: number): string {
    if (this.#newestMs === undefined) return this.#sinceBegan(nowMs);
    // Of one node no record is still on its way when a newer one comes.
    return String(Math.ceil(this.#newestMs) - (this.#isAlone ? 0 : this.#marginMs));
  }

  /** For logs without records so far. Relative, because the clock of the node may differ. */
  #sinceBegan(nowMs: number): string {
    const { start } = this.#query;
    const sinceMs = start === 'end' ? undefined : 'timeMs' in start ? start.timeMs : 'cursor' in start && start.sinceMs;
    if (typeof sinceMs === 'number') return this.#options.encode({ start: { timeMs: sinceMs } }).get('time') ?? '';
    return `${Math.max(0, Math.round(nowMs - (this.#beganMs ?? nowMs))) + this.#marginMs}ms`;
  }

  /** An unfinished line is delivered again, complete. */
  #isNew(key: string, unfinished = false): boolean {
    if (this.#delivered.has(key) || this.#deliveredBefore.has(key)) return false;
    if (unfinished) return true;
    this.#delivered.add(key);
    if (this.#delivered.size < MAX_REMEMBERED) return true;
    // All at once: repeatedly deleting the first element of a set becomes slow.
    this.#deliveredBefore = this.#delivered;
    this.#delivered = new Set();
    return true;
  }
}

function nodeOf(item: object): string {
  return 'node' in item && typeof item.node === 'string' ? item.node : '';
}

/** An event id starts with the cursor of its record and may contain other logs after it. */
function eventId({ cursor }: { cursor: string }, id: string | undefined): string {
  return id === undefined || id.length > MAX_ID_CHARACTERS ? cursor : id;
}
