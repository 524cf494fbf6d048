import { status } from '@grpc/grpc-js';
import { type EtcdConnection, grpcCode } from './etcd-connection.ts';
import { readStream } from './read-stream.ts';

/** A lease is prolonged so often in its time, so that one lost answer costs nothing. */
const BEATS_PER_LEASE = 3;

/** Beats without an answer after which the connection is given up. */
const MAX_MISSED_BEATS = 2;

export interface RegistrationOptions {
  key: string;
  value: string;
  leaseSeconds: number;
  /** Written when the node stops in order, so that the others know it has left rather than failed. */
  departure: { key: string; value(): string; keepSeconds: number };
}

/** This node's key in etcd, bound to a lease: it vanishes when nobody prolongs it. */
export class Registration {
  readonly #connection: EtcdConnection;
  readonly #options: RegistrationOptions;
  #leaseId: string | undefined;
  #writing: Promise<Uint8Array | undefined> | undefined;

  constructor(connection: EtcdConnection, options: RegistrationOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Writes the key, with a new lease where there is none or etcd has forgotten it. Gives the value that was there. */
  write(signal: AbortSignal): Promise<Uint8Array | undefined> {
    this.#writing ??= this.#write(signal).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Prolongs the lease until the signal ends that or etcd does not answer; throws either way. */
  async keep(signal: AbortSignal, onAnswer: () => void): Promise<never> {
    const stream = this.#connection.openStream('LeaseKeepAlive');
    let unanswered = 0;
    const beat = (): void => {
      // Counted, not timed: after a pause of this process the answers are there, but not read yet.
      if (unanswered === MAX_MISSED_BEATS) stream.destroy(new Error('the lease could not be prolonged: no answer'));
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
    throw new Error('etcd ended the stream that prolongs the lease');
  }

  /** Says that this node leaves, then gives the lease back, and the key with it if it is still this node's. */
  async leave(timeoutMs: number): Promise<void> {
    if (this.#leaseId === undefined) return;
    // Without it the others take this node for failed; that is no reason to stay registered.
    await this.#putDeparture(AbortSignal.timeout(timeoutMs)).catch(() => {});
    await this.#connection.call('LeaseRevoke', { ID: this.#leaseId }, { timeoutMs });
  }

  /** Bound to a lease of its own, so that the registry forgets it by itself. */
  async #putDeparture(signal: AbortSignal): Promise<void> {
    const { key, value, keepSeconds } = this.#options.departure;
    const { ID: lease } = await this.#connection.call('LeaseGrant', { TTL: String(keepSeconds) }, { signal });
    const request = { key: Buffer.from(key), value: Buffer.from(value()), lease, prev_kv: true };
    const before = (await this.#connection.call('Put', request, { signal })).prev_kv?.lease ?? '0';
    // That of the departure before: a node that is restarted often must not leave a lease behind each time.
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
    return this.#put(ID, signal);
  }

  async #put(lease: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { key, value } = this.#options;
    const request = { key: Buffer.from(key), value: Buffer.from(value), lease, prev_kv: true };
    return (await this.#connection.call('Put', request, { signal })).prev_kv?.value;
  }
}
