import type {
  DigestGroup,
  DigestQuery,
  DuplicateFile,
  FileProblem,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogFileDetails,
  SearchEnd,
  SearchQuery,
} from '@porthole/logs/types';
import type {
  CallOptions,
  FollowOptions,
  NodeConfig,
  NodeObject,
  NodeProblem,
  NodeState,
  SearchOptions,
  SettingJson,
} from './node-state.ts';

/** A node as the registry lists it. */
export interface Member {
  /** Names it within the cluster, and only that: letters, digits and `.:_-`, at most 128. */
  id: string;
  /** What it does in its cluster, as it says itself: `node` unless set; `unknown` until a member of a static list has said it. */
  role: string;
  node: NodeObject;
  /** Where it is asked. Never taken from a request. */
  url: string;
  isSelf: boolean;
}

/** Which members are asked; all of them when nothing is given. */
export interface MemberSelection {
  /** Ids, or patterns with `*` and `?`. */
  nodes?: readonly string[];
  role?: string;
}

/**
 * What a member is to this node. Every operation and every report uses this one state.
 * `up`: it responds. `unreachable`: registered, but it does not respond. `left`: it deregistered when it stopped.
 * `failed`: its registration ended without that. `unknown`: it does not respond, and the registry is away, so nobody can
 * say whether it still is a member.
 */
export type MemberState = 'up' | 'unreachable' | 'left' | 'failed' | 'unknown';

/** Why a member's part of an answer is there, or is not. */
export type MemberOutcome =
  | 'ok'
  /** No connection. */
  | 'refused'
  /** Not within its deadline. */
  | 'timeout'
  | 'tls'
  | 'auth'
  /** It only answers the contract, or is older. */
  | 'not supported'
  /** It answers, but nothing that makes sense here. */
  | 'version'
  /** It said no, or broke off; `detail` has its code. */
  | 'failed'
  /** It has failed: it is no longer registered. What is shown is its snapshot. */
  | 'gone'
  /** It stopped in order. What is shown is its snapshot, and nothing is wrong with that. */
  | 'left';

/** One line per member that was asked, in every answer of the cluster. */
export interface MemberReport {
  id: string;
  outcome: MemberOutcome;
  detail: string | null;
  elapsedMs: number;
  /** What it gave: records, groups, files. */
  count: number;
  /** When what is shown of it was seen, where that is not now: its snapshot. */
  asOfMs: number | null;
  /** What it gave is not all that was asked for: `detail` says why. */
  isPartial?: true;
  /** Absent where the answer comes from an earlier version. */
  state?: MemberState;
  /** When it came into this state, as far as the node that answers has seen it; `null`: not known. */
  sinceMs?: number | null;
  /** Of a search: the time range of which the response has all its matching records, by the clock of the node that answers. */
  coveredFromMs?: number | null;
  coveredToMs?: number | null;
}

/** How sure this node is of who the members are. */
export interface MembershipState {
  kind: 'alone' | 'static' | 'etcd' | 'lindb';
  /** `stale`: the registry does not answer; these are the last known. */
  state: 'ok' | 'stale';
  detail: string | null;
  asOfMs: number;
}

/** Its clock against ours. */
export interface MemberClock {
  /** What to take off its times. */
  offsetMs: number;
  /** The true offset lies within so much of it. */
  uncertaintyMs: number;
}

export interface ClusterNode extends Member {
  state: MemberState;
  /** When it came into this state, as far as the node that answers has seen it; `null`: not known. */
  sinceMs: number | null;
  report: MemberReport;
  clock: MemberClock | null;
  timeZone: string | null;
  uptimeMs: number | null;
  /** Time of its newest record, corrected; `null` where unknown. */
  lastRecordMs: number | null;
  /** Records of level ERROR and above in the last 15 minutes. */
  recentErrors: number | null;
  /** When it was last seen to answer. */
  lastSeenMs: number | null;
  /** Its health checks that fail: it is up, but degraded. Empty where none fails, or it is not known. */
  problems: NodeProblem[];
}

export interface ClusterNodes {
  /** Name of the cluster. */
  cluster: string;
  membership: MembershipState;
  nodes: ClusterNode[];
}

export interface ClusterConfig {
  configs: { id: string; role: string; config: NodeConfig | null; report: MemberReport }[];
}

/** One value of a key, and who has it. */
export interface ConfigValue {
  /** `null` where the key is missing. Secrets: a mask and a fingerprint, never the value. */
  value: SettingJson | null;
  nodes: string[];
  isMajority: boolean;
  /** Written differently from the majority's, but the same: `10s` and `10000ms`. */
  isSameMeaning: boolean;
}

export interface ConfigDifference {
  key: string;
  secret: boolean;
  /** Addresses, names, ports: what is expected to differ from node to node. */
  isExpected: boolean;
  values: ConfigValue[];
}

export interface ClusterConfigDiff {
  /** By role: brokers are compared with brokers. */
  roles: {
    role: string;
    nodes: string[];
    comparedKeys: number;
    /** Secrets that could not be compared, because not every member tells their fingerprint. */
    notCompared: string[];
    differences: ConfigDifference[];
  }[];
  members: MemberReport[];
}

export interface ClusterLogFiles {
  /** Times by this node's clock. Members that only speak the contract tell name and size. */
  files: (Omit<LogFileDetails, 'modifiedMs'> & { node: string; modifiedMs: number | null })[];
  members: MemberReport[];
}

/** A record with who said it. */
export interface ClusterRecord extends FoundRecord {
  node: string;
  /** Its time by this node's clock; absent where it has none. */
  atMs?: number;
  /** Which of this and the record told before it was first cannot be known: their clocks are not that sure. */
  isUnsure?: true;
}

export interface ClusterEnd
  extends Pick<SearchEnd, 'reason' | 'records' | 'scannedBytes' | 'skippedBytes' | 'elapsedMs'> {
  type: 'end';
  /**
   * The time range, both ends included and by the clock of the node that answers, of which the response has every
   * matching record of the members whose outcome is `ok`. `null`: none is known. Absent in the responses of older nodes.
   */
  coveredFromMs?: number | null;
  coveredToMs?: number | null;
  members: MemberReport[];
  membership: MembershipState;
  /** Files of members that were not read, or not wholly; absent from nodes of earlier versions. */
  problems?: MemberFileProblem[];
  /** Files of members that were left out because another one has all of their text; absent where there are none. */
  duplicates?: MemberDuplicateFile[];
  /** Goes on where this answer stopped; `null` when nothing is left. */
  cursor: string | null;
}

export interface MemberFileProblem extends FileProblem {
  node: string;
}

export interface MemberDuplicateFile extends DuplicateFile {
  node: string;
}

export type ClusterItem = ClusterRecord | ClusterEnd;

export type ClusterFollowItem =
  | ClusterRecord
  /** What happened to a log of a member. */
  | (Exclude<FollowItem, FoundRecord | { type: 'end' }> & { node: string })
  /** A member cannot be followed now, or again; new members join by themselves. */
  | { type: 'member'; node: string; report: MemberReport }
  /** Told by a client, without a node: its connection to the node it asks was lost. */
  | Extract<FollowItem, { type: 'reconnecting' | 'skipped' }>
  | { type: 'end'; reason: 'cancelled' | 'stopping' };

export interface ClusterHistogram extends Pick<Histogram, 'bucketMs' | 'untimed'> {
  /** Counts of all members, and of each. */
  buckets: { startMs: number; counts: Histogram['buckets'][number]['counts']; nodes: Record<string, number> }[];
  /** The part that all members that answered have counted, where one of them had no time for all; `null`: everything. */
  counted: { fromMs: number; toMs: number } | null;
  members: MemberReport[];
}

export interface ClusterDigest {
  /** The same place in the code of several members is one group. */
  groups: (DigestGroup & { sample: ClusterRecord; nodes: Record<string, number> })[];
  /** At least: members tell their largest groups only. */
  totalGroups: number;
  ungrouped: number;
  members: MemberReport[];
}

/** What every member said around one record. */
export interface AroundRequest extends MemberSelection {
  /** The record: a member and a cursor of it; or a time by this node's clock. */
  at: { node: string; cursor: string } | { timeMs: number };
  beforeMs: number;
  afterMs: number;
  /** At most so many records of each member. */
  limit: number;
}

export interface ForgetOptions extends CallOptions {
  /** Only on this node: a member passes the order on. */
  onlyHere?: boolean;
}

/** What became of the order to forget a member. */
export interface ForgottenMember {
  id: string;
  /** Of each node that was asked to forget it. `count` is 1 where it had something to forget. */
  members: MemberReport[];
}

/** What any node answers for all. */
export interface ClusterState {
  nodes(options?: CallOptions): Promise<ClusterNodes>;
  config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig>;
  configDiff(request: MemberSelection, options?: CallOptions): Promise<ClusterConfigDiff>;
  logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles>;
  /** Merged by corrected time; batches as they come, an empty one first, the `end` last. `start` takes only a cluster's cursor or a time. */
  searchLogs(request: SearchQuery & MemberSelection, options?: SearchOptions): AsyncIterable<ClusterItem[]>;
  followLogs(request: FollowQuery & MemberSelection, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram>;
  logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions): Promise<ClusterDigest>;
  /** Oldest first. */
  around(request: AroundRequest, options?: CallOptions): AsyncIterable<ClusterItem[]>;
  /** One member; its snapshot where it has left or failed. Throws MEMBER_NOT_FOUND for what is none. */
  member(id: string): NodeState;
  /**
   * Drops what is kept of a member that has left or failed, on every node that responds. Throws MEMBER_REGISTERED for one
   * that is still registered, MEMBER_NOT_FOUND for one that nothing is kept of.
   */
  forget(id: string, options?: ForgetOptions): Promise<ForgottenMember>;
}
