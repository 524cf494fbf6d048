import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, errorMessage, type Member, quoteInput } from '@porthole/contract';
import type { Address } from '../member-address.ts';
import { MemberDraft, type MemberList, type ReadDeparture, type ReadMember } from '../member-list.ts';
import type { MembershipLog } from '../membership.ts';
import type { EtcdAccess } from './etcd-access.ts';
import { EtcdConnection } from './etcd-connection.ts';
import { type KeyChange, listPrefixes, watchPrefixes } from './prefixes.ts';
import { Registration, type RegistrationOptions } from './registration.ts';

/** A read-only session has no lease to keep alive, so it polls instead. */
const CHECK_MS = 5000;

/** A stopping node does not wait longer for etcd; the lease expires anyway. */
const LEAVE_TIMEOUT_MS = 1000;

export interface RegistrySessionOptions {
  address: Address;
  access: EtcdAccess;
  /** Each ends with "/". */
  prefixes: readonly string[];
  read: ReadMember;
  readDeparture: ReadDeparture | undefined;
  maxMembers: number;
  /** The key of this node; `undefined` if read-only. */
  registration: RegistrationOptions | undefined;
  /** Receives all changes. */
  list: MemberList;
  /** Rejections already logged by the previous session. */
  before: MemberDraft | undefined;
  log: MembershipLog;
  /** Aborts when the node stops. */
  signal: AbortSignal;
}

/** One connection to etcd: registers, lists, watches. */
export class RegistrySession {
  readonly #options: RegistrySessionOptions;
  readonly #connection: EtcdConnection;
  readonly #registration: Registration | undefined;
  #draft: MemberDraft | undefined;

  constructor(options: RegistrySessionOptions) {
    this.#options = options;
    this.#connection = new EtcdConnection(options.address, options.access);
    this.#registration = options.registration && new Registration(this.#connection, options.registration);
  }

  /** The last list; `undefined` if there was none yet. */
  get draft(): MemberDraft | undefined {
    return this.#draft;
  }

  /** Writes the state of this node. Never rejects: it is written again when this node registers again. */
  async writeState(): Promise<void> {
    await this.#registration?.writeState(this.#options.signal);
  }

  /** The values below a prefix by the rest of their keys, without those that are too long. */
  async readValues(
    prefix: string,
    {
      maxBytes,
      maxKeys = this.#options.maxMembers,
      signal,
    }: { maxBytes: number; maxKeys?: number; signal: AbortSignal },
  ): Promise<Map<string, Uint8Array>> {
    const values = new Map<string, Uint8Array>();
    for await (const { keys } of listPrefixes(this.#connection, { prefixes: [prefix], maxKeys, signal }))
      for (const { key, value } of keys)
        if (value && value.length <= maxBytes) values.set(key.slice(prefix.length), value);
    return values;
  }

  /** Without a lease: it outlives this node. */
  async writeValue(key: string, value: string, signal: AbortSignal): Promise<void> {
    await this.#connection.call('Put', { key: Buffer.from(key), value: Buffer.from(value) }, { signal });
  }

  /** Runs until something fails or the node stops; throws either way. */
  async run(): Promise<never> {
    const { signal } = this.#options;
    const ending = new AbortController();
    const stop = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      await this.#connection.authenticate({ signal });
      this.#warnOther(await this.#registration?.write(signal));
      this.#keepAlive(ending.signal).catch((error: unknown) => ending.abort(error));
      // After a compaction the watch ends and the list is read again.
      for (;;) await this.#watch(await this.#readList(ending.signal), ending.signal);
    } catch (error) {
      ending.signal.throwIfAborted(); // the reason why the calls were cancelled
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      ending.abort();
      if (signal.aborted) await this.#leave();
      this.#connection.close();
    }
  }

  /** Never rejects: the lease expires anyway. */
  async #leave(): Promise<void> {
    const report = (what: string) => (error: unknown) =>
      this.#options.log.warn('register', `cannot ${what}: ${errorMessage(error)}`);
    await this.#registration
      ?.leave(LEAVE_TIMEOUT_MS, report('announce the departure of this node'))
      .catch(report('deregister; the registration expires by itself'));
  }

  /** Polls etcd every few seconds; throws when it does not respond. */
  async #keepAlive(signal: AbortSignal): Promise<never> {
    const { list, prefixes } = this.#options;
    if (this.#registration !== undefined) return this.#registration.keep(signal, () => list.confirm());
    for (;;) {
      await delay(CHECK_MS, undefined, { signal });
      await this.#connection.call('Range', { key: Buffer.from(prefixes[0] ?? '/'), keys_only: true }, { signal });
      list.confirm();
    }
  }

  /** Returns the revision of the list. */
  async #readList(signal: AbortSignal): Promise<string> {
    const { address, prefixes, maxMembers, list, log } = this.#options;
    const draft = MemberDraft.fresh(this.#draft ?? this.#options.before);
    const maxKeys = 3 * maxMembers; // departures and invalid keys count, too
    let revision = '0';
    for await (const page of listPrefixes(this.#connection, { prefixes, maxKeys, signal })) {
      revision = page.revision;
      for (const { key, value } of page.keys) this.#put(draft, key, value);
      if (page.isCut) log.warn('registry', `more than ${maxKeys} keys; the rest is ignored`);
    }
    if (this.#draft === undefined) log.info('registry', `${draft.known.size + 1} members, from ${address.url}`);
    this.#draft = draft;
    this.#logComplaints(draft);
    list.take(draft);
    return revision;
  }

  /** Returns when the list must be read again. */
  async #watch(afterRevision: string, signal: AbortSignal): Promise<void> {
    const { prefixes, list, maxMembers } = this.#options;
    for await (const changes of watchPrefixes(this.#connection, { prefixes, afterRevision, signal })) {
      list.confirm();
      if (changes.length === 0) continue;
      const draft = await this.#apply(changes, signal);
      if (draft.isOverfull && draft.hasRoom(maxMembers)) return;
    }
  }

  async #apply(changes: readonly KeyChange[], signal: AbortSignal): Promise<MemberDraft> {
    const draft = MemberDraft.from(this.#draft ?? MemberDraft.fresh());
    for (const { key, value } of changes) {
      if (value === undefined) this.#remove(draft, key);
      else this.#put(draft, key, value);
    }
    this.#draft = draft;
    this.#logComplaints(draft);
    this.#options.list.take(draft);
    const own = changes.findLast(({ key }) => key === this.#options.registration?.key);
    if (own !== undefined && own.value === undefined) this.#warnOther(await this.#registration?.write(signal));
    return draft;
  }

  /** This node is always listed as it knows itself; its own key is only checked. */
  #put(draft: MemberDraft, key: string, value: Uint8Array | undefined): void {
    const { registration, readDeparture, list } = this.#options;
    const departed = readDeparture?.(key, value);
    if (key === registration?.key) list.namesakeUrl = this.#warnOther(value);
    else if (departed === undefined) draft.put(key, value, this.#options);
    else draft.putDeparture(departed.id, departed.departure, this.#options);
  }

  #remove(draft: MemberDraft, key: string): void {
    const departure = this.#options.readDeparture?.(key, undefined);
    if (departure === undefined) draft.remove(key);
    else draft.departures.delete(departure.id);
  }

  /** Returns the address of the other node if the value is that of one. */
  #warnOther(value: Uint8Array | undefined): string | null {
    const { registration, log, read } = this.#options;
    if (registration === undefined || value === undefined || Buffer.from(value).toString() === registration.value)
      return null;
    const other = readOrUndefined(() => read(registration.key, value));
    const own = readOrUndefined(() => read(registration.key, Buffer.from(registration.value)));
    // Same address: this node before a restart.
    if (other?.url === own?.url) return null;
    const url = quoteInput(other?.url ?? 'no URL');
    log.warn('register', `another node is registered with the same id, at ${url}`, { key: registration.key });
    return url;
  }

  #logComplaints({ complaints, complaintCount }: MemberDraft): void {
    if (complaintCount === 0) return;
    this.#options.log.warn('registry', `${complaintCount} invalid registrations: ${complaints.join('; ')}`);
  }
}

function readOrUndefined(read: () => Member): Member | undefined {
  try {
    return read();
  } catch (error) {
    if (!['BAD_ANSWER', 'PARAMETER_INVALID'].includes(codeOf(error))) throw error;
    return undefined;
  }
}
