import type {
  DigestBaseline,
  DigestGroup,
  DuplicateFile,
  FieldSummary,
  Fields,
  FileProblem,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  LogFileDetails,
  SearchEnd,
  SearchQuery,
  Top,
  TopValue,
} from '@porthole/logs/types';
import { type RecordBatch, toItems } from '@porthole/records';
import type { Coverage } from './coverage.ts';
import type { ClusterConfigHistory, ConfigHistoryRequest } from './events.ts';
import type { Labels } from './labels.ts';
import type {
  ArchivePart,
  ConfigDiffRequest,
  Member,
  MemberClock,
  MemberReport,
  MemberSelection,
  MemberState,
  MembershipState,
} from './member.ts';
import type {
  CallOptions,
  CountId,
  CountQueries,
  FollowOptions,
  NodeConfig,
  NodeProblem,
  NodeState,
  SearchOptions,
  SettingJson,
  ShippingLag,
} from './node-state.ts';

export type {
  ArchivePart,
  MemberArchive,
  MemberClock,
  MemberReport,
  MemberSelection,
  MemberState,
  MembershipState,
} from './member.ts';

export interface ClusterNode extends Omit<Member, 'labels'> {
  /** Absent in the responses of earlier versions. */
  labels?: Labels;
  state: MemberState;
  /** When it entered this state, as far as the responding node knows; `null`: not known. */
  sinceMs: number | null;
  report: MemberReport;
  clock: MemberClock | null;
  timeZone: string | null;
  uptimeMs: number | null;
  /** Time of its newest record, corrected; `null` if unknown. */
  lastRecordMs: number | null;
  /** Records of level ERROR and above in the last 15 minutes. */
  recentErrors: number | null;
  /** Time of its last response. */
  lastSeenMs: number | null;
  /** Its health checks that fail: it is up, but degraded. Empty if none fails, or if it is not known. */
  problems: NodeProblem[];
  /** How far it is behind in shipping to the archive; absent if it ships nothing, or if that is not known. */
  archive?: ShippingLag;
  /** When this was sampled, by the clock of the responding node; absent: just now. */
  asOfMs?: number;
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

/** One value of a key, and which members have it. */
export interface ConfigValue {
  /** `null` if the key is missing. Secrets: a mask and a fingerprint, never the value. */
  value: SettingJson | null;
  nodes: string[];
  isMajority: boolean;
  /** Only a different spelling of the value of the majority: `10s` and `10000ms`. */
  isSameMeaning: boolean;
  /** A secret without a fingerprint: it may be the same as one of the others. */
  isNotCompared?: true;
}

export interface ConfigDifference {
  key: string;
  secret: boolean;
  /** Addresses, names, ports: expected to differ between nodes. */
  isExpected: boolean;
  values: ConfigValue[];
}

export interface ClusterConfigDiff {
  /** By role: brokers are compared with brokers. */
  roles: {
    role: string;
    /** With `by`: the label that these members have, like `zone=a`; empty for those without it. */
    label?: string;
    nodes: string[];
    comparedKeys: number;
    /** Secrets that could not be compared, because not every member reports a fingerprint. */
    notCompared: string[];
    /** The members that do not, by such a key. Absent in the responses of earlier versions. */
    withoutFingerprint?: Record<string, string[]>;
    differences: ConfigDifference[];
  }[];
  members: MemberReport[];
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

export interface ClusterLogFiles {
  /** Times by this node's clock. Members with only the routes of the contract report name and size. */
  files: (Omit<LogFileDetails, 'modifiedMs'> & { node: string; modifiedMs: number | null })[];
  members: MemberReport[];
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

/** A record and the member that logged it. */
export interface ClusterRecord extends FoundRecord {
  node: string;
  /** Its time by this node's clock; absent if it has none. */
  atMs?: number;
  /** Whether this or the record before it was first is uncertain, because of the uncertainty of clocks. */
  isUnsure?: true;
}

export interface ClusterEnd
  extends Pick<SearchEnd, 'reason' | 'records' | 'scannedBytes' | 'skippedBytes' | 'elapsedMs'> {
  type: 'end';
  /**
   * The time range, both ends included and by the clock of the responding node, of which the response has every
   * matching record of the members whose outcome is `ok`. `null`: none is known. Absent in the responses of older nodes.
   */
  coveredFromMs?: number | null;
  coveredToMs?: number | null;
  members: MemberReport[];
  membership: MembershipState;
  /** Files of members that were not read, or only in part; absent in the responses of earlier versions. */
  problems?: MemberFileProblem[];
  /** Files of members that were left out because another one contains all of their text; absent if there are none. */
  duplicates?: MemberDuplicateFile[];
  /** Continues where this response stopped; `null` if nothing is left. */
  cursor: string | null;
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
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
  /** A member cannot be followed, or is followed again; new members are added automatically. */
  | { type: 'member'; node: string; report: MemberReport }
  /** Emitted by a client, without a node: its connection to the queried node was lost. */
  | Extract<FollowItem, { type: 'reconnecting' | 'skipped' }>
  | { type: 'end'; reason: 'cancelled' | 'stopping' };

export interface ClusterHistogram extends Pick<Histogram, 'bucketMs' | 'untimed'> {
  /** Counts of all members, and of each. */
  buckets: { startMs: number; counts: Histogram['buckets'][number]['counts']; nodes: Record<string, number> }[];
  /** If a member ran out of time: the part that all members that responded have counted; `null`: everything. */
  counted: { fromMs: number; toMs: number } | null;
  members: MemberReport[];
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

export interface ClusterDigest {
  /** The same call site on several members is one group. */
  groups: (DigestGroup & { sample: ClusterRecord; nodes: Record<string, number> })[];
  /** An estimate: members return only their largest groups, and which of the others are the same is not known. */
  totalGroups: number;
  ungrouped: number;
  /** Present if `newSinceMs` was given; complete if every member, and the archive if there is one, was read completely. */
  baseline?: DigestBaseline;
  members: MemberReport[];
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

/** The fields of matching records of all members. */
export interface ClusterFields extends Omit<Fields, 'fields' | 'end'> {
  /**
   * A field that several members have is one entry. Which values they share is known only if all of them show all of
   * theirs: otherwise `distinct` is a minimum and not exact.
   */
  fields: (FieldSummary & { nodes: Record<string, number> })[];
  /** If a member ran out of time: the part that all members that responded have examined; `null`: everything. */
  counted: ClusterHistogram['counted'];
  members: MemberReport[];
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

/** Counts by value of a field, of all members. */
export interface ClusterTop extends Omit<Top, 'values' | 'end'> {
  /** Counts of all members, and of each. */
  values: (TopValue & { nodes: Record<string, number> })[];
  /** If a member ran out of time: the part that all members that responded have counted; `null`: everything. */
  counted: ClusterHistogram['counted'];
  members: MemberReport[];
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
  /** How much of what was requested this is; absent in the responses of earlier versions. */
  coverage?: Coverage;
}

/** What every member logged around one record or time. */
export interface AroundRequest extends MemberSelection {
  /** The record: a member and a cursor of it; or a time by this node's clock. */
  at: { node: string; cursor: string } | { timeMs: number };
  beforeMs: number;
  afterMs: number;
  /** Maximum number of records of each member. */
  limit: number;
}

export interface ForgetOptions extends CallOptions {
  /** Only on this node: the request was forwarded by a member. */
  onlyHere?: boolean;
}

/** The result of forgetting a member. */
export interface ForgottenMember {
  id: string;
  /** One for each node that was asked to forget it. `count` is 1 if it had something to forget. */
  members: MemberReport[];
}

/** What one member has recorded of another. */
export interface RecordingHead {
  /** Age of the last sign of life. */
  ageMs: number;
  /** How long ago its connection was lost; `null`: it was not. */
  lostAgeMs: number | null;
  /** Since when nothing is missing, and the time of the newest record, by the clock of the recorded member. */
  sinceMs: number | null;
  lastRecordMs: number | null;
  /** The clock of the recorded member, compared with that of the recorder. */
  clock: MemberClock | null;
}

/** What a cluster returns for each request that counts records. */
export interface ClusterCountResponses {
  logHistogram: ClusterHistogram;
  logDigest: ClusterDigest;
  logFields: ClusterFields;
  logTop: ClusterTop;
}

export type ClusterCounts = {
  [Id in CountId]: (
    request: CountQueries[Id] & MemberSelection,
    options?: SearchOptions,
  ) => Promise<ClusterCountResponses[Id]>;
};

/** What any node offers for the whole cluster. */
export interface ClusterState extends ClusterCounts {
  nodes(options?: CallOptions): Promise<ClusterNodes>;
  config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig>;
  configDiff(request: ConfigDiffRequest, options?: CallOptions): Promise<ClusterConfigDiff>;
  logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles>;
  /**
   * Merged by corrected time; batches as they arrive, an empty one first, and the end. `start` takes only a cluster's cursor
   * or a time. See `clusterItems` for objects.
   */
  search(request: SearchQuery & MemberSelection, options?: SearchOptions): AsyncIterable<RecordBatch | ClusterEnd>;
  followLogs(request: FollowQuery & MemberSelection, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  /** The events of all members, merged by time like a search. */
  events(request: SearchQuery & MemberSelection, options?: SearchOptions): AsyncIterable<RecordBatch | ClusterEnd>;
  followEvents(request: FollowQuery & MemberSelection, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  configHistory(request: ConfigHistoryRequest & MemberSelection, options?: CallOptions): Promise<ClusterConfigHistory>;
  /** Oldest first. */
  around(request: AroundRequest, options?: CallOptions): AsyncIterable<ClusterItem[]>;
  /** The id of the responding node; absent: it is not known here. */
  selfId?(): Promise<string>;
  /** Settles when its members are known; absent: they are. */
  opened?(): Promise<void>;
  /** One member; what was recorded of it where it has left or failed. Throws MEMBER_NOT_FOUND for an unknown id. */
  member(id: string): NodeState;
  /**
   * Drops what is known and recorded of a member that has left or failed, on every node that responds. Throws
   * MEMBER_REGISTERED for one that is still registered, MEMBER_NOT_FOUND for one that is not known.
   */
  forget(id: string, options?: ForgetOptions): Promise<ForgottenMember>;
  /** What this node itself has recorded of a member. Throws MEMBER_NOT_FOUND if that is nothing. */
  recordingHead?(id: string, options?: CallOptions): Promise<RecordingHead>;
  /**
   * A member by what was recorded of it, even while it responds: the freshest of all nodes, or that of this one. Requests fail
   * with MEMBER_NOT_FOUND if there is none.
   */
  recordedMember?(id: string, options?: { onlyHere?: boolean }): NodeState;
}

/** A search of a cluster as objects; the last item of the last list is the end. */
export function clusterItems(
  cluster: Pick<ClusterState, 'search'>,
  request: SearchQuery & MemberSelection,
  options?: SearchOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  return toItems(cluster.search(request, options));
}
