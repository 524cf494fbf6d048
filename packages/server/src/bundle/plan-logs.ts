import {
  type ClusterLogFiles,
  type ClusterNode,
  type ClusterState,
  codeOf,
  familySource,
  fileSource,
  type NodeState,
  searchItems,
} from '@porthole/contract';
import { isPackedName } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { describeError } from './bundle-writer.ts';

/** The newest files of each member; an archive with more is of no use to a person. */
const MAX_FILES = 2000;

/** Bytes taken from the end of a file without timestamps. */
const END_BYTES = 1024 ** 2;

type ClusterFile = ClusterLogFiles['files'][number];

export interface LogPlanDeps {
  cluster: ClusterState;
  /** By this node's clock. */
  range: { fromMs: number; toMs: number };
  clocks: readonly Pick<ClusterNode, 'id' | 'clock'>[];
  signal: AbortSignal;
  /** Reports a member or a file that is not available. */
  reportMissing(entry: { node: string; file?: string }, reason: string): void;
}

/** The parts of these files in the requested time range, with their lengths. Nothing is read yet. */
export async function planLogs(files: readonly ClusterFile[], deps: LogPlanDeps): Promise<LogPart[]> {
  const { range, reportMissing } = deps;
  const members = [...byMember(files.filter((file) => mayHold(file, range)))];
  const counts = fitSizes(
    members.map(([, theirs]) => theirs.length),
    MAX_FILES,
  );
  const wanted = members.flatMap(([node, theirs], index) => {
    const count = counts[index] ?? 0;
    const left = theirs.length - count;
    if (left > 0) reportMissing({ node }, `${left} of its files: a bundle has at most ${MAX_FILES}`);
    return theirs.sort(newestFirst).slice(0, count);
  });
  const parts = await ofResponding(wanted, deps, (file) => findPart(file, deps));
  return parts.sort((a, b) => compare(a.node, b.node) || compare(a.file, b.file));
}

/** A part, and what of it has room. */
export interface FittedPart {
  whole: LogPart;
  fitted: LogPart;
}

/**
 * The newest part of each, within the size limit. Cut parts start with a complete record. If anything is cut, the members
 * that claim to have most come first: what they do not deliver after all is left for the others.
 */
export async function fitParts(
  planned: readonly LogPart[],
  room: number,
  deps: LogPlanDeps,
): Promise<readonly FittedPart[]> {
  if (totalBytes(planned) <= room) return planned.map((whole) => ({ whole, fitted: whole }));
  const measured = await ofResponding(planned, deps, (part) => measurePart(part, deps));
  const claims = new Map([...byMember(measured)].map(([node, theirs]) => [node, totalBytes(theirs)]));
  const parts = measured.sort((a, b) => (claims.get(b.node) ?? 0) - (claims.get(a.node) ?? 0));
  const sizes = shareRoom(parts, room);
  const sized = parts.map((whole, index) => ({ node: whole.node, file: whole.file, whole, size: sizes[index] ?? 0 }));
  return ofResponding(sized, deps, async ({ whole, size }) => {
    const fitted = await cutPart(whole, size, deps);
    if (!fitted) deps.reportMissing(whole, 'the size limit is reached');
    return fitted && { whole, fitted };
  });
}

/** The newest bytes of a part, at most this many. */
export async function cutPart(
  part: LogPart,
  size: number,
  deps: Pick<LogPlanDeps, 'cluster' | 'signal'>,
): Promise<LogPart | undefined> {
  if (size >= part.bytes) return part;
  return part.kind === 'end' ? { ...part, bytes: size, isCut: true } : keepNewest(part, size, deps);
}

/** Calls for one after the other. What fails is reported; a member that does not respond is not contacted again. */
async function ofResponding<T extends { node: string; file?: string; name?: string }, R>(
  all: readonly T[],
  { signal, reportMissing }: LogPlanDeps,
  call: (each: T) => Promise<R | undefined>,
): Promise<R[]> {
  const unresponsive = new Set<string>();
  const results: R[] = [];
  for (const each of all) {
    const { node, file = each.name ?? '' } = each;
    if (unresponsive.has(node)) continue;
    try {
      const result = await call(each);
      if (result !== undefined) results.push(result);
    } catch (error) {
      signal.throwIfAborted();
      if (UNRESPONSIVE_CODES.has(codeOf(error))) unresponsive.add(node);
      reportMissing(unresponsive.has(node) ? { node } : { node, file }, describeError(error));
    }
  }
  return results;
}

/** The end of a file is as long as its member claims, until it is read. Records were found: they need no proof. */
async function measurePart(part: LogPart, { cluster, signal }: LogPlanDeps): Promise<LogPart> {
  if (part.kind !== 'end') return part;
  let bytes = 0;
  for await (const chunk of readEnd(cluster.member(part.node), part, { signal })) bytes += chunk.length;
  return { ...part, bytes: Math.min(bytes, part.bytes) };
}

const UNRESPONSIVE_CODES: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'DEADLINE_EXCEEDED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
]);

/** Whether its known timestamps overlap the time range. Binary files have no lines to search. */
function mayHold({ format, firstTimeMs, lastTimeMs, modifiedMs }: ClusterFile, { fromMs, toMs }: LogPart['range']) {
  if (format === 'empty' || format === 'binary') return false;
  if (firstTimeMs !== null && firstTimeMs >= toMs) return false;
  const endMs = lastTimeMs ?? modifiedMs;
  return endMs === null || endMs >= fromMs;
}

async function findPart(file: ClusterFile, deps: LogPlanDeps): Promise<LogPart | undefined> {
  const { node, name, family, compressed, format, firstTimeMs, lastTimeMs, modifiedMs, problem, size } = file;
  if (problem !== null && modifiedMs !== null) throw new Error(problem);
  const offsetMs = Math.round(deps.clocks.find(({ id }) => id === node)?.clock?.offsetMs ?? 0);
  const range = { fromMs: deps.range.fromMs + offsetMs, toMs: deps.range.toMs + offsetMs };
  const whole = { node, file: name, family, range, isCut: false };
  const isTimed = firstTimeMs !== null || lastTimeMs !== null;
  if (modifiedMs === null || format === 'text' || !isTimed) {
    const bytes = compressed ? END_BYTES : Math.min(size, END_BYTES);
    return { ...whole, kind: 'end', bytes, cursor: '', isCut: size > END_BYTES };
  }
  const state = deps.cluster.member(node);
  const first = await firstRecord(state, { src: [fileSource(name)], ...range, order: 'oldest' }, deps);
  const last = first && (await firstRecord(state, { src: [fileSource(name)], ...range, order: 'newest' }, deps));
  if (!first || !last) return undefined;
  const bytes = Math.max(0, last.offset + last.bytes - first.offset);
  return { ...whole, kind: compressed ? 'records' : 'bytes', bytes, cursor: first.cursor };
}

async function keepNewest(
  part: LogPart,
  size: number,
  { cluster, signal }: Pick<LogPlanDeps, 'cluster' | 'signal'>,
): Promise<LogPart | undefined> {
  const { node, file, family, cursor, range } = part;
  const state = cluster.member(node);
  const start = await firstRecord(
    state,
    { src: [familySource(family)], order: 'oldest', start: { record: cursor } },
    { signal },
  );
  if (!start) return undefined;
  const end = start.offset + part.bytes;
  const cutAt = end - size;
  for await (const items of searchItems(
    state,
    { src: [fileSource(start.file)], order: 'oldest', start: { offset: cutAt }, limit: 2, before: 0, after: 0 },
    { signal },
  )) {
    for (const item of items) {
      if (item.type === 'end' || item.offset < cutAt || item.offset >= end) continue;
      const fromMs = item.timeMs ?? range.fromMs;
      return { ...part, file, bytes: end - item.offset, cursor: item.cursor, range: { ...range, fromMs }, isCut: true };
    }
  }
  return undefined;
}

function newestFirst(a: ClusterFile, b: ClusterFile): number {
  return (b.modifiedMs ?? 0) - (a.modifiedMs ?? 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function totalBytes(parts: readonly LogPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

function byMember<T extends { node: string }>(all: readonly T[]): Map<string, T[]> {
  const members = new Map<string, T[]>();
  for (const each of all) {
    const theirs = members.get(each.node);
    if (theirs) theirs.push(each);
    else members.set(each.node, [each]);
  }
  return members;
}

/** Shares the room between the members, however many files each claims to have, and then between the files of each. */
export function shareRoom(parts: readonly LogPart[], room: number): number[] {
  const members = [...byMember(parts).values()];
  const shares = fitSizes(members.map(totalBytes), room);
  const sizes = new Map<LogPart, number>();
  for (const [index, theirs] of members.entries()) {
    const fitted = fitSizes(
      theirs.map(({ bytes }) => bytes),
      shares[index] ?? 0,
    );
    for (const [at, part] of theirs.entries()) sizes.set(part, fitted[at] ?? 0);
  }
  return parts.map((part) => sizes.get(part) ?? 0);
}

/**
 * Distributes the available room: small ones stay complete, and larger ones share the rest evenly, so that a large one does
 * not displace all others.
 */
export function fitSizes(sizes: readonly number[], room: number): number[] {
  let remaining = Math.max(0, room);
  let others = sizes.length;
  let level = Number.POSITIVE_INFINITY;
  for (const size of [...sizes].sort((a, b) => a - b)) {
    const share = Math.floor(remaining / others);
    if (size > share) {
      level = share;
      break;
    }
    remaining -= size;
    others--;
  }
  return sizes.map((size) => Math.min(size, level));
}

/** The part of a log file in the requested time range. */
export interface LogPart {
  node: string;
  file: string;
  family: string;
  /** By the clock of that member. */
  range: { fromMs: number; toMs: number };
  /**
   * `bytes`: a byte range of the file. `records`: records of a compressed file. `end`: the end of a file without timestamps,
   * or of a node that cannot search.
   */
  kind: 'bytes' | 'records' | 'end';
  /** Its length; for an `end`, the maximum. */
  bytes: number;
  /** Cursor of the first record, which survives rotation; empty for an `end`. */
  cursor: string;
  /** The file has more in the requested time range. */
  isCut: boolean;
}

interface PartReadOptions {
  signal: AbortSignal;
  pageRecords: number;
  budgetMs: number;
  report(problem: string): void;
}

const ONE: Omit<SearchQuery, 'order'> = { limit: 1, before: 0, after: 0 };

/** The first record a search finds. */
async function firstRecord(
  state: NodeState,
  query: Partial<SearchQuery> & Pick<SearchQuery, 'order'>,
  options: { signal: AbortSignal },
): Promise<FoundRecord | undefined> {
  for await (const items of searchItems(state, { ...ONE, ...query }, options)) {
    for (const item of items) if (item.type === 'record') return item;
  }
  options.signal.throwIfAborted();
  return undefined;
}

/** The text of a part, as the node serves it. */
export function readPart(state: NodeState, part: LogPart, reading: PartReadOptions): AsyncIterable<Uint8Array> {
  if (part.kind === 'end') return readEnd(state, part, reading);
  return part.kind === 'records' ? readRecords(state, part, reading) : readBytes(state, part, reading);
}

async function* readEnd(
  state: NodeState,
  { file, bytes }: LogPart,
  { signal }: Pick<PartReadOptions, 'signal'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const response = await state.viewLog({ file, sizeBytes: Math.max(1, bytes) }, { signal });
  try {
    yield* response.chunks;
  } finally {
    await response.close();
  }
}

/** The file may have been rotated since the part was planned: the cursor of its first record finds its current file. */
async function* readBytes(
  state: NodeState,
  part: LogPart,
  reading: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal } = reading;
  const { family, cursor, bytes } = part;
  const first = await firstRecord(
    state,
    { src: [familySource(family)], order: 'oldest', start: { record: cursor } },
    { signal },
  );
  if (first === undefined) throw new Error('it was removed while the bundle was created');
  const file = first.file;
  if (isPackedName(file) && !isPackedName(part.file)) return yield* readRecords(state, { ...part, file }, reading);
  const log = await state.openLog({ file }, { signal });
  try {
    yield* log.read(first.offset, first.offset + bytes, { signal });
  } finally {
    await log.close();
  }
}

/** Page by page. Not byte for byte: invalid UTF-8 is replaced, and the longest records are cut. */
async function* readRecords(
  state: NodeState,
  { file, range }: LogPart,
  { signal, pageRecords, budgetMs, report }: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const query: SearchQuery = {
    ...ONE,
    ...range,
    src: [fileSource(file)],
    order: 'oldest',
    limit: pageRecords,
    raw: true,
  };
  let cutRecords = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    let end: SearchEnd | undefined;
    for await (const items of searchItems(state, page, { signal, budgetMs })) {
      let lines = '';
      for (const item of items) {
        if (item.type === 'end') end = item;
        else lines += `${item.raw ?? item.message}\n`;
        if (item.type === 'record' && item.cut) cutRecords++;
      }
      if (lines !== '') yield Buffer.from(lines);
    }
    signal.throwIfAborted();
    for (const { detail } of end?.problems ?? []) report(detail);
    if (end?.records === 0 && end.cursor === cursor) throw new Error('the search makes no progress');
    cursor = end?.cursor ?? null;
  }
  if (cutRecords > 0) report(`${cutRecords} records are longer than the limit of a record and were cut`);
}
