import { status } from '@grpc/grpc-js';
import { Shared } from '@porthole/logs/shared';
import { type EtcdConnection, grpcCode, readStream } from './etcd-connection.ts';

/** Keep-alives per lease lifetime, so that one lost response does no harm. */
const BEATS_PER_LEASE = 3;

/** Unanswered keep-alives after which the connection is dropped. */
const MAX_MISSED_BEATS = 2;

export interface RegistrationOptions {
  key: string;
  value: string;
  leaseSeconds: number;
  /** Written on a clean shutdown, so that others see that the node left and did not fail. */
  departure: { key: string; value(): string; keepSeconds: number };
  /** What else others see of this node, as long as its lease is alive: values by key. */
  state?: { values(): ReadonlyMap<string, string>; onRefused(error: unknown): void } | undefined;
}

/** The key of this node in etcd, bound to a lease: it expires without keep-alives. */
export class Registration {
  readonly #connection: EtcdConnection;
  readonly #options: RegistrationOptions;
  #leaseId: string | undefined;
  readonly #writing = new Shared<Uint8Array | undefined>({ endsUnwatched: true });

  constructor(connection: EtcdConnection, options: RegistrationOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Writes the key, with a new lease if there is none or it expired. Returns the previous value. */
  write(signal: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#writing.run((shared) => this.#write(shared), { signal });
  }

  /** Writes the state of this node, unless it is not registered: then it is written with the registration. */
  async writeState(signal: AbortSignal): Promise<void> {
    const { state } = this.#options;
    if (!state || this.#leaseId === undefined) return;
    try {
      for (const [key, value] of state.values())
        await this.#connection.call(
          'Put',
          { key: Buffer.from(key), value: Buffer.from(value), lease: this.#leaseId },
          { signal },
        );
    } catch (error) {
      // Others ask this node instead. Only its registration must not fail.
      if (!signal.aborted) state.onRefused(error);
    }
  }

  /** Keeps the lease alive until the signal aborts or etcd does not respond; throws either way. */
  async keep(signal: AbortSignal, onAnswer: () => void): Promise<never> {
    const stream = this.#connection.openStream('LeaseKeepAlive');
    let unanswered = 0;
    const beat = (): void => {
      // Counted, not timed: after a pause of this process responses have arrived but are not read yet.
      if (unanswered === MAX_MISSED_BEATS) stream.destroy(new Error('no response to lease keep-alives'));
      else if (this.#leaseId !== undefined) stream.write({ ID: this.#leaseId });
      unanswered++;
    };
    const timer = setInterval(beat, (this.#options.leaseSeconds * 1000) / BEATS_PER_LEASE);
    try {
      for await (const { ID, TTL } of readStream(stream, signal)) {
        unanswered = 0;
        onAnswer();
        if (Number(TTL) > 0 || ID !== this.#leaseId) continue;
        this.#leaseId = undefined;
        await this.write(signal);
      }
    } finally {
      clearInterval(timer);
    }
    throw new Error('etcd closed the lease keep-alive stream');
  }

  /**
   * Writes the departure, then revokes the lease, which removes the key if it is still the one of this node. If only the
   * departure cannot be written, `onError` is called, and others consider this node failed instead of left.
   */
  async leave(timeoutMs: number, onError: (error: unknown) => void): Promise<void> {
    if (this.#leaseId === undefined) return;
    await this.#putDeparture(AbortSignal.timeout(timeoutMs)).catch(onError);
    await this.#connection.call('LeaseRevoke', { ID: this.#leaseId }, { timeoutMs });
  }

  /** Bound to its own lease, so that it expires. */
  async #putDeparture(signal: AbortSignal): Promise<void> {
    const { key, value, keepSeconds } = this.#options.departure;
    const { ID: lease } = await this.#connection.call('LeaseGrant', { TTL: String(keepSeconds) }, { signal });
    const request = { key: Buffer.from(key), value: Buffer.from(value()), lease, prev_kv: true };
    const before = (await this.#connection.call('Put', request, { signal })).prev_kv?.lease ?? '0';
    // The lease of the previous departure: frequent restarts must not accumulate leases.
    if (before !== '0') await this.#connection.call('LeaseRevoke', { ID: before }, { signal });
  }

  async #write(signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#leaseId !== undefined) {
      try {
        return await this.#put(this.#leaseId, signal);
      } catch (error) {
        if (grpcCode(error) !== status.NOT_FOUND) throw error; // the lease has expired
      }
    }
    const { ID } = await this.#connection.call('LeaseGrant', { TTL: String(this.#options.leaseSeconds) }, { signal });
    this.#leaseId = ID;
    const before = await this.#put(ID, signal);
    await this.writeState(signal);
    return before;
  }

  async #put(lease: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { key, value } = this.#options;
    const request = { key: Buffer.from(key), value: Buffer.from(value), lease, prev_kv: true };
    return (await this.#connection.call('Put', request, { signal })).prev_kv?.value;
  }
}
