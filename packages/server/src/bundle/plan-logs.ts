import { type ClusterLogFiles, type ClusterNode, type ClusterState, codeOf } from '@porthole/contract';
import { describeError } from './bundle-writer.ts';
import { firstRecord, type LogPart } from './log-part.ts';

/** The newest files; an archive with more is of no use to a person. */
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
  const { range, reportMissing, signal } = deps;
  const wanted = files.filter((file) => mayHold(file, range)).sort(newestFirst);
  for (const { node, name } of wanted.slice(MAX_FILES))
    reportMissing({ node, file: name }, `a bundle has at most ${MAX_FILES} files`);
  const unresponsive = new Set<string>();
  const found: LogPart[] = [];
  for (const file of wanted.slice(0, MAX_FILES)) {
    const { node, name } = file;
    if (unresponsive.has(node)) continue;
    try {
      const part = await findPart(file, deps);
      if (part) found.push(part);
    } catch (error) {
      signal.throwIfAborted();
      // A member that does not respond is not contacted again for every file.
      if (UNRESPONSIVE_CODES.has(codeOf(error))) unresponsive.add(node);
      reportMissing(unresponsive.has(node) ? { node } : { node, file: name }, describeError(error));
    }
  }
  return found.sort((a, b) => compare(a.node, b.node) || compare(a.file, b.file));
}

/** The newest part of each, within the size limit. Cut parts start with a complete record. */
export async function fitParts(
  planned: readonly LogPart[],
  room: number,
  { cluster, signal, reportMissing }: LogPlanDeps,
): Promise<LogPart[]> {
  const sizes = fitSizes(
    planned.map(({ bytes }) => bytes),
    room,
  );
  const fitted: LogPart[] = [];
  for (const [index, part] of planned.entries()) {
    const size = sizes[index] ?? 0;
    if (size === part.bytes) fitted.push(part);
    else if (part.kind === 'end') fitted.push({ ...part, bytes: size, isCut: true });
    else {
      try {
        const newest = await keepNewest(part, size, { cluster, signal });
        if (newest) fitted.push(newest);
        else reportMissing(part, 'the size limit is reached');
      } catch (error) {
        signal.throwIfAborted();
        reportMissing(part, describeError(error));
      }
    }
  }
  return fitted;
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
  const first = await firstRecord(state, { file: name, ...range, order: 'oldest' }, deps);
  const last = first && (await firstRecord(state, { file: name, ...range, order: 'newest' }, deps));
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
  const start = await firstRecord(state, { family, order: 'oldest', start: { record: cursor } }, { signal });
  if (!start) return undefined;
  const end = start.offset + part.bytes;
  const cutAt = end - size;
  for await (const items of state.searchLogs(
    { file: start.file, order: 'oldest', start: { offset: cutAt }, limit: 2, before: 0, after: 0 },
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

/**
 * Distributes the available room: small files stay complete, and larger ones share the rest evenly, so that one large log
 * does not displace all others.
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
