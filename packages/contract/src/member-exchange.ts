import type { Labels } from './labels.ts';
import type { NodeObject, NodeProblem, ShippingLag } from './node-state.ts';

/*
 * What members tell each other about all of them. Times are ages in milliseconds: nobody has to have the right time. Rows
 * are flat lists, because a thousand of them are sent every few seconds.
 */

/** What the sender has of each member: `id, run, beat, seq` of one, then of the next. */
export interface ExchangeRequest {
  have: (string | number)[];
}

/** What the sender does not have, or only older. */
export interface ExchangeResponse {
  /**
   * Signs of life: `id, run, beat, ageMs, slackMs, clockMs, isSampled`. It was alive at most `ageMs` ago and at least
   * `ageMs - slackMs`, and its clock showed `clockMs` then (0: not known). `isSampled` is 1 for a member that does not
   * take part itself.
   */
  beats: (string | number)[];
  entries: MemberEntry[];
  /** Members that did not respond: `id, ageMs`, for each the age of the last attempt. */
  failing: (string | number)[];
}

/** What a member last said about itself, or showed to the member that looks at it. */
export interface MemberEntry {
  id: string;
  run: number;
  seq: number;
  ageMs: number;
  sample: MemberSample;
}

/** The state of a member; `null` for what is not known. */
export interface MemberSample {
  node: NodeObject;
  role: string | null;
  labels: Labels;
  timeZone: string | null;
  uptimeMs: number | null;
  /** Age of its newest record when this was sampled. */
  lastRecordAgeMs: number | null;
  /** Records of level ERROR and above in the last 15 minutes. */
  recentErrors: number | null;
  problems: NodeProblem[];
  /** Absent if it ships nothing. */
  archive?: ShippingLag;
}

/** A snapshot that one member keeps of another. */
export interface HeldSnapshot {
  ageMs: number;
  /** As it is stored. */
  text: string;
}
