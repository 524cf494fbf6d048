import { RecordLineCheck } from '@porthole/client';
import {
  codeOf,
  encodeSearch,
  exactJson,
  type GroupCall,
  isErrorCode,
  PortholeError,
  parseSearchRequest,
} from '@porthole/contract';
import type { LineKernel } from '@porthole/logs';
import type { SearchItem, SearchQuery } from '@porthole/logs/types';
import { LineReader, LineRecord } from '../records/merge/record-lines.ts';
import { encodeFrame, FRAME, type Frame } from './frames.ts';
import type { GroupBatch, GroupSearch, GroupSearchMember, MemberProgress } from './group-search.ts';
import { MAX_GROUP } from './plan-groups.ts';

/* A search of a group, and its parts, as they travel between nodes. Both sides check what they get. */

/** Times in milliseconds: a day. */
const MAX_MS = 86_400_000;

/** Records in a frame, and in the first one of several: the asking node reads one of each group before it emits a record. */
const FIRST_RECORDS = 32;
const FRAME_RECORDS = 512;

interface SentMember {
  id: string;
  offsetMs: number;
  silentMs?: number;
  reachedKey?: number;
  /** The parameters of its search, or the number of the member that has the same. */
  params?: string | number;
  /** The time around which records are requested, by its clock. */
  atMs?: number;
}

export function encodeGroupSearch({ members, limit, ...rest }: GroupSearch): string {
  const known = new Map<string, number>();
  const sent = members.map(({ id, offsetMs, silentMs, reachedKey, query }, index): SentMember => {
    const reached = reachedKey === undefined ? {} : { reachedKey };
    const facts = { id, offsetMs, ...reached, ...(silentMs !== undefined && { silentMs }) };
    if ('around' in query) return { ...facts, atMs: query.around.atMs };
    const params = encodeSearch(query.search).toString();
    const same = known.get(params);
    if (same === undefined) known.set(params, index);
    return { ...facts, params: same ?? params };
  });
  const around = members.map(({ query }) => query).find((query) => 'around' in query)?.around;
  return JSON.stringify({ op: 'search', ...rest, limit: Number.isFinite(limit) ? limit : null, around, members: sent });
}

type Fields = Readonly<Record<string, unknown>>;

/** Throws PARAMETER_INVALID, and what a search of a node throws. */
export function decodeGroupSearch(body: Fields, call: GroupCall): GroupSearch {
  const { members, newestFirst, limit } = body;
  if (!Array.isArray(members) || members.length > MAX_GROUP || typeof newestFirst !== 'boolean')
    throw invalid(`a search needs an order and at most ${MAX_GROUP} members`);
  const queries: SearchQuery[] = [];
  const given = members.map((each: unknown, index): GroupSearchMember => {
    const { id, offsetMs, silentMs, reachedKey, params, atMs } = isObject(each) ? each : {};
    if (typeof id !== 'string' || !Number.isSafeInteger(offsetMs)) throw invalid('a member is invalid');
    const reached = Number.isFinite(reachedKey) ? { reachedKey: Number(reachedKey) } : {};
    const silence = silentMs === undefined ? {} : { silentMs: toMs(silentMs) };
    const facts = { id, offsetMs: Number(offsetMs), ...reached, ...silence };
    if (isObject(body.around)) return { ...facts, query: { around: toAround(body.around, { id, atMs }, call) } };
    const { clock, maxRecords } = call;
    const search =
      typeof params === 'string'
        ? parseSearchRequest(new URLSearchParams(params), clock, { maxRecords })
        : queries[Number(params)];
    if (search === undefined) throw invalid('a member has no query');
    queries[index] = search;
    return { ...facts, query: { search } };
  });
  return {
    members: given,
    newestFirst,
    limit: limit === null ? Infinity : toCount(limit),
    budgetMs: Math.min(toMs(body.budgetMs), call.searchBudgetMs),
    firstBatchMs: toMs(body.firstBatchMs),
    timeoutMs: toMs(body.timeoutMs),
    // Requests of earlier versions have none.
    ...(body.pageRecords !== undefined && { pageRecords: Math.max(1, Math.floor(toCount(body.pageRecords))) }),
  };
}

function toAround(
  { beforeMs, afterMs, limit }: Fields,
  { id, atMs }: { id: string; atMs: unknown },
  { maxRecords }: GroupCall,
) {
  if (!Number.isFinite(atMs)) throw invalid('a member has no time');
  const times = { beforeMs: toCount(beforeMs), afterMs: toCount(afterMs) };
  return { id, atMs: Number(atMs), ...times, limit: Math.min(toCount(limit), maxRecords) };
}

function toMs(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0)) throw invalid('a time limit is invalid');
  return Math.min(value, MAX_MS);
}

function toCount(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw invalid('a number is invalid');
  return value;
}

export function encodeBatch({ progress, members, records }: GroupBatch): Uint8Array {
  const frames: Uint8Array[] = [];
  if (progress.length > 0) {
    const states = progress.map((each) => {
      const { member, is } = each;
      if (is === 'failed') return { member, is, code: codeOf(each.problem) };
      return is === 'direct' ? { member, is } : each;
    });
    frames.push(encodeFrame(FRAME.state, 0, Buffer.from(JSON.stringify(states))));
  }
  for (let from = 0, to = FIRST_RECORDS; from < records.length; from = to, to += FRAME_RECORDS)
    frames.push(encodeRecords(members.slice(from, to), records.slice(from, to)));
  return frames.length === 1 ? (frames[0] as Uint8Array) : Buffer.concat(frames);
}

function encodeRecords(members: readonly number[], records: GroupBatch['records']): Buffer {
  const places = Buffer.allocUnsafe(4 + 2 * members.length);
  places.writeUInt32BE(members.length, 0);
  for (const [index, member] of members.entries()) places.writeUInt16BE(member, 4 + 2 * index);
  const lines = records.map((record) =>
    record instanceof LineRecord ? record.line : Buffer.from(`${exactJson(record)}\n`),
  );
  return encodeFrame(FRAME.records, 0, Buffer.concat([places, ...lines]));
}

/** Reads the parts that a helper sends. Throws BAD_ANSWER for what is not valid. */
export class BatchReader {
  readonly #members: number;
  readonly #check: RecordLineCheck;
  readonly #reader: LineReader;

  /** `members`: how many there are in the group. */
  constructor(members: number, kernel: LineKernel) {
    this.#members = members;
    this.#check = new RecordLineCheck(kernel);
    this.#reader = new LineReader(kernel);
  }

  /** `undefined` for a frame that is none of a search. */
  read({ kind, payload }: Frame): GroupBatch | undefined {
    if (kind === FRAME.state) return { progress: this.#readProgress(payload), members: [], records: [] };
    return kind === FRAME.records ? { progress: [], ...this.#readRecords(payload) } : undefined;
  }

  #readProgress(payload: Buffer): MemberProgress[] {
    const states: unknown = JSON.parse(payload.toString('utf8'));
    if (!Array.isArray(states)) throw badAnswer();
    return states.map((state: unknown) => {
      const { member, is, end, sent, edgeMs, code } = isObject(state) ? state : {};
      if (!isPlace(member, this.#members)) throw badAnswer();
      if (is === 'answered' || is === 'late' || is === 'direct' || is === 'silent') return { member, is };
      if (is === 'failed') return { member, is, problem: toProblem(code) };
      const decoded = (is === 'end' || is === 'page') && isObject(end) ? this.#check.decodeEnd(end) : undefined;
      if (decoded === undefined) throw badAnswer();
      const facts = { member, end: decoded, edgeMs: Number.isFinite(edgeMs) ? Number(edgeMs) : null };
      if (is === 'page') return { ...facts, is };
      if (!Number.isSafeInteger(sent)) throw badAnswer();
      return { ...facts, is: 'end', sent: Number(sent) };
    });
  }

  #readRecords(payload: Buffer): Pick<GroupBatch, 'members' | 'records'> {
    const count = payload.length < 4 ? Infinity : payload.readUInt32BE(0);
    const linesAt = 4 + 2 * count;
    if (linesAt > payload.length) throw badAnswer();
    const lines = this.#check.check(payload.subarray(linesAt));
    if (lines === undefined) throw badAnswer();
    const items = this.#reader.read(Buffer.from(lines.buffer as ArrayBuffer, lines.byteOffset, lines.length));
    const records = items.flatMap((item): (SearchItem | LineRecord)[] =>
      item.type === 'lines' ? item.records() : [item],
    );
    const members = Array.from({ length: count }, (_, index) => payload.readUInt16BE(4 + 2 * index));
    const isRight = records.length === count && members.every((member) => isPlace(member, this.#members));
    if (!isRight || !records.every((item) => item.type === 'record')) throw badAnswer();
    return { members, records };
  }
}

function isPlace(value: unknown, count: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < count;
}

/** Without text of another node. */
function toProblem(code: unknown): PortholeError {
  if (!isErrorCode(code)) return new PortholeError('BAD_ANSWER', 'it failed, as its helper reports');
  return new PortholeError(code, `it failed during the search, as its helper reports: ${code}`);
}

function badAnswer(): PortholeError {
  return new PortholeError('BAD_ANSWER', 'a part of a group is invalid');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
