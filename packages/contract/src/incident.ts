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
  /** The time range that was searched. */
  lookedFromMs: number;
  lookedToMs: number;
  /** The incident; `null` if there is none. */
  fromMs: number | null;
  toMs: number | null;
  /** Whether it has ended before the end of the time range. */
  isOver: boolean;
  /** In the order of time. */
  steps: IncidentStep[];
  /** Most unusual first. */
  standouts: Standout[];
  /** The hour before, the incident (or all of the time range), and what comes after it. */
  before: IncidentPhase | null;
  during: IncidentPhase;
  after: IncidentPhase | null;
  /** Requests that it was made of. */
  requests: number;
  members: MemberReport[];
  coverage: Coverage;
}

/** A kind of event, or what counts of records show. */
export type StepKind = EventKind | 'first-error' | 'spread';

export interface IncidentStep {
  kind: StepKind;
  /** By the clock of the responding node. Of something that was noticed later: the latest time at which it was so. */
  timeMs: number;
  /** It may have happened up to this long before. */
  uncertaintyMs: number;
  /** After the first step. */
  delayMs: number;
  nodes: string[];
  title: string;
  detail: string | null;
  /** What changed; without values for clients that may not read configurations. */
  changes: StepChange[];
  /** Its first record, or the event; `null` if it is known from counts only. */
  record: ClusterRecord | null;
  /** Values of fields that it has in common with other steps. */
  shares: SharedValue[];
  /** Path and parameters of a request that shows it; `null` if there is none. */
  path: string | null;
}

export interface StepChange {
  key: string;
  /** Secrets are masked; `null`: the key was missing. Absent: not for this client, or not known. */
  before?: SettingJson | null;
  after?: SettingJson | null;
}

/** `shard=7` in `count` of `of` records; of a step or a pattern, of its first ones. */
export interface SharedValue {
  field: string;
  value: string;
  count: number;
  of: number;
}

/**
 * `change`: of a configuration or a version. `restart`: a node or its service started, stopped or was killed. `event`:
 * another one. `pattern`: records of one kind. `value`: records with one value of a field.
 */
export type StandoutKind = 'change' | 'restart' | 'event' | 'pattern' | 'value';

export interface Standout {
  kind: StandoutKind;
  /** From 0 to 100; docs/incidents.md has the measure. */
  score: number;
  title: string;
  detail: string;
  nodes: string[];
  /** When it was first; `null` if that is not known. */
  timeMs: number | null;
  /** The kind of the event, if it is one. */
  event: EventKind | null;
  /** Keys that changed. */
  keys: string[];
  /** `file:line`, or what messages of a pattern have in common. */
  pattern: string | null;
  field: string | null;
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

export interface StandoutCounts {
  during: number;
  duringMs: number;
  before: number;
  beforeMs: number;
  /** Records on the node that has the most, and on the others together. */
  most: number;
  others: number;
  /** Log-likelihood ratio (G²) against the time before, and of the node that has the most against the others. */
  ratioBefore: number;
  ratioOthers: number;
}

export interface IncidentPhase {
  fromMs: number;
  toMs: number;
  records: number;
  /** Of level ERROR and above. */
  errors: number;
  warnings: number;
  /** Nodes that logged something. */
  nodes: number;
}
