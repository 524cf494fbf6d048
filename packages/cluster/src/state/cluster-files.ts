import {
  type CallOptions,
  type ClusterLogFiles,
  codeOf,
  type MemberReport,
  type MemberSelection,
} from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogEntry, LogFileDetails } from '@porthole/logs/types';
import { chooseMembers } from './choose-members.ts';
import { type QueriedMember, queryMembers, type StateDeps } from './state-deps.ts';

type ClusterFile = ClusterLogFiles['files'][number];
type ListedFile = Omit<ClusterFile, 'node'>;

/** Files of one member, and of all together: whoever registers members must not fill the memory with their lists. */
const MAX_FILES = 100_000;
const MAX_ALL_FILES = 400_000;

interface ListedFiles {
  files: ListedFile[];
  /** How many it has. */
  total: number;
}

/** The log files of all, by member and name. */
export async function clusterFiles(
  deps: StateDeps,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterLogFiles> {
  const peers = chooseMembers(deps, request);
  let remaining = MAX_ALL_FILES;
  const call = async (member: QueriedMember, callOptions: CallOptions): Promise<ListedFiles> => {
    const all = await fetchFiles(member, callOptions);
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

/** Says where a list is not whole. */
function withTruncation(report: MemberReport, listed: ListedFiles | undefined): MemberReport {
  if (listed === undefined || listed.files.length === listed.total) return report;
  return { ...report, detail: `only ${listed.files.length} of its ${listed.total} files are listed`, isPartial: true };
}

async function fetchFiles({ state, clock }: QueriedMember, options: CallOptions): Promise<ListedFile[]> {
  try {
    const files = await state.logFiles(options);
    return files.map((file) => correctTimes(file, clock.offsetMs));
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return describeByName(await state.listLogs(options));
}

function correctTimes(file: LogFileDetails, offsetMs: number): ListedFile {
  const shift = (timeMs: number | null) => (typeof timeMs === 'number' ? timeMs - offsetMs : null);
  return {
    ...file,
    // 0: not known.
    modifiedMs: file.modifiedMs > 0 ? shift(file.modifiedMs) : null,
    firstTimeMs: shift(file.firstTimeMs),
    lastTimeMs: shift(file.lastTimeMs),
  };
}

/** What names say of the files of a node that tells names and sizes only. */
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

const NOT_SCANNED = { format: 'unreadable', problem: 'the node tells names and sizes only' } as const;
