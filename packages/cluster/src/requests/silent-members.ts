import { type FetchFunction, type FetchResponse, PortholeError } from '@porthole/contract';
import { withDeadline } from './bounded-calls.ts';

/** Requests in a row that got no response, or no more of one, before a member counts as silent. */
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

/** Responses of a node that does not accept this one. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/** Responses of a proxy in front of a node. */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504]);

type Send = FetchFunction;
type Body = NonNullable<FetchResponse['body']>;

export const PROBE = { method: 'GET', headers: {}, redirect: 'manual', cache: 'no-store' } as const;

export interface SilentMembersOptions {
  /** A request that is given up after this time without a byte of a response counts as missed. */
  waitMs: number;
  probeMs?: number;
  pauseMs?: number;
  maxProbes?: number;
}

/** Called for everything that comes from a member itself, and for every contact that fails. */
export interface SignListener {
  sign(): void;
  failed(): void;
  /** Whether it is known to be there: then it is waited for, however slow it is. */
  isAlive(): boolean;
}

export interface WatchedMember {
  /** Rejects at once with DEADLINE_EXCEEDED while the member is silent. */
  fetch: Send;
  /** It has registered again: the next request is sent to it. */
  heard(): void;
  /** Whether the last request to it failed, or was refused. */
  hasFailed(): boolean;
  /** Stops asking it. */
  close(): void;
}

/**
 * Members that do not respond. One that has missed two requests in a row is no longer waited for: requests to it fail at once,
 * so that it does not cost its deadline again and again. It is asked in the background, and is back with its first response.
 * The head of a response says nothing: a proxy, or a process that stopped just then, sends that, too.
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
  watch(url: string, send: Send, signs?: SignListener): WatchedMember {
    const member = new Watched(url, send, this.#options.waitMs, {
      ...(signs && { signs }),
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
    return {
      fetch: (input, init) => member.fetch(input, init),
      heard: () => member.heard(),
      hasFailed: () => member.hasFailed,
      close: () => member.close(),
    };
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
  signs?: SignListener;
  onSilent(member: Watched): void;
  onBack(member: Watched): void;
}

class Watched {
  readonly #url: string;
  readonly #send: Send;
  readonly #waitMs: number;
  readonly #listeners: Listeners;
  readonly #closing = new AbortController();
  hasFailed = false;
  #misses = 0;
  #isDoubted = false;
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
    if (this.#isSilent && !this.#listeners.signs?.isAlive()) throw this.#silence();
    const startedMs = performance.now();
    try {
      const response = await this.#send(input, init);
      this.hasFailed = REFUSALS.has(response.status) || response.status >= 500;
      if (init.method !== 'HEAD' && response.body) return this.#listenTo(response, response.body, init.signal);
      this.heard();
      this.#sign(response);
      return response;
    } catch (error) {
      const isLate = performance.now() - startedMs >= this.#waitMs;
      this.hasFailed ||= isLate || !init.signal.aborted;
      if (isLate || !init.signal.aborted) this.#listeners.signs?.failed();
      if (isLate) this.#missed(startedMs);
      else if (!init.signal.aborted) this.heard(); // it fails at once: asking it costs nothing
      throw error;
    }
  }

  /** Whether it responds, or fails so soon that asking it costs nothing: the next request reports that. */
  async probe(timeoutMs: number): Promise<boolean> {
    const startedMs = performance.now();
    const send = async (signal: AbortSignal) => {
      const response = await this.#send(`${this.#url}${PROBE_PATH}`, { ...PROBE, signal });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    };
    try {
      await withDeadline(send, { timeoutMs, signal: this.#closing.signal });
    } catch {
      // The next request reports what is wrong with it.
      const isSoon = performance.now() - startedMs < Math.min(timeoutMs / 2, this.#waitMs);
      if (!isSoon || this.#closing.signal.aborted) return false;
    }
    this.heard();
    return true;
  }

  close(): void {
    this.#closing.abort();
    this.#listeners.onBack(this);
  }

  /** Hears what comes of a body, and notices when it is given up because nothing does. */
  #listenTo(response: FetchResponse, body: Body, signal: AbortSignal): FetchResponse {
    const { status, ok, type, headers } = response;
    const getReader = () => {
      const reader = body.getReader();
      const read = async () => {
        const startedMs = performance.now();
        try {
          const part = await reader.read();
          this.heard();
          if (!part.done) this.#sign(response);
          return part;
        } catch (error) {
          const isLate = performance.now() - startedMs >= this.#waitMs;
          if (isLate || !signal.aborted) this.#listeners.signs?.failed();
          if (signal.aborted && isLate) void this.#doubt(startedMs);
          throw error;
        }
      };
      return { read, cancel: () => reader.cancel() };
    };
    return { status, ok, type, headers, body: { getReader } };
  }

  /** A proxy responds for a member that is gone. */
  #sign({ status }: Pick<FetchResponse, 'status'>): void {
    if (!GATEWAY.has(status)) this.#listeners.signs?.sign();
  }

  /** It did not go on with a response. It may have been scanning, so it is asked for something that takes no time. */
  async #doubt(startedMs: number): Promise<void> {
    if (this.#isDoubted || this.#isSilent) return;
    this.#isDoubted = true;
    const isHere = await this.probe(this.#waitMs);
    this.#isDoubted = false;
    if (isHere) return;
    this.#missed(startedMs);
    this.#missed(performance.now());
  }

  heard(): void {
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
