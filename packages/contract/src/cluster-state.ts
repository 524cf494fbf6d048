import type {
  DigestBaseline,
  DigestGroup,
  DuplicateFile,
  FieldSummary,
  Fields,
  FileProblem,
  FollowEnd,
  FollowItem,
  FollowQuery,
  FollowReconnecting,
  FollowSkipped,
  FoundRecord,
  Histogram,
  HistogramBucket,
  LogFileDetails,
  ScanReport,
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
  NodeSettings,
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

/** A member and its state. */
export interface ClusterNode extends Omit<Member, 'labels'> {
  /** Its labels: zone, rack, any name. */
  labels: Labels;
  state: MemberState;
  /** Epoch milliseconds at which it entered this state, as far as the responding node knows; `null`: not known. */
  sinceMs: number | null;
  report: MemberReport;
  /** Its clock compared with that of the responding node; `null` if it was never measured. */
  clock: MemberClock | null;
  /** Zone of its log timestamps, by its IANA name. */
  timeZone: string | null;
  /** Milliseconds since it came online. */
  uptimeMs: number | null;
  /** Epoch milliseconds of its newest record, corrected; `null` if unknown. */
  lastRecordMs: number | null;
  /** Records of level ERROR and above in the last 15 minutes. */
  recentErrors: number | null;
  /** Epoch milliseconds of its last response. */
  lastSeenMs: number | null;
  /** Its health checks that fail: it is up, but degraded. Empty if none fails, or if it is not known. */
  problems: NodeProblem[];
  /** How far it is behind in shipping to the archive; absent if it ships nothing, or if that is not known. */
  archive?: ShippingLag;
  /** Epoch milliseconds at which this was sampled, by the clock of the responding node; absent: just now. */
  asOfMs?: number;
}

/** The members of the cluster. */
export interface ClusterNodes {
  /** Name of the cluster. */
  cluster: string;
  membership: MembershipState;
  /** Every member, including those that left or failed; ordered by id. */
  nodes: ClusterNode[];
}

/** What a response of several members says about them. */
interface MembersResponse {
  /** One for each member that was queried. */
  members: MemberReport[];
  /**
   * How much of what was requested this is.
   * @required
   */
  coverage?: Coverage;
}

/** What a response made of records of several members says about them. */
interface RecordsResponse extends MembersResponse {
  /** Which part came from the archive; absent if it was not asked. */
  archive?: ArchivePart;
}

/** The configuration of a member. */
export interface MemberConfig {
  /** Id of the member. */
  id: string;
  /** What it does in its cluster. */
  role: string;
  /** Its configuration; `null` if it is not known. */
  config: NodeConfig | null;
  /** Each key; `null` for a member that has only the routes of the contract, or does not respond. */
  settings: NodeSettings | null;
  report: MemberReport;
}

/** The configuration of each member. */
export interface ClusterConfig {
  configs: MemberConfig[];
}

/** One value of a key, and which members have it. */
export interface ConfigValue {
  /** `null` if the key is missing. Secrets: a mask and a fingerprint, never the value. */
  value: SettingJson | null;
  /** Ids of the members that have it. */
  nodes: string[];
  /** Whether most members have it. */
  isMajority: boolean;
  /** Whether it is only a different spelling of the value of the majority: `10s` and `10000ms`. */
  isSameMeaning: boolean;
  /** A secret without a fingerprint: it may be the same as one of the others. */
  isNotCompared?: true;
}

/** One key in which members differ. */
export interface ConfigDifference {
  /** Dotted key. */
  key: string;
  /** Whether the values are masked. */
  secret: boolean;
  /** Whether it is expected to differ between nodes: addresses, names, ports. */
  isExpected: boolean;
  values: ConfigValue[];
}

/** Members of one role. */
export interface RoleDifferences {
  /** The role. */
  role: string;
  /** With `by`: the label that these members have, like `zone=a`; empty for those without it. */
  label?: string;
  /** Ids of the members compared. */
  nodes: string[];
  /** Keys compared. */
  comparedKeys: number;
  /** Secrets that could not be compared, because not every member reports a fingerprint. */
  notCompared: string[];
  /** The members that report none, by such a key. */
  withoutFingerprint?: Record<string, string[]>;
  differences: ConfigDifference[];
}

/** Where configurations differ, by role. */
export interface ClusterConfigDiff extends MembersResponse {
  /** By role: brokers are compared with brokers. */
  roles: RoleDifferences[];
}

/** One log file of a member in detail; times by the clock of the responding node. */
export interface ClusterLogFile extends Omit<LogFileDetails, 'modifiedMs'> {
  /** Id of the member it comes from. */
  node: string;
  /** Epoch milliseconds of the last write; `null` if the member does not report it. */
  modifiedMs: number | null;
}

/** The log files of all members. */
export interface ClusterLogFiles extends MembersResponse {
  /** Times by this node's clock. Members with only the routes of the contract report name and size. */
  files: ClusterLogFile[];
}

/** A record and the member that logged it. */
export interface ClusterRecord extends FoundRecord {
  /** Id of the member it comes from. */
  node: string;
  /**
   * Its time by the clock of the responding node, epoch milliseconds; absent if it has none.
   * @asType number
   */
  atMs?: number;
  /** Whether it or the record before it was first is uncertain, because of the uncertainty of clocks. */
  isUnsure?: true;
}

/** The closing record: why it ended, its coverage, and a report per member. */
export interface ClusterEnd extends Pick<ScanReport, 'reason' | 'skippedBytes' | 'elapsedMs'>, RecordsResponse {
  type: 'end';
  /** Records in the response. */
  records: number;
  /** Bytes of text scanned by the members that had finished when the page was full. */
  scannedBytes: number;
  /**
   * Epoch milliseconds of the start of the time range, both ends included and by the clock of the responding node, of
   * which the response has every matching record of the members whose outcome is `ok`. `null`: none is known.
   */
  coveredFromMs: number | null;
  /** Epoch milliseconds of the end of that time range, which is included. */
  coveredToMs: number | null;
  membership: MembershipState;
  /** Files of members that were not read, or only in part. */
  problems: MemberFileProblem[];
  /** Files of members that were left out because another one contains all of their text; absent if there are none. */
  duplicates?: MemberDuplicateFile[];
  /** Of a node that answered alone: bytes outside of the time range that were not read. */
  unreadBytes?: number;
  /** Of a node that answered alone: files scanned. */
  scannedFiles?: number;
  /** Of a node that answered alone: why records may be missing, because it serves only the ends of its files. */
  limits?: string;
  /** Continues where this response stopped; `null` if nothing is left. */
  cursor: string | null;
}

/** A file of a member that was not read, or only in part. */
export interface MemberFileProblem extends FileProblem {
  /** Id of the member. */
  node: string;
  /** Error code, or LEFT_OUT for a file that is only read when it is selected by name. */
  code: string;
}

/** A file of a member that was left out because another one contains all of its text. */
export interface MemberDuplicateFile extends DuplicateFile {
  /** Id of the member. */
  node: string;
}

/** One line of a search of all members. */
export type ClusterItem = ClusterRecord | ClusterEnd;

/** A member cannot be followed, or is followed again; new members are added automatically. */
export interface FollowMember {
  type: 'member';
  /** Id of the member. */
  node: string;
  report: MemberReport;
}

/** The member that something comes from. */
export interface OfMember {
  /** Id of the member it comes from. */
  node: string;
}

/** One item of a follow of all members. */
export type ClusterFollowItem =
  | ClusterRecord
  /** What happened to a log of a member. */
  | (Exclude<FollowItem, FoundRecord | FollowEnd> & OfMember)
  | FollowMember
  /** Emitted by a client, without a node: its connection to the queried node was lost. */
  | FollowReconnecting
  | FollowSkipped
  | FollowEnd;

/** What each member has of a count. */
interface CountsOfMembers {
  /** Number of records of each member, by id; members without records are absent. */
  nodes: Record<string, number>;
}

/** The time range that every member has counted. */
export interface CountedPart {
  /** Epoch milliseconds, inclusive. */
  fromMs: number;
  /** Epoch milliseconds, exclusive. */
  toMs: number;
}

/** What counts have in common. */
interface CountsResponse extends RecordsResponse {
  /** What was read, if one node answered alone; of several, each has a report. */
  end?: ScanReport;
}

/** Counts per bucket of time and level, of all nodes. */
export interface ClusterHistogram extends Pick<Histogram, 'bucketMs' | 'untimed'>, CountsResponse {
  /** Those with records, in rising order: counts of all members, and of each. */
  buckets: (HistogramBucket & CountsOfMembers)[];
  /** If a member ran out of time: the part that all members that responded have counted; `null`: everything. */
  counted: CountedPart | null;
}

/** Records of one level from one call site, or with one message pattern. */
export interface ClusterDigestGroup extends DigestGroup, CountsOfMembers {
  sample: ClusterRecord;
}

/** Records of all members grouped by level and call site. */
export interface ClusterDigest extends CountsResponse {
  /** The largest first. The same call site on several members is one group. */
  groups: ClusterDigestGroup[];
  /**
   * Estimated number of groups: members return only their largest, and which of the others are the same is not known.
   */
  totalGroups: number;
  /** Records of groups that were discarded because there were too many. */
  ungrouped: number;
  /** Present if `newSince` was given; complete if every member, and the archive if there is one, was read completely. */
  baseline?: DigestBaseline;
}

/** The fields of matching records of all members. */
export interface ClusterFields extends Omit<Fields, 'fields' | 'end'>, CountsResponse {
  /**
   * Those of the most records first. A field that several members have is one entry. Which values they share is known
   * only if all of them show all of theirs: otherwise `distinct` is a minimum and not exact.
   */
  fields: (FieldSummary & CountsOfMembers)[];
  /** If a member ran out of time: the part that all members that responded have examined; `null`: everything. */
  counted: CountedPart | null;
}

/** Counts by value of a field, of all members. */
export interface ClusterTop extends Omit<Top, 'values' | 'end'>, CountsResponse {
  /** Most frequent first, equal counts by value: counts of all members, and of each. */
  values: (TopValue & CountsOfMembers)[];
  /** If a member ran out of time: the part that all members that responded have counted; `null`: everything. */
  counted: CountedPart | null;
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
  /** Id of the member. */
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
