import { setTimeout as delay } from 'node:timers/promises';
import { type Member, type MembershipState, PortholeError } from '@porthole/contract';
import type { EtcdAccess } from './etcd/etcd-connection.ts';
import type { RegistrationOptions } from './etcd/registration.ts';
import type { RegistrySession } from './etcd/registry-session.ts';
import type { MemberDraft, ReadDeparture, ReadMember } from './member-draft.ts';
import { MemberList } from './member-list.ts';
import { type Address, readAddress } from './member-url.ts';
import type { Departure, Membership } from './membership.ts';
import type { MembershipLog } from './membership-log.ts';

/** A node starts without its registry rather than late. */
const START_TIMEOUT_MS = 3000;

/** Between two rounds through the endpoints; doubled with each round up to the longest. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5000;

/** Characters of what etcd said. */
const MAX_REASON = 300;

/** More than any cluster this is made for; less than what hurts. */
const DEFAULT_MAX_MEMBERS = 10_000;

/** Where the members are registered, and how the values there read. */
export interface RegistryMembersOptions extends EtcdAccess {
  kind: MembershipState['kind'];
  self: Member;
  endpoints: readonly string[];
  /** Each ends with "/". */
  prefixes: readonly string[];
  read: ReadMember;
  readDeparture?: ReadDeparture;
  registration?: RegistrationOptions;
  maxMembers?: number | undefined;
  log: MembershipLog;
}

/** Members out of an etcd: one session after the other, each to the next endpoint. */
export class RegistryMembers implements Membership {
  readonly #options: RegistryMembersOptions;
  readonly #addresses: readonly Address[];
  readonly #list: MemberList;
  readonly #closing = new AbortController();
  readonly #known: Promise<void>;
  #setKnown: () => void = () => {};
  #running: Promise<void> | undefined;

  constructor(options: RegistryMembersOptions) {
    this.#options = options;
    this.#addresses = readEndpoints(options.endpoints);
    this.#list = new MemberList(options);
    this.#known = new Promise((resolve) => {
      this.#setKnown = resolve;
    });
    this.#list.onChange(this.#setKnown);
  }

  get members(): readonly Member[] {
    return this.#list.members;
  }

  get state(): MembershipState {
    return this.#list.state;
  }

  getDeparture(id: string): Departure | undefined {
    return this.#list.getDeparture(id);
  }

  onChange(listener: () => void): () => void {
    return this.#list.onChange(listener);
  }

  async start(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#run();
    const waiting = new AbortController();
    const tooLate = delay(START_TIMEOUT_MS, undefined, { signal: waiting.signal }).then(
      () => this.#list.lose('no answer so far'),
      () => {},
    );
    await Promise.race([this.#known, tooLate]);
    waiting.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#setKnown();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const endpointCount = this.#addresses.length;
    let before: MemberDraft | undefined;
    let isLost = false;
    let failures = 0; // since a session was worth its name
    for (let attempt = 0; !signal.aborted; attempt++) {
      const startedMs = performance.now();
      const address = this.#addresses[attempt % endpointCount] as Address;
      const { draft, error } = await this.#runSession(address, before);
      if (signal.aborted) return;
      before = draft ?? before;
      isLost &&= draft === undefined;
      failures = draft !== undefined && performance.now() - startedMs > LONGEST_WAIT_MS ? 1 : failures + 1;
      // Another endpoint may know more; only when all have failed nobody does.
      if (failures % endpointCount !== 0) continue;
      this.#lose(`${address.url}: ${errorMessage(error)}`, { isNew: !isLost });
      isLost = true;
      await this.#wait(failures / endpointCount - 1);
    }
  }

  /** Never throws: also options that gRPC does not like are only a reason to be without the registry. */
  async #runSession(address: Address, before: MemberDraft | undefined): Promise<SessionEnd> {
    const { registration, maxMembers = DEFAULT_MAX_MEMBERS, prefixes, read, readDeparture, log } = this.#options;
    const { signal } = this.#closing;
    const shared = { prefixes, read, readDeparture, maxMembers, registration, list: this.#list, before, log, signal };
    let session: RegistrySession | undefined;
    try {
      // Loaded here: a node without a registry does not pay for gRPC.
      const { RegistrySession } = await import('./etcd/registry-session.ts');
      session = new RegistrySession({ ...shared, address, access: this.#options });
      return await session.run();
    } catch (error) {
      return { draft: session?.draft, error };
    }
  }

  #lose(detail: string, { isNew }: { isNew: boolean }): void {
    this.#list.lose(detail);
    if (isNew) this.#options.log.warn('registry', `the registry does not answer: ${detail}`);
  }

  async #wait(rounds: number): Promise<void> {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** rounds);
    // Not all nodes at once: they have all lost it at the same moment.
    const waitMs = longest * (0.5 + Math.random() / 2);
    await delay(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

interface SessionEnd {
  /** `undefined` where no members were listed. */
  draft: MemberDraft | undefined;
  error: unknown;
}

function readEndpoints(endpoints: readonly string[]): Address[] {
  if (endpoints.length === 0) throw new PortholeError('PARAMETER_INVALID', 'no endpoint of etcd is given');
  return endpoints.map((endpoint) => readAddress(endpoint.includes('://') ? endpoint : `http://${endpoint}`));
}

/** What etcd or gRPC says, without the number of the status. */
function errorMessage(error: unknown): string {
  const text = error instanceof Error ? ('details' in error ? String(error.details) : error.message) : String(error);
  return text.replace(/\.? Resolution note: *$/, '').slice(0, MAX_REASON);
}
