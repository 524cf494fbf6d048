import type { Clocks } from '../fan-out/clock.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import { withDeadline } from '../fan-out/with-deadline.ts';
import { type HeardWords, hearWords } from './hear-words.ts';
import { KeptWords, type KeptWordsParts } from './kept-words.ts';
import type { MemberWords } from './member-words.ts';
import type { KnownWords } from './state-parts.ts';

/**
 * Between two members: with dozens of them each is listened to less often, because listening to a thousand every half
 * minute would cost a node a seventh of a core.
 */
const LEAST_BETWEEN_MS = 2000;

/** The same while there are members that were not listened to since they came. */
const LEAST_BETWEEN_NEW_MS = 100;

/** Beside the two texts: member, clock and the signs between them. */
const FRAME_BYTES = 4096;

const DEFAULTS = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  listenMs: 30_000,
  writeMs: 2 * 60_000,
  timeoutMs: 10_000,
  maxConfigBytes: 256 * 1024,
  maxRecordBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxAgeMs: 7 * 24 * 3_600_000,
};

export interface LastWordsParts
  extends Pick<KeptWordsParts, 'store' | 'tell'>,
    Partial<Pick<KeptWordsParts, 'nowMs' | 'writeMs'>> {
  /** Known before words are opened: who is not among them counts as gone. */
  peers: Pick<Peers, 'all'>;
  clocks: Clocks;
  /** The text with its secrets masked; `undefined` where that cannot be done: then it is not kept. */
  mask(configText: string): string | undefined;
  /** From 0 to 1, so that the nodes of a cluster do not ask at the same moment. */
  random?: () => number;
  /** Each member is listened to about this often; less often where there are hundreds. */
  listenMs?: number;
  timeoutMs?: number;
  /** Of one member; a larger configuration is not kept, since part of one is none. */
  maxConfigBytes?: number;
  maxRecordBytes?: number;
  /** Of all members together; those that are gone longest are forgotten first. */
  maxTotalBytes?: number;
  /** Of members that are gone. */
  maxAgeMs?: number;
}

/** A bounded copy of what each other member told last, on disk too, so that a dead node can still be read. */
export class LastWords implements KnownWords {
  readonly #parts: LastWordsParts & typeof DEFAULTS;
  readonly #kept: KeptWords;
  readonly #leaving = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listening: Promise<void> = Promise.resolve();
  #lastHeard = '';
  /** Listened to since they came, whether they told something or not. */
  readonly #tried = new Set<string>();

  private constructor(parts: LastWordsParts) {
    this.#parts = { ...DEFAULTS, ...parts };
    this.#kept = new KeptWords(this.#parts);
  }

  /** Reads what earlier runs left. Never throws for what is on disk: then there is less to show, and it is told. */
  static async open(parts: LastWordsParts): Promise<LastWords> {
    const lastWords = new LastWords(parts);
    await lastWords.#kept.load();
    await lastWords.#forget();
    return lastWords;
  }

  /** Why words are kept in memory only; `null` while all is well. */
  get problem(): string | null {
    return this.#kept.problem;
  }

  of(id: string): MemberWords | undefined {
    return this.#kept.of(id);
  }

  gone(): readonly MemberWords[] {
    return this.#kept.gone(this.#here());
  }

  /** Begins to listen, one member after the other, without keeping the process alive. */
  start(): void {
    const { listenMs, random } = this.#parts;
    const next = () => {
      if (this.#leaving.signal.aborted) return;
      const others = this.#others();
      const leastMs = others.some((peer) => this.#isNew(peer)) ? LEAST_BETWEEN_NEW_MS : LEAST_BETWEEN_MS;
      const everyMs = Math.min(listenMs, Math.max(leastMs, listenMs / Math.max(1, others.length)));
      const waitMs = everyMs * (0.75 + random() / 2);
      this.#timer = setTimeout(() => {
        this.#listening = this.#listenToNext().finally(next);
      }, waitMs).unref();
    };
    next();
  }

  /** Listens to all of them once, one after the other. */
  async listen(): Promise<void> {
    for (const peer of this.#others()) await this.#listenTo(peer);
    await this.#forget();
  }

  /** Ends listening and writes what is not written yet. More than once is harmless. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#leaving.abort();
    await this.#listening;
    await this.#kept.flush();
  }

  #here(): Set<string> {
    return new Set(this.#parts.peers.all().map(({ member }) => member.id));
  }

  #others(): Peer[] {
    return this.#parts.peers.all().filter(({ member }) => !member.isSelf);
  }

  async #listenToNext(): Promise<void> {
    const others = this.#others();
    const unheard = others.find((peer) => this.#isNew(peer));
    const next = unheard ?? others.find(({ member }) => member.id > this.#lastHeard) ?? others[0];
    if (next && !unheard) this.#lastHeard = next.member.id;
    if (next) await this.#listenTo(next);
    await this.#forget();
  }

  #isNew({ member }: Peer): boolean {
    return !this.#tried.has(member.id);
  }

  async #listenTo(peer: Peer): Promise<void> {
    const { mask, timeoutMs, maxConfigBytes, maxRecordBytes } = this.#parts;
    const limits = { maxConfigBytes: this.#share(maxConfigBytes), maxRecordBytes: this.#share(maxRecordBytes) };
    this.#tried.add(peer.member.id);
    try {
      const heard = await withDeadline((signal) => hearWords(peer, { mask, timeoutMs, signal, ...limits }), {
        timeoutMs,
        signal: this.#leaving.signal,
      });
      this.#keep(peer, heard);
    } catch {
      this.#kept.settle(peer.member.id);
    }
    await this.#kept.written();
  }

  #keep({ member }: Peer, { config, records }: HeardWords): void {
    const { clocks, nowMs } = this.#parts;
    const known = this.#kept.of(member.id);
    this.#kept.keep({
      member: { ...member, isSelf: false },
      asOfMs: nowMs(),
      clock: clocks.of(member.id) ?? null,
      config: config === undefined ? (known?.config ?? null) : config,
      records: records ?? known?.records ?? [],
    });
  }

  /** What fits of all, so that members that are there never push each other out. */
  #share(bytes: number): number {
    const each = this.#parts.maxTotalBytes / Math.max(1, this.#others().length);
    return Math.min(bytes, Math.max(0, Math.floor((each - FRAME_BYTES) / 2)));
  }

  async #forget(): Promise<void> {
    const here = this.#here();
    for (const id of this.#tried) if (!here.has(id)) this.#tried.delete(id);
    this.#kept.forget(here);
    await this.#kept.written();
  }
}
