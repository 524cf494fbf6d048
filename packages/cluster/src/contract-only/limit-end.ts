import { groupFamilies } from '@porthole/logs';
import type { LogFileDetails, LogSelection, RecordFilter, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { zoneText } from './member-zone.ts';
import { type MirrorDir, nameOnNode } from './mirror-dir.ts';
import type { MirrorFacts } from './tail-mirror.ts';

/** The part of a query that decides what may be missing from the response. */
export type TailQuery = LogSelection &
  Pick<RecordFilter, 'fromMs' | 'toMs'> &
  Partial<Pick<SearchQuery, 'order' | 'start'>>;

export type EndFacts = Omit<SearchEnd, 'type' | 'cursor'>;

export interface LimitEndOptions {
  /** What was mirrored when the search began. */
  facts: MirrorFacts;
  /** The searched mirror. */
  dir: MirrorDir;
  query: TailQuery;
}

/** The end of a response from file tails, with what they lack: problems, covered range, and `limits`. */
export async function limitEnd<E extends EndFacts>(end: E, { facts, dir, query }: LimitEndOptions): Promise<E> {
  const isSelected = createSelector(query, facts);
  const problems = [...end.problems, ...facts.problems.filter(({ file }) => isSelected(file))].map((problem) => ({
    ...problem,
    file: nameOnNode(problem.file),
  }));
  const leftOut = new Set(end.problems.filter(({ code }) => code === 'LEFT_OUT').map(({ file }) => file));
  const files = [...facts.files].filter(([name]) => isSelected(name) && !leftOut.has(name));
  const cut = new Set(files.filter(([, { isWhole }]) => !isWhole).map(([name]) => name));
  // Whether a record is in the time range is then a guess, and so is what is not.
  const isNeeded = files.some(([, { times }]) => times.hasLocal);
  const isGuess = isNeeded && dir.zone.source === 'assumed';
  if (cut.size === 0 && !isGuess) return { ...end, problems };
  const begin = isGuess
    ? Number.POSITIVE_INFINITY
    : earliestTime((await dir.logs.details()).filter(({ name }) => cut.has(name)));
  const held = files.map(([name, { heldBytes }]) => ({ name, heldBytes }));
  const zone = zoneText(dir.zone, { isNeeded });
  const limits = cut.size === 0 ? zone : `${heldText(held, facts)}; ${zone}`;
  return {
    ...end,
    problems,
    ...coverage(end, { begin, query, asOfMs: facts.asOfMs }),
    ...((isGuess || isLimited(end, { begin, query })) && { limits }),
  };
}

function createSelector({ file, family }: TailQuery, { listed }: MirrorFacts): (name: string) => boolean {
  if (file !== undefined) return (name) => name === file;
  if (family === undefined) return () => true;
  const families = groupFamilies(listed.map(({ name }) => name));
  const names = new Set(families.find(({ name }) => name === family)?.files.map(({ name }) => name));
  return (name) => names.has(name);
}

interface LimitFacts {
  /** Time range of the mirrored parts. */
  begin: number;
  query: TailQuery;
}

/** Coverage starts at the latest start of an incomplete file; a file without timestamps has none. */
function earliestTime(details: readonly LogFileDetails[]): number {
  return details.reduce((latest, { firstTimeMs }) => Math.max(latest, firstTimeMs ?? Infinity), -Infinity);
}

/** Whether records may be missing: not if only later ones were requested, or all of a page of the newest are. */
function isLimited({ reason, coveredFromMs }: EndFacts, { begin, query }: LimitFacts): boolean {
  const isNewestPage = query.order === 'newest' && reason === 'limit';
  return begin > ((isNewestPage ? coveredFromMs : query.fromMs) ?? -Infinity);
}

function coverage(
  end: EndFacts,
  { begin, query, asOfMs }: LimitFacts & { asOfMs: number },
): Pick<EndFacts, 'coveredFromMs' | 'coveredToMs'> {
  const isAll = end.reason === 'exhausted' && query.start === undefined;
  const fromMs = Math.max(begin, (isAll ? query.fromMs : end.coveredFromMs) ?? -Infinity);
  const toMs = (isAll ? Math.min(query.toMs ?? Infinity, Math.max(asOfMs, fromMs)) : end.coveredToMs) ?? -Infinity;
  const isCovered = Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs <= toMs;
  return isCovered ? { coveredFromMs: fromMs, coveredToMs: toMs } : { coveredFromMs: null, coveredToMs: null };
}

function heldText(files: readonly { name: string; heldBytes: number }[], { listed }: MirrorFacts): string {
  const held = files.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  const sizes = new Map(listed.map(({ name, size }) => [name, size]));
  const total = files.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0);
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  return `served from the newest ${showBytes(held)} of ${showBytes(total)} in ${count}`;
}

function showBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, scale] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(bytes / Number(scale)).toFixed(1)} ${unit}`;
}
