import { errorMessage, type Member, type MembershipState, PortholeError } from '@porthole/contract';
import { pause } from '@porthole/logs';
import { type Owned, owned } from '@porthole/logs/shared';
import type { EtcdAccess } from './etcd/etcd-access.ts';
import type { RegistrationOptions } from './etcd/registration.ts';
import type { RegistrySession } from './etcd/registry-session.ts';
import { type Address, readAddress } from './member-address.ts';
import { type MemberDraft, MemberList, type ReadDeparture, type ReadMember } from './member-list.ts';
import type { Departure, Membership, MembershipLog, StateKeys, ViewKeys } from './membership.ts';

/** A node rather starts without its registry than late. */
const START_TIMEOUT_MS = 3000;

/** Delay between two rounds through the endpoints; doubles up to the maximum. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5000;

/** Maximum length of an error text of etcd. */
const MAX_REASON = 300;

/** More than any supported cluster, few enough to do no harm. */
const DEFAULT_MAX_MEMBERS = 10_000;

/** Real ones have some 200 bytes. */
const MAX_STATE_BYTES = 4096;

/** Where members are registered and how to decode their values. */
export interface RegistryMembersOptions extends EtcdAccess {
  kind: MembershipState['kind'];
  self: Member;
  endpoints: readonly string[];
  /** Each ends with "/". */
  prefixes: readonly string[];
  read: ReadMember;
  readDeparture?: ReadDeparture;
  registration?: Omit<RegistrationOptions, 'state'>;
  /** Keys of states: this, and the id. Not watched: they change often. */
  statePrefix?: string;
  /** Keys of saved views: this, and the encoded name. Not watched: few people change few of them. */
  viewPrefix?: string;
  maxMembers?: number | undefined;
  log: MembershipLog;
}

/** Members from etcd: one session after the other, each with the next endpoint. */
export class RegistryMembers implements Membership {
  readonly #options: RegistryMembersOptions;
  readonly #addresses: readonly Address[];
  readonly #list: MemberList;
  readonly #closing = new AbortController();
  readonly #known: Promise<void>; // kept: is resolved, never rejected
  #setKnown: () => void = () => {};
  #running: Owned | undefined;
  #session: RegistrySession | undefined;
  /** What others see of this node, by key. */
  readonly #ownStates = new Map<string, string>();
  #isStateRefused = false;
  readonly states?: StateKeys;
  readonly views?: ViewKeys;

  constructor(options: RegistryMembersOptions) {
    this.#options = options;
    this.#addresses = readEndpoints(options.endpoints);
    this.#list = new MemberList(options);
    this.#known = new Promise((resolve) => {
      this.#setKnown = resolve;
    });
    this.#list.onChange(this.#setKnown);
    const { statePrefix, viewPrefix } = options;
    if (statePrefix !== undefined) this.states = this.#createStates(statePrefix);
    if (viewPrefix !== undefined) this.views = this.#createViews(viewPrefix);
  }

  get members(): readonly Member[] {
    return this.#list.members;
  }

  get state(): MembershipState {
    return this.#list.state;
  }

  get namesakeUrl(): string | null {
    return this.#list.namesakeUrl;
  }

  getDeparture(id: string): Departure | undefined {
    return this.#list.getDeparture(id);
  }

  onChange(listener: () => void): () => void {
    return this.#list.onChange(listener);
  }

  async start(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#running ??= owned(this.#run(), (error) => this.#lose(errorMessage(error), { isNew: true }));
    const waiting = new AbortController();
    const tooLate = pause(START_TIMEOUT_MS, waiting.signal).then((isOver) => {
      if (isOver) this.#list.lose('no response yet');
    });
    await Promise.race([this.#known, tooLate]);
    waiting.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#setKnown();
    await this.#running;
  }

  #createStates(prefix: string): StateKeys {
    return {
      publish: (value, name) => {
        this.#ownStates.set(`${prefix}${this.#options.self.id}${name === undefined ? '' : `/${name}`}`, value);
        void this.#session?.writeState();
      },
      read: async ({ signal }) => this.#requireSession().readValues(prefix, { maxBytes: MAX_STATE_BYTES, signal }),
    };
  }

  #createViews(prefix: string): ViewKeys {
    return {
      read: async (options) => this.#requireSession().readValues(prefix, options),
      write: async (key, value, { signal }) => this.#requireSession().writeValue(prefix + key, value, signal),
    };
  }

  #requireSession(): RegistrySession {
    if (!this.#session) throw new PortholeError('UNREACHABLE', 'the registry is unavailable');
    return this.#session;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const endpointCount = this.#addresses.length;
    let before: MemberDraft | undefined;
    let isLost = false;
    let failures = 0; // since the last session that listed members
    for (let attempt = 0; !signal.aborted; attempt++) {
      const startedMs = performance.now();
      const address = this.#addresses[attempt % endpointCount] as Address;
      const { draft, error } = await this.#runSession(address, before);
      if (signal.aborted) return;
      before = draft ?? before;
      isLost &&= draft === undefined;
      failures = draft !== undefined && performance.now() - startedMs > LONGEST_WAIT_MS ? 1 : failures + 1;
      // Another endpoint may work; the registry is unavailable only after all have failed.
      if (failures % endpointCount !== 0) continue;
      this.#lose(`${address.url}: ${statusMessage(error)}`, { isNew: !isLost });
      isLost = true;
      await this.#wait(failures / endpointCount - 1);
    }
  }

  /** Never throws: even options that gRPC rejects only make the registry unavailable. */
  async #runSession(address: Address, before: MemberDraft | undefined): Promise<SessionEnd> {
    const { maxMembers = DEFAULT_MAX_MEMBERS, prefixes, read, readDeparture, log } = this.#options;
    const { signal } = this.#closing;
    const registration = this.#registration();
    const shared = { prefixes, read, readDeparture, maxMembers, registration, list: this.#list, before, log, signal };
    let session: RegistrySession | undefined;
    try {
      // Imported on demand: a node without a registry does not need gRPC.
      const { RegistrySession } = await import('./etcd/registry-session.ts');
      session = new RegistrySession({ ...shared, address, access: this.#options });
      this.#session = session;
      return await session.run();
    } catch (error) {
      return { draft: session?.draft, error };
    } finally {
      this.#session = undefined;
    }
  }

  #registration(): RegistrationOptions | undefined {
    const { registration, statePrefix, log } = this.#options;
    if (!registration || statePrefix === undefined) return registration;
    const onRefused = (error: unknown) => {
      if (!this.#isStateRefused) log.warn('registry', `the state of this node is not stored: ${statusMessage(error)}`);
      this.#isStateRefused = true;
    };
    return { ...registration, state: { values: () => this.#ownStates, onRefused } };
  }

  #lose(detail: string, { isNew }: { isNew: boolean }): void {
    this.#list.lose(detail);
    if (isNew) this.#options.log.warn('registry', `the registry is unavailable: ${detail}`);
  }

  async #wait(rounds: number): Promise<void> {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** rounds);
    // Jitter: all nodes lost the registry at the same time.
    const waitMs = longest * (0.5 + Math.random() / 2);
    await pause(waitMs, this.#closing.signal);
  }
}

interface SessionEnd {
  /** `undefined` if no members were listed. */
  draft: MemberDraft | undefined;
  error: unknown;
}

function readEndpoints(endpoints: readonly string[]): Address[] {
  if (endpoints.length === 0) throw new PortholeError('PARAMETER_INVALID', 'no etcd endpoint given');
  return endpoints.map((endpoint) => readAddress(endpoint.includes('://') ? endpoint : `http://${endpoint}`));
}

/** The message of etcd or gRPC without the status number. */
function statusMessage(error: unknown): string {
  const text = error instanceof Error && 'details' in error ? String(error.details) : errorMessage(error);
  return text.replace(/\.? Resolution note: *$/, '').slice(0, MAX_REASON);
}
