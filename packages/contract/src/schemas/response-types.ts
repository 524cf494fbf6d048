import type {
  Digest,
  DigestBaseline,
  DigestGroup,
  DuplicateFile,
  FieldSummary,
  Fields,
  FileProblem,
  FollowItem,
  FoundRecord,
  Histogram,
  HistogramBucket,
  LearnedFormat,
  LogEntry,
  LogFileDetails,
  SearchEnd,
  SearchItem,
  Top,
  TopValue,
} from '@porthole/logs/types';
import type {
  ArchivePart,
  ClusterConfig,
  ClusterConfigDiff,
  ClusterDigest,
  ClusterEnd,
  ClusterFields,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterLogFiles,
  ClusterNode,
  ClusterNodes,
  ClusterRecord,
  ClusterTop,
  ConfigDifference,
  ForgottenMember,
  MemberArchive,
  MemberClock,
  MemberDuplicateFile,
  MemberFileProblem,
  MemberReport,
  MembershipState,
} from '../cluster-state.ts';
import type { Coverage, Missing } from '../coverage.ts';
import type { Problem } from '../errors/errors.ts';
import type { ClusterConfigHistory, ConfigHistory, ConfigPeriod, ConfigVersion, VersionChange } from '../events.ts';
import type {
  Incident,
  IncidentPhase,
  IncidentStep,
  SharedValue,
  Standout,
  StandoutCounts,
  StepChange,
} from '../incident.ts';
import type {
  NodeConfig,
  NodeDescription,
  NodeObject,
  NodeProblem,
  NodeSettings,
  SettingEntry,
  ShippingLag,
  ShippingState,
} from '../node-state.ts';
import type { ClientSession, SavedView, SavedViews } from '../saved-views.ts';

/** Stands for the credentials of the client that requested it, for one download. */
export interface DownloadTicket {
  /** Value of the parameter `ticket`, which must be the last one. */
  ticket: string;
  /** Milliseconds for which it is valid. */
  expiresInMs: number;
}

/** A query in words. */
export interface QueryExplanation {
  /** The query as this version writes it; empty if every record matches. */
  query: string;
  /** What it asks for, in English. */
  words: string;
}

/** The response of `/health/ready`. */
export interface Readiness {
  /** `degraded`: it responds, but a check fails. */
  status: 'ready' | 'degraded' | 'stopping';
  checks: {
    /** What is checked. */
    name: string;
    /** Whether it passes. */
    ok: boolean;
    /** What was found. */
    detail: string;
  }[];
}

/** The type of every schema by its name: what clients receive, possibly from an older node. */
export interface ResponseTypes {
  Node: NodeObject;
  NodeConfig: NodeConfig;
  ConfigHistory: ConfigHistory;
  ConfigPeriod: ConfigPeriod;
  VersionChange: VersionChange;
  ConfigVersion: ConfigVersion;
  ClusterConfigHistory: ClusterConfigHistory;
  Incident: Incident;
  IncidentStep: IncidentStep;
  StepChange: StepChange;
  SharedValue: SharedValue;
  Standout: Standout;
  StandoutCounts: StandoutCounts;
  IncidentPhase: IncidentPhase;
  LogEntry: LogEntry;
  LogList: LogEntry[];
  LogFile: LogFileDetails;
  LogFiles: LogFileDetails[];
  LearnedFormat: LearnedFormat;
  FoundRecord: FoundRecord;
  DuplicateFile: DuplicateFile;
  FileProblem: FileProblem;
  SearchEnd: SearchEnd;
  SearchItem: SearchItem;
  ScanReport: Histogram['end'];
  HistogramBucket: HistogramBucket;
  Histogram: Histogram;
  DigestGroup: DigestGroup;
  DigestBaseline: DigestBaseline;
  Digest: Digest;
  FollowItem: Exclude<FollowItem, { type: 'position' | 'text' }>;
  FieldSummary: FieldSummary;
  Fields: Fields;
  TopValue: TopValue;
  Top: Top;
  QueryExplanation: QueryExplanation;
  MemberReport: MemberReport;
  MemberArchive: MemberArchive;
  ArchivePart: ArchivePart;
  Coverage: Coverage;
  Missing: Missing;
  Membership: MembershipState;
  ClusterNode: ClusterNode;
  MemberClock: MemberClock;
  ClusterNodes: ClusterNodes;
  ForgottenMember: ForgottenMember;
  ClusterConfig: ClusterConfig;
  ConfigDifference: ConfigDifference;
  ClusterConfigDiff: ClusterConfigDiff;
  ClusterLogFile: ClusterLogFiles['files'][number];
  ClusterLogFiles: ClusterLogFiles;
  ClusterRecord: ClusterRecord;
  ClusterEnd: ClusterEnd;
  MemberDuplicateFile: MemberDuplicateFile;
  MemberFileProblem: MemberFileProblem;
  ClusterItem: ClusterItem;
  /** The rest of this union comes from the SDK, not from a node. */
  ClusterFollowItem:
    | Exclude<ClusterFollowItem, { type: 'reconnecting' | 'skipped' | 'position' | 'text' }>
    | SentMemberEvent;
  ClusterHistogram: ClusterHistogram;
  CountedPart: NonNullable<ClusterHistogram['counted']>;
  ClusterDigest: ClusterDigest;
  ClusterFields: ClusterFields;
  ClusterTop: ClusterTop;
  DownloadTicket: DownloadTicket;
  ClientSession: ClientSession;
  SavedView: SavedView;
  SavedViews: SavedViews;
  NodeDescription: NodeDescription;
  NodeProblem: NodeProblem;
  ShippingLag: ShippingLag;
  ShippingState: ShippingState;
  Setting: SettingEntry;
  NodeSettings: NodeSettings;
  Alive: { status: 'ok' };
  Readiness: Readiness;
  Problem: Omit<Problem, 'code'> & {
    /** Error code, from a closed list. */
    code: string;
  };
}

type SentMemberEvent = Extract<FollowItem, { type: 'reconnecting' | 'skipped' }> & {
  /** Id of the member it comes from. */
  node: string;
};

type Always<T, Fields extends keyof T> = Omit<T, Fields> & Required<Pick<T, Fields>>;

type Covered =
  | 'ClusterConfigDiff'
  | 'ClusterLogFiles'
  | 'ClusterHistogram'
  | 'ClusterDigest'
  | 'ClusterFields'
  | 'ClusterTop';

/** What this version sends: with the fields that only older versions leave out. */
export interface SentTypes
  extends Omit<ResponseTypes, Covered | 'ClusterEnd' | 'ClusterNode' | 'MemberReport' | 'NodeDescription'> {
  ClusterConfigDiff: Always<ClusterConfigDiff, 'coverage'>;
  ClusterLogFiles: Always<ClusterLogFiles, 'coverage'>;
  ClusterHistogram: Always<ClusterHistogram, 'coverage'>;
  ClusterDigest: Always<ClusterDigest, 'coverage'>;
  ClusterFields: Always<ClusterFields, 'coverage'>;
  ClusterTop: Always<ClusterTop, 'coverage'>;
  ClusterEnd: Always<ClusterEnd, 'coverage' | 'coveredFromMs' | 'coveredToMs' | 'problems'>;
  ClusterNode: Always<ClusterNode, 'labels'>;
  MemberReport: Always<MemberReport, 'state' | 'sinceMs'>;
  NodeDescription: Always<NodeDescription, 'problems' | 'role' | 'labels'>;
}
