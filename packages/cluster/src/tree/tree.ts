import type { FetchFunction, MembershipState } from '@porthole/contract';
import type { Peer } from '../fan-out/peers.ts';
import { GroupedRequests } from './grouped-requests.ts';
import { Helpers, type HelpersOptions } from './helpers.ts';
import { planGroups, type TreeOptions } from './plan-groups.ts';

/** Fraction of the member timeout without a sign of life after which a helper is replaced, and its bounds. */
const SILENT_SHARE = 0.2;
const MIN_SILENT_MS = 1000;
const MAX_SILENT_MS = 10_000;

export interface QuestionTreeOptions extends TreeOptions, HelpersOptions {
  /** Silence after which a helper is replaced; default: derived from the timeout of members. */
  silentMs?: number;
}

/** How the client of a member sends its requests; `undefined`: as always. */
export type SendFor = (peer: Peer) => FetchFunction | undefined;

/** `undefined` if this is off, or the members are LinDB nodes, which cannot be helpers. */
export function createTree(
  options: QuestionTreeOptions | undefined,
  { kind }: Pick<MembershipState, 'kind'>,
): QuestionTree | undefined {
  return options === undefined || kind === 'lindb' ? undefined : new QuestionTree(options);
}

/** Lets members ask others for this node, if there are many of them. */
export class QuestionTree {
  readonly #options: QuestionTreeOptions;
  readonly #helpers: Helpers;

  constructor(options: QuestionTreeOptions) {
    this.#options = options;
    this.#helpers = new Helpers(options);
  }

  /** For one operation that sends a request to each of these members; `undefined` if they are few. */
  forRequests(peers: readonly Peer[], { timeoutMs }: { timeoutMs: number }): SendFor | undefined {
    const groups = this.#plan(peers);
    if (groups.length === 0) return undefined;
    const options = { helpers: this.#helpers, silentMs: this.#silentMs(timeoutMs) };
    const byId = new Map<string, GroupedRequests>();
    for (const group of groups) {
      const requests = new GroupedRequests(group, options);
      for (const { member } of group) byId.set(member.id, requests);
    }
    return (peer) => byId.get(peer.member.id)?.sendFor(peer);
  }

  /** The groups of a search; none if there are few members. */
  groupsOf<T extends Peer>(peers: readonly T[]): T[][] {
    return this.#plan(peers);
  }

  /** How helpers are chosen, and replaced. */
  searching({ timeoutMs }: { timeoutMs: number }): { helpers: Helpers; silentMs: number } {
    return { helpers: this.#helpers, silentMs: this.#silentMs(timeoutMs) };
  }

  /** This node is asked without a request, and so is a member that departed. */
  #plan<T extends Peer>(peers: readonly T[]): T[][] {
    return planGroups(
      peers.filter(({ transport }) => transport !== undefined),
      this.#options,
    );
  }

  #silentMs(timeoutMs: number): number {
    return this.#options.silentMs ?? Math.min(MAX_SILENT_MS, Math.max(MIN_SILENT_MS, timeoutMs * SILENT_SHARE));
  }
}
