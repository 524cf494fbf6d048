import { type FetchFunction, type FetchResponse, PortholeError } from '@porthole/contract';
import { withDeadline } from './bounded-calls.ts';

/** Requests in a row that got no response before a member counts as silent. */
const MISSES = 2;

/** A shorter wait says nothing about a member: a busy machine takes that long. */
const MIN_WAIT_MS = 250;

/** Members that are asked in the background at the same time. */
const MAX_PROBES = 32;

/** How long such a request waits: a process that was stopped answers it when it goes on. */
const PROBE_MS = 5000;

/** Between two of them to the same member. */
const PAUSE_MS = 500;

/** The route of a node that needs no credentials and does nothing. */
const PROBE_PATH = '/health/live';

type Send = FetchFunction;

const PROBE = { method: 'GET', headers: {}, redirect: 'manual', cache: 'no-store' } as const;

export interface SilentMembersOptions {
  /** A request that is given up after this time without a response counts as missed. */
  waitMs: number;
  probeMs?: number;
  pauseMs?: number;
  maxProbes?: number;
}

export interface WatchedMember {
  /** Rejects at once with DEADLINE_EXCEEDED while the member is silent. */
  fetch: Send;
  /** Stops asking it. */
  close(): void;
}

/**
 * Members that do not respond. One that has missed two requests in a row is no longer waited for: requests to it fail at once,
 * so that it does not cost its deadline again and again. It is asked in the background, and is back with its first response.
 */
export class SilentMembers {
  readonly #options: Required<SilentMembersOptions>;
  readonly #silent = new Set<Watched>();
  readonly #waiting = new Set<Watched>();
  #probes = 0;

  constructor({ waitMs, probeMs = PROBE_MS, pauseMs = PAUSE_MS, maxProbes = MAX_PROBES }: SilentMembersOptions) {
    this.#options = { waitMs: Math.max(MIN_WAIT_MS, waitMs), probeMs, pauseMs, maxProbes };
  }

  get count(): number {
    return this.#silent.size;
  }

  /** `send` is how requests of this node reach the member. */
  watch(url: string, send: Send): WatchedMember {
    const member = new Watched(url, send, this.#options.waitMs, {
      onSilent: (silent) => {
        this.#silent.add(silent);
        this.#waiting.add(silent);
        this.#probeNext();
      },
      onBack: (back) => {
        this.#silent.delete(back);
        this.#waiting.delete(back);
      },
    });
    return { fetch: (input, init) => member.fetch(input, init), close: () => member.close() };
  }

  #probeNext(): void {
    while (this.#probes < this.#options.maxProbes) {
      const [member] = this.#waiting;
      if (!member) return;
      this.#waiting.delete(member);
      this.#probes++;
      void this.#probe(member).finally(() => {
        this.#probes--;
        this.#probeNext();
      });
    }
  }

  async #probe(member: Watched): Promise<void> {
    const { probeMs, pauseMs } = this.#options;
    await member.probe(probeMs);
    if (!this.#silent.has(member)) return;
    const again = () => {
      if (this.#silent.has(member)) this.#waiting.add(member);
      this.#probeNext();
    };
    setTimeout(again, pauseMs).unref();
  }
}

interface Listeners {
  onSilent(member: Watched): void;
  onBack(member: Watched): void;
}

class Watched {
  readonly #url: string;
  readonly #send: Send;
  readonly #waitMs: number;
  readonly #listeners: Listeners;
  readonly #closing = new AbortController();
  #misses = 0;
  /** When the first and the last of the missed requests were given up. */
  #silentFromMs = 0;
  #missedMs = -Infinity;

  constructor(url: string, send: Send, waitMs: number, listeners: Listeners) {
    this.#url = url;
    this.#send = send;
    this.#waitMs = waitMs;
    this.#listeners = listeners;
  }

  get #isSilent(): boolean {
    return this.#misses >= MISSES;
  }

  async fetch(...[input, init]: Parameters<Send>): Promise<FetchResponse> {
    if (this.#isSilent) throw this.#silence();
    const startedMs = performance.now();
    try {
      const response = await this.#send(input, init);
      this.#heard();
      return response;
    } catch (error) {
      if (performance.now() - startedMs >= this.#waitMs) this.#missed(startedMs);
      else if (!init.signal.aborted) this.#heard(); // it fails at once: asking it costs nothing
      throw error;
    }
  }

  async probe(timeoutMs: number): Promise<void> {
    const startedMs = performance.now();
    const send = async (signal: AbortSignal) => {
      const response = await this.#send(`${this.#url}${PROBE_PATH}`, { ...PROBE, signal });
      await response.body?.getReader().cancel();
    };
    try {
      await withDeadline(send, { timeoutMs, signal: this.#closing.signal });
      this.#heard();
    } catch {
      // Whatever failed: within the time of a request that is waited for, the next request will report it.
      if (!this.#closing.signal.aborted && performance.now() - startedMs < Math.min(timeoutMs, this.#waitMs))
        this.#heard();
    }
  }

  close(): void {
    this.#closing.abort();
    this.#listeners.onBack(this);
  }

  #heard(): void {
    const wasSilent = this.#isSilent;
    this.#misses = 0;
    if (wasSilent) this.#listeners.onBack(this);
  }

  /** Requests that were sent at the same time count once. */
  #missed(startedMs: number): void {
    if (this.#isSilent || startedMs < this.#missedMs) return;
    this.#missedMs = performance.now();
    if (this.#misses === 0) this.#silentFromMs = startedMs;
    this.#misses++;
    if (this.#isSilent && !this.#closing.signal.aborted) this.#listeners.onSilent(this);
  }

  #silence(): PortholeError {
    const seconds = Math.round((performance.now() - this.#silentFromMs) / 1000);
    return new PortholeError(
      'DEADLINE_EXCEEDED',
      `no response for ${seconds} s; it is asked in the background and used again when it responds`,
    );
  }
}
