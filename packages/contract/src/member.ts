import { formatLogSource, matchesPattern, parseLogSource } from '@porthole/logs/query';
import { type Labels, matchesLabels } from './labels.ts';
import type { NodeObject } from './node-state.ts';

export const MEMBER_ID = /^[A-Za-z0-9.:_-]{1,128}$/;
export const MEMBER_ROLE = /^[A-Za-z0-9_-]{1,32}$/;

/** A node as the registry lists it. */
export interface Member {
  /** Identifies it within the cluster: letters, digits and `.:_-`, at most 128. */
  id: string;
  /** What it does in its cluster, as it reports: `node` unless set; `unknown` until a member of a static list has reported it. */
  role: string;
  /** Its setting `node.labels`; empty if it has none, or until a member of a static list has reported them. */
  labels: Labels;
  node: NodeObject;
  /** Address it is queried at. Never taken from a request. */
  url: string;
  /** Whether it is the responding node. */
  isSelf: boolean;
}

/** More would make the head of every page long, and nobody loses as many at once. */
const MAX_FALLBACKS = 32;

/** The members through which a page of this node goes on when this one does not respond, by id. */
export function fallbackMembers<T extends Pick<Member, 'id' | 'isSelf'>>(members: readonly T[]): T[] {
  const others = members.filter(({ isSelf }) => !isSelf);
  return others.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_FALLBACKS);
}

/** Which members are queried; all of them if nothing is given. */
export interface MemberSelection {
  /** Ids, or patterns with `*` and `?`. */
  nodes?: readonly string[];
  role?: string;
  /** `zone=a`, whose value may have `*` and `?`; of each name one must match. */
  labels?: readonly string[];
  /** Logs, perhaps with the nodes that have them, which are selected by that; `parseLogSource` has the grammar. */
  src?: readonly string[];
  /** Where records are read; `auto` if absent. Operations that read no records ignore it. */
  store?: RecordStore;
  /**
   * Only records at or after this time, by the clock of the member that logged them, uncorrected: by member id, `*` for
   * all others. Older ones are read from the archive.
   */
  floors?: Floors;
}

/** Whether a request is about nodes that it names, not about the one that receives it. */
export function selectsMembers(selection: MemberSelection): boolean {
  return selectsByFacts(selection) || selection.src?.some((text) => parseLogSource(text).node !== '') === true;
}

function selectsByFacts({ nodes, role, labels }: MemberSelection): boolean {
  return nodes !== undefined || role !== undefined || labels !== undefined;
}

/** The ids and patterns of ids that a request names. */
export function namedNodes({ nodes = [], src = [] }: MemberSelection): string[] {
  return [...nodes, ...src.map((text) => parseLogSource(text).node).filter((node) => node !== '')];
}

/** Whether a search is of more than what the receiving node has on disk. */
export function asksCluster(request: MemberSelection): boolean {
  const { store = 'nodes', floors } = request;
  return selectsMembers(request) || store !== 'nodes' || floors !== undefined;
}

/** The role of a member of a static list that has not reported its own yet. */
export const UNKNOWN_ROLE = 'unknown';

/** What decides whether a member is selected. */
export type SelectableMember = Pick<Member, 'id' | 'role'> & Partial<Pick<Member, 'labels'>>;

/** Whether a request is about a member. One whose role and labels are unknown may have these: it is included and reported. */
export function isSelected(member: SelectableMember, selection: MemberSelection): boolean {
  return sourcesOf(member, selection) !== undefined;
}

/**
 * What a member is asked for, without nodes; empty: all its logs; `undefined`: the request is not about it. Sources without a
 * node are for the nodes of `nodes`, `role` and `labels`, and without these for the nodes that other sources name.
 */
export function sourcesOf(member: SelectableMember, selection: MemberSelection): readonly string[] | undefined {
  const sources = (selection.src ?? []).map(parseLogSource);
  const isNamed = (name: string) => name === member.id || matchesPattern(member.id, name);
  const own = sources.filter(({ node }) => node !== '' && isNamed(node));
  const shared = sources.filter(({ node }) => node === '');
  const isByName = !selectsByFacts(selection) && shared.length < sources.length;
  const texts = (list: typeof sources) => list.map((source) => formatLogSource({ ...source, node: '' }));
  if (isByName) return own.length === 0 ? undefined : texts([...shared, ...own]);
  if (!hasFacts(member, selection)) return own.length === 0 ? undefined : texts(own);
  return shared.length === 0 ? [] : texts([...shared, ...own]);
}

function hasFacts(member: SelectableMember, { nodes, role, labels }: MemberSelection): boolean {
  const isKnown = member.role !== UNKNOWN_ROLE;
  if (isKnown && role !== undefined && member.role !== role) return false;
  if (isKnown && labels !== undefined && !matchesLabels(member.labels ?? {}, labels)) return false;
  return nodes === undefined || nodes.some((name) => name === member.id || matchesPattern(member.id, name));
}

/**
 * Where records are read. `nodes`: what members have on disk. `archive`: what they have shipped to the archive. `auto`:
 * from members what they still have, and everything older from the archive, if there is one.
 */
export type RecordStore = 'auto' | 'nodes' | 'archive';

/** Epoch ms by member id; `*`: all others. */
export type Floors = Readonly<Record<string, number>>;

/** What the archive has of a member, in a response that was read from the archive at least in part. */
export interface MemberArchive {
  /** Records of it in the response that came from the archive. */
  count: number;
  /**
   * Records before this time, epoch milliseconds by the clock of the member, came from the archive, and all others from
   * its disk. `null`: all came from the archive.
   */
  beforeMs: number | null;
  /**
   * Start of the time range, by the clock of the member, of which all its records are in the archive. `null`: nothing
   * was shipped.
   */
  shippedFromMs: number | null;
  /** End of that range. */
  shippedToMs: number | null;
  /** Bytes of records that were deleted on its disk before they could be shipped. */
  lostBytes: number;
}

/** Which part of a response came from the archive. */
export interface ArchivePart {
  /** Records, or records counted, that came from the archive. */
  records: number;
  /**
   * Records before this time, epoch milliseconds, came from the archive, except of members whose report has another
   * time. `null`: records of any time.
   */
  beforeMs: number | null;
  /** Why what the archive has is missing in the response; `null` if it is not. */
  problem: string | null;
}

/** Which configurations are compared with each other. */
export interface ConfigDiffRequest extends MemberSelection {
  /** The name of a label: only members of the same role with the same value of it are compared. */
  by?: string;
}

/**
 * The state of a member as this node sees it. Every operation and every report uses this one state.
 * `up`: it responds. `unreachable`: registered, but it does not respond. `left`: it deregistered when it stopped.
 * `failed`: its registration ended without that. `unregistered`: the same, but it responds. `unknown`: it does not respond,
 * and the registry is unavailable, so whether it still is a member is unknown.
 */
export type MemberState = 'up' | 'unreachable' | 'left' | 'failed' | 'unregistered' | 'unknown';

/** Why the part of a member is in a response, or is not. */
export type MemberOutcome =
  | 'ok'
  /** No connection. */
  | 'refused'
  /** Not within its deadline. */
  | 'timeout'
  | 'tls'
  | 'auth'
  /** It has only the routes of the contract, or is older. */
  | 'not supported'
  /** Its response is not one of this interface. */
  | 'version'
  /** It refused the request or the response was cut off; `detail` has its code. */
  | 'failed'
  /** It has failed: it is no longer registered. What is shown was recorded by others. */
  | 'gone'
  /** It shut down cleanly. What is shown was recorded by others; this is not a failure. */
  | 'left';

/** One per member that was queried, in every response of the cluster. */
export interface MemberReport {
  /** Id of the member. */
  id: string;
  /** How the request to it ended. */
  outcome: MemberOutcome;
  /** What went wrong, with the error code. */
  detail: string | null;
  /** Milliseconds until it had responded or was given up. */
  elapsedMs: number;
  /** What it returned: records, groups, files. */
  count: number;
  /** Epoch milliseconds of its last sign of life, if what is shown is not current but was recorded before. */
  asOfMs: number | null;
  /** Id of the node that has recorded what is shown; absent if the member responds itself, or nothing was recorded. */
  recordedBy?: string;
  /** Milliseconds before it was lost of which nothing was recorded, at most; absent like `recordedBy`. */
  missingMs?: number;
  /** What it returned is not all that was requested: `detail` says why. */
  isPartial?: true;
  /** @required */
  state?: MemberState;
  /**
   * Epoch milliseconds at which it entered this state, as far as the responding node knows; `null`: not known.
   * @required
   */
  sinceMs?: number | null;
  /**
   * Epoch milliseconds of the start of the time range, both ends included and by the clock of the responding node, of
   * which the response of a search has all its matching records; of which a histogram has all counts, if that is not all
   * that was requested. `null`: there is none.
   */
  coveredFromMs?: number | null;
  /** Epoch milliseconds of the end of that time range, which is included. */
  coveredToMs?: number | null;
  /** What the archive has of it; absent if the archive was not asked, or knows nothing of it. */
  archive?: MemberArchive;
}

/** How reliable the list of members is. */
export interface MembershipState {
  /** Where members are listed. */
  kind: 'alone' | 'static' | 'etcd' | 'lindb';
  /** `stale`: the registry does not respond; these are the last known members. */
  state: 'ok' | 'stale';
  /** What is wrong with it. */
  detail: string | null;
  /** Epoch milliseconds at which it was known. */
  asOfMs: number;
}

/** The clock of a member compared with that of the responding node. */
export interface MemberClock {
  /**
   * Milliseconds to take off its times. 0 while the clock may be right; otherwise unchanged until a measurement rules it
   * out.
   * @asType number
   */
  offsetMs: number;
  /**
   * The true offset is within this many milliseconds of it.
   * @asType number
   */
  uncertaintyMs: number;
}
