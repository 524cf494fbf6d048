import type * as Logs from '@porthole/logs/types';
import type * as Cluster from '../cluster-state.ts';
import type * as Errors from '../errors/errors.ts';

/*
 * The types of responses, by the names that the route table has for them. scripts/schemas.mjs makes their JSON schemas, and
 * those of the types in them that are exported here: descriptions from comments, and from these tags
 *
 *   @asType number    a number that need not be whole, as all others are
 *   @minimum N
 *   @required         present in every response, though clients do not insist on it
 */

export type * from '@porthole/logs/types';
export type * from '../cluster-state.ts';
export type * from '../coverage.ts';
export type * from '../events.ts';
export type * from '../incident.ts';
export type * from '../node-state.ts';
export type * from '../saved-views.ts';

/** Every log file, ordered by name. */
export type LogList = Logs.LogEntry[];

/** The data of one event; its `type` is the name of the event. */
export type FollowItem = Exclude<Logs.FollowItem, { type: 'position' | 'text' }>;

/** What happened to a log of a member, or to the connection to a member. */
type MemberEvent = Exclude<FollowItem, Logs.FoundRecord | Logs.FollowEnd> & Cluster.OfMember;

/** The data of one event; its `type` is the name of the event. */
export type ClusterFollowItem = Cluster.ClusterRecord | MemberEvent | Cluster.FollowMember | Logs.FollowEnd;

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

/** The process runs. */
export interface Alive {
  status: 'ok';
}

/** Whether the node can do its work. */
export interface Readiness {
  /** `degraded`: it responds, but a check fails. */
  status: 'ready' | 'degraded' | 'stopping';
  /** One for each thing that it depends on. */
  checks: {
    /** What is checked. */
    name: string;
    /** Whether it passes. */
    ok: boolean;
    /** What was found. */
    detail: string;
  }[];
}

/** An error (RFC 9457). */
export interface Problem extends Omit<Errors.Problem, 'code'> {
  /** Error code, from a closed list. */
  code: string;
}
