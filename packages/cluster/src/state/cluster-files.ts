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
import { type AskedMember, askEach, type StateParts } from './state-parts.ts';

type ClusterFile = ClusterLogFiles['files'][number];
type ToldFile = Omit<ClusterFile, 'node'>;

/** Files of one member, and of all together: whoever registers members must not fill the memory with their lists. */
const MAX_FILES = 100_000;
const MAX_ALL_FILES = 400_000;

interface ListedFiles {
  files: ToldFile[];
  /** How many it has. */
  total: number;
}

/** The log files of all, by member and name. */
export async function clusterFiles(
  parts: StateParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterLogFiles> {
  const peers = chooseMembers(parts, request);
  let left = MAX_ALL_FILES;
  const ask = async (member: AskedMember, asking: CallOptions): Promise<ListedFiles> => {
    const all = await askFiles(member, asking);
    const files = all.slice(0, Math.min(left, MAX_FILES));
    left -= files.length;
    return { files, total: all.length };
  };
  const answers = await askEach(parts, peers, ask, { ...options, countOf: ({ files }) => files.length });
  return {
    files: answers.flatMap(({ peer, value }) => value?.files.map((file) => ({ ...file, node: peer.member.id })) ?? []),
    members: answers.map(({ value, report }) => withRest(report, value)),
  };
}

/** Says where a list is not whole. */
function withRest(report: MemberReport, listed: ListedFiles | undefined): MemberReport {
  if (listed === undefined || listed.files.length === listed.total) return report;
  return { ...report, detail: `only ${listed.files.length} of its ${listed.total} files are listed`, isPartial: true };
}

async function askFiles({ state, clock }: AskedMember, options: CallOptions): Promise<ToldFile[]> {
  try {
    const files = await state.logFiles(options);
    return files.map((file) => correct(file, clock.offsetMs));
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return describeByName(await state.listLogs(options));
}

function correct(file: LogFileDetails, offsetMs: number): ToldFile {
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
function describeByName(entries: readonly LogEntry[]): ToldFile[] {
  const families = groupFamilies(entries.map(({ name }) => name));
  const placed = new Map(
    families.flatMap((family) => family.files.map((file) => [file.name, { ...file, family: family.name }])),
  );
  return entries.map(({ name, size }) => {
    const { family = name, state = 'live', compressed = false } = placed.get(name) ?? {};
    const shape = size === 0 ? ({ format: 'empty', problem: null } as const) : NOT_LOOKED_INTO;
    return { name, size, family, state, compressed, ...shape, modifiedMs: null, firstTimeMs: null, lastTimeMs: null };
  });
}

const NOT_LOOKED_INTO = { format: 'unreadable', problem: 'the node tells names and sizes only' } as const;
