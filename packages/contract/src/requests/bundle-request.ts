import type { MemberSelection } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import { encodeMembers } from '../params/encode-cluster.ts';
import type { Query } from '../params/query.ts';
import { type RequestClock, rangeProblem, timeParameter, timeText } from '../time/time-text.ts';
import { parseMemberSelection } from './cluster-request.ts';

/** What is asked for without a `since`: enough to hold what led to a failure that someone has just seen. */
const DEFAULT_RANGE_MS = 3_600_000;

/** Which members a support bundle is of, and from when its logs are. */
export interface BundleRequest extends MemberSelection {
  /** Epoch ms by the clock of the node that makes it, inclusive. */
  fromMs: number;
  /** Epoch ms, exclusive. */
  toMs: number;
}

export function parseBundleRequest(query: Query, clock: RequestClock): BundleRequest {
  const toMs = timeParameter(query, 'until', clock) ?? clock.nowMs;
  const fromMs = timeParameter(query, 'since', clock) ?? toMs - DEFAULT_RANGE_MS;
  const problem = rangeProblem({ name: '"since"', timeMs: fromMs }, { name: '"until"', timeMs: toMs });
  if (problem !== undefined) throw new PortholeError('PARAMETER_INVALID', problem);
  return { fromMs, toMs, ...parseMemberSelection(query) };
}

export function encodeBundle({ fromMs, toMs, ...selection }: BundleRequest): URLSearchParams {
  return new URLSearchParams([['since', timeText(fromMs)], ['until', timeText(toMs)], ...encodeMembers(selection)]);
}
