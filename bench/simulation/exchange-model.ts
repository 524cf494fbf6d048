import { EventQueue } from './event-queue.ts';
import { SeededRandom } from './random.ts';

/** How nodes exchange what they know about each other, and the network in between. */
export interface ExchangeOptions {
  nodes: number;
  seed: number;
  /** Each node requests news from some members once in about this time: a quarter less or more. */
  roundMs: number;
  peersPerRound: number;
  /** One way between two nodes: mean of an exponential distribution. */
  latencyMs: number;
  /** Of so many nodes in a hundred, each message takes so much longer. */
  slowPercent: number;
  slowMs: number;
  /** After this time the registry no longer lists a node that was killed. */
  leaseMs: number;
  /** Size of an entry, and of what says which version of it a node has. */
  entryBytes: number;
  digestBytes: number;
}

/** What was counted since the last reset. */
export interface ExchangeCounts {
  requests: number;
  failedRequests: number;
  bytes: number;
  entries: number;
}

/**
 * All nodes and what each knows of all others: the version of an entry is how often its node has renewed it, which it
 * does in every round and with every response. Processing takes no time; what a response contains is what its sender
 * knows when it arrives.
 */
export class ExchangeModel {
  readonly queue = new EventQueue();
  readonly #options: ExchangeOptions;
  readonly #random: SeededRandom;
  /** By holder, then by subject. 0: not known. */
  readonly #versions: Uint16Array;
  /** By subject and version: when it was renewed. */
  readonly #renewals: number[][] = [];
  readonly #isUp: Uint8Array;
  readonly #isListed: Uint8Array;
  /** Nodes in different parts of a partition do not reach each other. */
  readonly #part: Uint8Array;
  readonly #generation: Uint32Array;
  #counts: ExchangeCounts = newCounts();

  constructor(options: ExchangeOptions) {
    const { nodes, seed } = options;
    this.#options = options;
    this.#random = new SeededRandom(seed);
    this.#versions = new Uint16Array(nodes * nodes);
    this.#isUp = new Uint8Array(nodes);
    this.#isListed = new Uint8Array(nodes);
    this.#part = new Uint8Array(nodes);
    this.#generation = new Uint32Array(nodes);
    for (let node = 0; node < nodes; node++) this.#renewals.push([Number.NEGATIVE_INFINITY]);
  }

  get counts(): ExchangeCounts {
    return this.#counts;
  }

  resetCounts(): void {
    this.#counts = newCounts();
  }

  /** A node starts knowing nobody's state; its rounds begin at a random time, as they do after real starts. */
  start(node: number): void {
    this.#isUp[node] = 1;
    this.#isListed[node] = 1;
    this.#row(node).fill(0);
    const generation = (this.#generation[node] ?? 0) + 1;
    this.#generation[node] = generation;
    this.queue.after(this.#random.next() * this.#options.roundMs, () => this.#runRound(node, generation));
  }

  /** It deregisters, and is no longer listed at once. */
  leave(node: number): void {
    this.#isUp[node] = 0;
    this.#isListed[node] = 0;
  }

  /** It is listed until its lease ends. */
  kill(node: number): void {
    this.#isUp[node] = 0;
    const generation = this.#generation[node];
    this.queue.after(this.#options.leaseMs, () => {
      if (this.#generation[node] === generation) this.#isListed[node] = 0;
    });
  }

  /** Separates the last so many nodes from the others; 0: heals. The registry is reached by all. */
  separate(count: number): void {
    const { nodes } = this.#options;
    for (let node = 0; node < nodes; node++) this.#part[node] = node >= nodes - count ? 1 : 0;
  }

  isUp(node: number): boolean {
    return this.#isUp[node] === 1;
  }

  /** How old what one node knows of another is; `Infinity` if it knows nothing. */
  age(holder: number, subject: number): number {
    const version = this.#versions[holder * this.#options.nodes + subject] ?? 0;
    return this.queue.nowMs - (this.#renewals[subject]?.[version] ?? Number.NEGATIVE_INFINITY);
  }

  /** Ages of all pairs of nodes that are up, of every so many-th holder. */
  ages(everyHolder = 1): Float64Array {
    const up = [...this.#isUp.keys()].filter((node) => this.isUp(node));
    const holders = up.filter((_, index) => index % everyHolder === 0);
    const ages = new Float64Array(holders.length * (up.length - 1));
    let count = 0;
    for (const holder of holders) {
      for (const subject of up) if (subject !== holder) ages[count++] = this.age(holder, subject);
    }
    return ages.sort();
  }

  #row(node: number): Uint16Array {
    const { nodes } = this.#options;
    return this.#versions.subarray(node * nodes, (node + 1) * nodes);
  }

  #runRound(node: number, generation: number): void {
    if (!this.isUp(node) || this.#generation[node] !== generation) return;
    const { roundMs, peersPerRound } = this.#options;
    this.#renew(node);
    for (let sent = 0; sent < peersPerRound; sent++) {
      const peer = this.#choosePeer(node);
      if (peer !== undefined) this.#send(node, peer);
    }
    this.queue.after(roundMs * (0.75 + this.#random.next() / 2), () => this.#runRound(node, generation));
  }

  #renew(node: number): void {
    const renewals = this.#renewals[node] as number[];
    renewals.push(this.queue.nowMs);
    this.#versions[node * this.#options.nodes + node] = renewals.length - 1;
  }

  #choosePeer(node: number): number | undefined {
    const { nodes } = this.#options;
    for (let attempt = 0; attempt < 50; attempt++) {
      const peer = this.#random.below(nodes);
      if (peer !== node && this.#isListed[peer] === 1) return peer;
    }
    return undefined;
  }

  #send(from: number, to: number): void {
    this.#counts.requests++;
    this.#counts.bytes += this.#options.nodes * this.#options.digestBytes;
    this.queue.after(this.#delay(from, to), () => {
      if (!this.#isReachable(from, to)) {
        this.#counts.failedRequests++;
        return;
      }
      this.#renew(to);
      this.queue.after(this.#delay(from, to), () => {
        if (this.#isReachable(to, from)) this.#merge(from, to);
      });
    });
  }

  #isReachable(from: number, to: number): boolean {
    return this.isUp(to) && this.isUp(from) && this.#part[from] === this.#part[to];
  }

  #delay(from: number, to: number): number {
    const { latencyMs, slowMs } = this.#options;
    const slow = (this.#isSlow(from) ? slowMs : 0) + (this.#isSlow(to) ? slowMs : 0);
    return this.#random.waiting(latencyMs) + slow;
  }

  #isSlow(node: number): boolean {
    return node % 100 < this.#options.slowPercent;
  }

  /** What the source has newer, the target has, too. */
  #merge(target: number, source: number): void {
    const { entryBytes, nodes } = this.#options;
    const known = this.#row(target);
    const sent = this.#row(source);
    let newer = 0;
    for (let subject = 0; subject < nodes; subject++) {
      const version = sent[subject] as number;
      if (version > (known[subject] as number)) {
        known[subject] = version;
        newer++;
      }
    }
    this.#counts.entries += newer;
    this.#counts.bytes += newer * entryBytes;
  }
}

function newCounts(): ExchangeCounts {
  return { requests: 0, failedRequests: 0, bytes: 0, entries: 0 };
}
