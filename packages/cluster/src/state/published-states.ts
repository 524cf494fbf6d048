import type { CallOptions, NodeProblem, NodeState, ShippingLag } from '@porthole/contract';
import { NO_WORK, owned, Shared } from '@porthole/logs/shared';
import type { StateKeys } from '../membership/membership.ts';
import { readJsonObject } from '../membership/node-object.ts';
import { expectFailure, reportMistake } from '../requests/member-failure.ts';
import { inspectMember, type NodeFacts, readLag } from './inspect-member.ts';

/*
 * What a node keeps in the registry for the others, so that a list of many members needs no request to each: one small value
 * in a key of its own, which ends with its lease. Its address, version, role and labels are in its registration.
 */

/** How often this node looks whether something has changed that others should see at once. */
const CHECK_MS = 10_000;

/** When it begins with that: nodes that were started together do not write together. */
const FIRST_MS = 2000;

/** Counts change all the time: they are written this often. etcd keeps every value until it is compacted. */
const RENEW_MS = 60_000;

/** Nodes that cannot write have none that is so recent: they are asked. */
const TRUSTED_MS = 2.5 * RENEW_MS;

/** What is known of a clock is not exact. */
const AHEAD_MS = 60_000;

/** Lists that are requested at about the same time are made from the same values. */
const CACHE_MS = 3000;

const MAX_ZONE = 64;
const MAX_PROBLEMS = 3;
const MAX_CHECK = 40;
const MAX_DETAIL = 100;

/** Nothing that a terminal acts on. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

const NOTHING: ReadonlyMap<string, PublishedState> = new Map();

/** The state of a member, as it has published it; `null` for what is not known. */
export interface PublishedState {
  /** Start of its run, as in its registration. */
  onlineTime: number;
  /** When this was true, by its own clock. */
  atMs: number;
  timeZone: string | null;
  uptimeMs: number | null;
  /** Age of its newest record at that time; negative for one in the future. */
  lastRecordAgeMs: number | null;
  /** Records of level ERROR and above in the last 15 minutes. */
  recentErrors: number | null;
  problems: NodeProblem[];
  /** Absent if it ships nothing. */
  archive?: ShippingLag;
}

/** Anyone with access to the registry can have written it: `undefined` if it is invalid, and no text is long. */
export function readState(value: Uint8Array): PublishedState | undefined {
  try {
    const { onlineTime, atMs, timeZone, uptimeMs, lastRecordAgeMs, recentErrors, problems, ...rest } =
      readJsonObject(value);
    if (!isCount(onlineTime) || !isCount(atMs)) return undefined;
    const archive = readLag(rest.archive);
    return {
      onlineTime,
      atMs,
      timeZone: typeof timeZone === 'string' && timeZone !== '' ? cleanText(timeZone, MAX_ZONE) : null,
      uptimeMs: isCount(uptimeMs) ? uptimeMs : null,
      lastRecordAgeMs: Number.isSafeInteger(lastRecordAgeMs) ? Number(lastRecordAgeMs) : null,
      recentErrors: isCount(recentErrors) ? recentErrors : null,
      problems: Array.isArray(problems) ? problems.slice(0, MAX_PROBLEMS).flatMap(readProblem) : [],
      ...(archive && { archive }),
    };
  } catch (error) {
    expectFailure(error);
    return undefined;
  }
}

/** What a node says of itself, within the bounds of those who read it. */
export function encodeState(facts: NodeFacts, nowMs: number): string {
  const { node, timeZone, uptimeMs, lastRecordMs, recentErrors, problems, archive } = facts;
  const value: PublishedState = {
    onlineTime: node.onlineTime,
    atMs: nowMs,
    timeZone: timeZone && cleanText(timeZone, MAX_ZONE),
    uptimeMs: uptimeMs === null ? null : Math.round(uptimeMs),
    lastRecordAgeMs: lastRecordMs === null ? null : Math.round(nowMs - lastRecordMs),
    recentErrors,
    problems: problems.slice(0, MAX_PROBLEMS).flatMap(readProblem),
    ...(archive && { archive }),
  };
  return JSON.stringify(value);
}

/** As of when a state is by the clock of this node, and what it says then; `undefined` if the member must be asked. */
export function recentFacts(
  { atMs, uptimeMs, lastRecordAgeMs, timeZone, recentErrors, problems, archive }: PublishedState,
  { offsetMs, nowMs }: { offsetMs: number; nowMs: number },
): { asOfMs: number; facts: Omit<NodeFacts, 'node'> } | undefined {
  const asOfMs = Math.round(atMs - offsetMs);
  const ageMs = nowMs - asOfMs;
  if (ageMs > TRUSTED_MS || ageMs < -AHEAD_MS) return undefined;
  return {
    asOfMs: Math.min(asOfMs, nowMs),
    facts: {
      timeZone,
      uptimeMs: uptimeMs === null ? null : uptimeMs + Math.max(0, ageMs),
      lastRecordMs: lastRecordAgeMs === null ? null : asOfMs - lastRecordAgeMs,
      recentErrors,
      problems,
      ...(archive && { archive }),
    },
  };
}

export interface PublishedStatesOptions {
  keys: StateKeys;
  self: NodeState;
  selfId: string;
  /** Whether there are so many members that they are not all contacted for each list. */
  isLarge(): boolean;
  /** Limits what this node does for its own state. */
  timeoutMs: number;
  /** Reports a mistake in this program. */
  report(problem: string): void;
  nowMs(): number;
}

/** Keeps the state of this node in the registry, and reads those of the others. The caller that starts it closes it. */
export class PublishedStates {
  readonly #options: PublishedStatesOptions;
  readonly #abortController = new AbortController();
  readonly #reading = new Shared<ReadonlyMap<string, PublishedState>>({ keepMs: CACHE_MS });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renewing = NO_WORK;
  #standing = '';
  #publishedMs = -Infinity;

  constructor(options: PublishedStatesOptions) {
    this.#options = options;
  }

  /** Does not keep the process alive. */
  start(): void {
    const next = (waitMs: number) => {
      if (this.#abortController.signal.aborted) return;
      this.#timer = setTimeout(() => {
        const renewing = this.renew().finally(() => next(CHECK_MS * (0.75 + Math.random() / 2)));
        this.#renewing = owned(renewing, (error) => reportMistake(error, this.#options.report));
      }, waitMs).unref();
    };
    next(Math.random() * FIRST_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#abortController.abort();
    await this.#renewing;
  }

  /** Publishes the state of this node if it is old, or if something else than a count has changed. */
  async renew(): Promise<void> {
    const { self, timeoutMs, keys, nowMs, isLarge } = this.#options;
    if (!isLarge()) return;
    const { signal } = this.#abortController;
    const { problems, timeZone, archive } = await self.describe({ signal });
    const standing = JSON.stringify([problems?.map(({ check }) => check), timeZone, archive?.problem]);
    if (standing === this.#standing && performance.now() - this.#publishedMs < RENEW_MS) return;
    const member = { state: self, clock: { offsetMs: 0, uncertaintyMs: 0 } };
    const facts = await inspectMember(member, { signal, timeoutMs, nowMs });
    this.#standing = standing;
    this.#publishedMs = performance.now();
    keys.publish(encodeState(facts, nowMs()));
  }

  /** The valid states by the id of their member. Empty in a small cluster, and while the registry does not respond. */
  async read({ signal }: CallOptions = {}): Promise<ReadonlyMap<string, PublishedState>> {
    if (!this.#options.isLarge()) return NOTHING;
    return this.#reading.run((shared) => this.#read(shared), { signal });
  }

  async #read(signal: AbortSignal): Promise<ReadonlyMap<string, PublishedState>> {
    const states = new Map<string, PublishedState>();
    try {
      for (const [id, value] of await this.#options.keys.read({ signal })) {
        const state = readState(value);
        if (state) states.set(id, state);
      }
    } catch (error) {
      expectFailure(error); // the state of the membership says what is wrong with the registry
    }
    return states;
  }
}

function readProblem(value: unknown): NodeProblem[] {
  const { check, detail } = (value ?? {}) as Partial<Record<keyof NodeProblem, unknown>>;
  if (typeof check !== 'string' || typeof detail !== 'string') return [];
  return [{ check: cleanText(check, MAX_CHECK), detail: cleanText(detail, MAX_DETAIL) }];
}

function cleanText(text: string, maxCharacters: number): string {
  const shown = text.slice(0, 2 * maxCharacters).replace(UNSHOWABLE, ' ');
  return shown.length > maxCharacters ? `${shown.slice(0, maxCharacters - 3)}...` : shown;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
