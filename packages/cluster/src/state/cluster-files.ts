import {
  type CallOptions,
  type ClusterLogFiles,
  codeOf,
  type LogFilesOptions,
  LogSources,
  type MemberReport,
  type MemberSelection,
  sourcesOf,
} from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogEntry, LogFileDetails } from '@porthole/logs/types';
import { type SteppedClock, toOwnTime } from '../fan-out/clock-steps.ts';
import { chooseMembers, type QueriedMember, queryMembers, type StateDeps } from './query-members.ts';

type ClusterFile = ClusterLogFiles['files'][number];
type ListedFile = Omit<ClusterFile, 'node'>;

/** Maximum files per member and in total: registered members must not fill the memory. */
const MAX_FILES = 100_000;
const MAX_ALL_FILES = 400_000;

interface ListedFiles {
  files: ListedFile[];
  /** Total number of files. */
  total: number;
}

/** The log files of all members, by member and name. */
export async function clusterFiles(
  deps: StateDeps,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterLogFiles> {
  const peers = chooseMembers(deps, request);
  let remaining = MAX_ALL_FILES;
  const call = async (member: QueriedMember, callOptions: CallOptions): Promise<ListedFiles> => {
    const src = sourcesOf(member.member, request) ?? [];
    const all = await fetchFiles(member, src.length === 0 ? callOptions : { ...callOptions, src });
    const files = all.slice(0, Math.min(remaining, MAX_FILES));
    remaining -= files.length;
    return { files, total: all.length };
  };
  const responses = await queryMembers(deps, peers, call, { ...options, countOf: ({ files }) => files.length });
  return {
    files: responses.flatMap(
      ({ peer, value }) => value?.files.map((file) => ({ ...file, node: peer.member.id })) ?? [],
    ),
    members: responses.map(({ value, report }) => withTruncation(report, value)),
  };
}

/** Marks an incomplete list in the report. */
function withTruncation(report: MemberReport, listed: ListedFiles | undefined): MemberReport {
  if (listed === undefined || listed.files.length === listed.total) return report;
  return { ...report, detail: `only ${listed.files.length} of ${listed.total} files listed`, isPartial: true };
}

async function fetchFiles({ state, clock }: QueriedMember, options: LogFilesOptions): Promise<ListedFile[]> {
  try {
    const files = await state.logFiles(options);
    return files.map((file) => correctTimes(file, clock));
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  const listed = describeByName(await state.listLogs(options));
  const logs = new LogSources(options.src);
  return listed.filter(({ name, family }) => logs.hasFile(name, family));
}

function correctTimes(file: LogFileDetails, clock: SteppedClock): ListedFile {
  const shift = (timeMs: number | null) => (typeof timeMs === 'number' ? toOwnTime(clock, timeMs) : null);
  return {
    ...file,
    // 0: unknown.
    modifiedMs: file.modifiedMs > 0 ? shift(file.modifiedMs) : null,
    firstTimeMs: shift(file.firstTimeMs),
    lastTimeMs: shift(file.lastTimeMs),
  };
}

/** Details derived from names, for a node that reports only names and sizes. */
function describeByName(entries: readonly LogEntry[]): ListedFile[] {
  const families = groupFamilies(entries.map(({ name }) => name));
  const placed = new Map(
    families.flatMap((family) => family.files.map((file) => [file.name, { ...file, family: family.name }])),
  );
  return entries.map(({ name, size }) => {
    const { family = name, state = 'live', compressed = false } = placed.get(name) ?? {};
    const shape = size === 0 ? ({ format: 'empty', problem: null } as const) : NOT_SCANNED;
    return { name, size, family, state, compressed, ...shape, modifiedMs: null, firstTimeMs: null, lastTimeMs: null };
  });
}

const NOT_SCANNED = { format: 'unreadable', problem: 'the node reports only names and sizes' } as const;
