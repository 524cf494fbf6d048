import type { QueryNode } from '@porthole/logs/types';
import type { ClusterRecord } from './cluster-state.ts';
import type { Coverage } from './coverage.ts';
import type { EventKind } from './events.ts';
import type { MemberReport, MemberSelection } from './member.ts';
import type { SettingJson } from './node-state.ts';

/** Where to look for an incident. */
export interface IncidentRequest extends MemberSelection {
  /** Epoch ms by the clock of the responding node: inclusive and exclusive. */
  fromMs: number;
  toMs: number;
  /** Only records that match. */
  query?: QueryNode;
}

/** What happened in a time range: the most unusual stretch of it, what came before, and what stands out. */
export interface Incident {
  /** One sentence of facts; never a cause. */
  headline: string;
  /** Whether there is an incident. If not, "nothing unusual" is said only as far as the coverage allows. */
  isUnusual: boolean;
  /** Start of the time range that was searched, epoch milliseconds. */
  lookedFromMs: number;
  /** Its end, exclusive. */
  lookedToMs: number;
  /** Start of the incident, epoch milliseconds; `null` if there is none. */
  fromMs: number | null;
  /** Its end, exclusive; `null` if there is none. */
  toMs: number | null;
  /** Whether it has ended before the end of the time range. */
  isOver: boolean;
  /** What happened, in the order of time. */
  steps: IncidentStep[];
  /** What stands out, most unusual first. */
  standouts: Standout[];
  /** The hour before it; `null` if there is no incident. */
  before: IncidentPhase | null;
  /** The incident, or all of the time range if there is none. */
  during: IncidentPhase;
  /** What comes after it; `null` if it is not over. */
  after: IncidentPhase | null;
  /** Requests that it was made of. */
  requests: number;
  members: MemberReport[];
  coverage: Coverage;
}

/** A kind of event, or what counts of records show. */
export type StepKind = EventKind | 'first-error' | 'spread';

/** Something that happened. */
export interface IncidentStep {
  /** A kind of event, or what counts of records show. */
  kind: StepKind;
  /**
   * When, in epoch milliseconds by the clock of the responding node; of something that was noticed later, the latest
   * time at which it was so.
   */
  timeMs: number;
  /** It may have happened up to this many milliseconds before. */
  uncertaintyMs: number;
  /** Milliseconds after the first step. */
  delayMs: number;
  /** Ids of members. */
  nodes: string[];
  /** What happened. */
  title: string;
  /** More about it. */
  detail: string | null;
  /** Settings that changed; without values for clients that may not read configurations. */
  changes: StepChange[];
  /** Its first record, or the event; `null` if it is known from counts only. */
  record: ClusterRecord | null;
  /** Values of fields that it has in common with other steps. */
  shares: SharedValue[];
  /** Path and parameters of a request that shows it; `null` if there is none. */
  path: string | null;
}

/** A setting that changed. */
export interface StepChange {
  /** Dotted key. */
  key: string;
  /**
   * Its value before; `null`: the key was missing. Secrets are masked. Absent without the role `config`, or if it is not
   * known.
   */
  before?: SettingJson | null;
  /** Its value since then. */
  after?: SettingJson | null;
}

/** A value that steps have in common: `shard=7` in `count` of `of` records, the first ones of a step or a pattern. */
export interface SharedValue {
  /** Name of the field. */
  field: string;
  /** Its value. */
  value: string;
  /** Records of the step that have it. */
  count: number;
  /** Records of the step. */
  of: number;
}

/**
 * `change`: of a configuration or a version. `restart`: a node or its service started, stopped or was killed. `event`:
 * another one. `pattern`: records of one kind. `value`: records with one value of a field.
 */
export type StandoutKind = 'change' | 'restart' | 'event' | 'pattern' | 'value';

/** Something unusual. */
export interface Standout {
  /** What it is. */
  kind: StandoutKind;
  /**
   * How unusual, from 0 to 100; docs/incidents.md has the measure.
   * @asType number
   */
  score: number;
  /** What it is. */
  title: string;
  /** Why it stands out. */
  detail: string;
  /** Ids of members. */
  nodes: string[];
  /** When it was first, in epoch milliseconds; `null` if that is not known. */
  timeMs: number | null;
  /** The kind of the event; `null` if it is none. */
  event: EventKind | null;
  /** Keys that changed. */
  keys: string[];
  /** `file:line`, or what messages of a pattern have in common. */
  pattern: string | null;
  /** Name of the field of a value. */
  field: string | null;
  /** The value. */
  value: string | null;
  /** What most of its records have in common: at most three values. */
  shares: SharedValue[];
  /** Its first record, or the event. */
  record: ClusterRecord | null;
  /** The numbers behind it; `null` for what is not counted. */
  counts: StandoutCounts | null;
  /** Requests that show these numbers: path and parameters. */
  paths: string[];
}

/** The numbers behind a score. */
export interface StandoutCounts {
  /** Records in the incident. */
  during: number;
  /** Length of the incident in milliseconds. */
  duringMs: number;
  /** Records in the time before. */
  before: number;
  /** Length of the time before in milliseconds. */
  beforeMs: number;
  /** Records on the node that has the most. */
  most: number;
  /** Records on the other nodes together. */
  others: number;
  /**
   * Log-likelihood ratio (G²) against the time before.
   * @asType number
   */
  ratioBefore: number;
  /**
   * Log-likelihood ratio (G²) of the node that has the most against the others.
   * @asType number
   */
  ratioOthers: number;
}

/** What was logged in a part of the time. */
export interface IncidentPhase {
  /** Its start. */
  fromMs: number;
  /** Its end, exclusive. */
  toMs: number;
  /** Records. */
  records: number;
  /** Records of level ERROR and above. */
  errors: number;
  /** Records of level WARN. */
  warnings: number;
  /** Nodes that logged something. */
  nodes: number;
}
