import { type CallOptions, type ClusterLogFiles, codeOf, type MemberSelection } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogEntry, LogFileDetails } from '@porthole/logs/types';
import { chooseMembers } from './choose-members.ts';
import { type AskedMember, askEach, type StateParts } from './state-parts.ts';

type ClusterFile = ClusterLogFiles['files'][number];
type ToldFile = Omit<ClusterFile, 'node'>;

/** A directory listing beyond this is not told: no log directory is that full. */
const MAX_FILES = 100_000;

/** The log files of all, by member and name. */
export async function clusterFiles(
  parts: StateParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterLogFiles> {
  const peers = chooseMembers(parts, request);
  const answers = await askEach(parts, peers, askFiles, { ...options, countOf: (files) => files.length });
  return {
    files: answers.flatMap(({ peer, value = [] }) => value.map((file) => ({ ...file, node: peer.member.id }))),
    members: answers.map(({ report }) => report),
  };
}

async function askFiles({ state, clock }: AskedMember, options: CallOptions): Promise<ToldFile[]> {
  try {
    const files = await state.logFiles(options);
    return files.slice(0, MAX_FILES).map((file) => correct(file, clock.offsetMs));
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return describeByName((await state.listLogs(options)).slice(0, MAX_FILES));
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
