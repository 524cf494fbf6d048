import type { ExchangeRequest, ExchangeResponse } from '@porthole/contract';

/** As a thousand members do it: rounds of exchanges, and a new sample of each in a refresh interval. */
const ROUND_MS = 6000;
const REFRESH_MS = 30_000;
const EXCHANGES = 3;

/** What a member knows of another one has come through up to three others, a round for each. */
const HOPS = 4;

/** A member as the others know it. */
export interface KnownMember {
  id: string;
  url: string;
}

/** What simulated members tell each other: all take part and are well, and news takes a few rounds to reach a member. */
export class FakeExchange {
  readonly #members: readonly KnownMember[];
  readonly #startedMs: number;

  /** `startedMs`: of all of them. */
  constructor(members: readonly KnownMember[], startedMs: number) {
    this.#members = members;
    this.#startedMs = startedMs;
  }

  /** The response of the member with this number. */
  respond(self: number, { have }: ExchangeRequest): ExchangeResponse {
    const theirs = new Map<unknown, (string | number)[]>();
    for (let at = 0; at + 4 <= have.length; at += 4) theirs.set(have[at], have.slice(at + 1, at + 4));
    const response: ExchangeResponse = { beats: [], entries: [], failing: [] };
    const nowMs = Date.now();
    const run = this.#startedMs;
    for (const [number, { id }] of this.#members.entries()) {
      const lagMs = number === self ? 0 : hops(number, self) * ROUND_MS;
      const { beat, seq, ageMs } = this.#countsOf(number, nowMs - lagMs);
      if (beat < 1) continue;
      const [theirRun, theirBeat = 0, theirSeq = 0] = theirs.get(id) ?? [];
      const isNew = theirRun !== run;
      const aliveMs = number === self ? 0 : lagMs + ageMs;
      if (isNew || beat > Number(theirBeat) || number === self)
        response.beats.push(id, run, beat, aliveMs, 3, nowMs - aliveMs, 0);
      if (isNew || seq > Number(theirSeq))
        response.entries.push({ id, run, seq, ageMs: aliveMs, sample: this.#sample(number, nowMs) });
    }
    return response;
  }

  /** Requests from the node what it knows, as often as it would be asked by as many real members. Does not keep the process alive. */
  askNode(url: string): void {
    let asked = 0;
    const ask = async () => {
      const response = await fetch(`${url}/api/v1/cluster/exchange`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'porthole-via': this.#members[0]?.id ?? '',
          'accept-encoding': 'identity',
        },
        body: JSON.stringify(this.#digest(asked++)),
      });
      await response.arrayBuffer();
    };
    // The node may be stopped at any time.
    setInterval(() => void ask().catch(() => {}), ROUND_MS / EXCHANGES).unref();
  }

  #digest(self: number): ExchangeRequest {
    const nowMs = Date.now();
    const have = this.#members.flatMap(({ id }, number) => {
      const { beat, seq } = this.#countsOf(number, nowMs - hops(number, self) * ROUND_MS);
      return beat < 1 ? [] : [id, this.#startedMs, beat, seq];
    });
    return { have };
  }

  /** Each renews its state at another time of the round. */
  #countsOf(number: number, atMs: number): { beat: number; seq: number; ageMs: number } {
    const sinceMs = atMs - this.#startedMs + ((number * 7919) % ROUND_MS);
    const seq = Math.floor((atMs - this.#startedMs + ((number * 104_729) % REFRESH_MS)) / REFRESH_MS) + 1;
    return { beat: Math.floor(sinceMs / ROUND_MS) + 1, seq, ageMs: sinceMs % ROUND_MS };
  }

  #sample(number: number, nowMs: number): ExchangeResponse['entries'][number]['sample'] {
    const { id, url } = this.#members[number] as KnownMember;
    const address = { hostIp: '127.0.0.1', hostName: id, grpcPort: 0, httpPort: Number(new URL(url).port) };
    return {
      node: { ...address, version: '0.1.0', onlineTime: this.#startedMs },
      role: 'broker',
      labels: {},
      timeZone: 'UTC',
      uptimeMs: nowMs - this.#startedMs,
      lastRecordAgeMs: 1200,
      recentErrors: number % 5,
      problems: [],
    };
  }
}

function hops(number: number, self: number): number {
  return (number * 31 + self * 17) % HOPS;
}
