import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemberTable } from './member-table.ts';
import { readDigest, readExchange } from './read-exchange.ts';
import { fakeSample } from './testing/sample.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

const FRESH_MS = 500;
const IDS = ['a', 'b', 'c', 'd'];

/** What is sent is text. */
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

interface Exchange {
  from: World['nodes'][number];
  to: World['nodes'][number];
  run: number;
  sentMs: number;
  digest: unknown;
  answer?: { response: unknown; known: Map<string, number> };
}

/** A node with clocks of its own, and what has reached it at most, by the true time. */
class SimulatedNode {
  readonly id: string;
  /** Its monotonic clock and its time of day, each compared with the true time. */
  readonly monotonicMs: number;
  readonly clockMs: number;
  run = 1000;
  table: MemberTable;
  /** The true time of the newest that can have reached this node from each. */
  known = new Map<string, number>();
  /** The true times of the signs of life it has of each. */
  madeMs = new Map<string, number>();

  constructor(id: string, place: number) {
    this.id = id;
    this.monotonicMs = place * 1_000_003;
    this.clockMs = 1_700_000_000_000 + place * 7_777;
    this.table = this.#newTable();
  }

  restart(runChange: number): void {
    this.run = Math.max(1, this.run + runChange);
    this.table = this.#newTable();
    this.known = new Map();
    this.madeMs = new Map();
  }

  #newTable(): MemberTable {
    const table = new MemberTable({ selfId: this.id, run: this.run, freshMs: () => FRESH_MS, failedMs: FRESH_MS });
    table.setMembers(IDS);
    return table;
  }
}

/** Nodes that exchange what they know, with delays, losses, restarts and partitions; and a record of what is true. */
class World {
  readonly nodes = IDS.map((id, place) => new SimulatedNode(id, place));
  readonly exchanges: Exchange[] = [];
  /** The true time of each sign of life. */
  readonly made = new Map<string, number>();
  timeMs = 0;
  split = 0;

  node(place: number): SimulatedNode {
    return this.nodes[place % this.nodes.length] as SimulatedNode;
  }

  beat(node: SimulatedNode): void {
    node.table.beat({ nowMs: this.timeMs + node.monotonicMs, clockMs: this.timeMs + node.clockMs });
    node.table.publish(fakeSample({ uptimeMs: this.timeMs }), this.timeMs + node.monotonicMs);
    this.made.set(`${node.id} ${node.run} ${node.table.get(node.id)?.beat}`, this.timeMs);
    node.known.set(node.id, this.timeMs);
  }

  send(from: SimulatedNode, to: SimulatedNode): void {
    const sentMs = this.timeMs + from.monotonicMs;
    if (from !== to) this.exchanges.push({ from, to, run: from.run, sentMs, digest: throughJson(from.table.digest()) });
  }

  answer(exchange: Exchange): void {
    const { from, to, digest } = exchange;
    const side = (node: SimulatedNode) => (this.split >> IDS.indexOf(node.id)) & 1;
    if (exchange.answer || side(from) !== side(to)) return;
    this.beat(to);
    const response = to.table.respond(readDigest(digest), this.timeMs + to.monotonicMs);
    exchange.answer = { response: throughJson(response), known: new Map(to.known) };
  }

  receive(exchange: Exchange): void {
    const { from, to, run, sentMs, answer } = exchange;
    this.exchanges.splice(this.exchanges.indexOf(exchange), 1);
    if (!answer || from.run !== run) return;
    from.table.merge(readExchange(answer.response), { from: to.id, sentMs, nowMs: this.timeMs + from.monotonicMs });
    for (const [id, timeMs] of answer.known) from.known.set(id, Math.max(timeMs, from.known.get(id) ?? -Infinity));
    this.check(from);
  }

  /** Nothing older than before, no age too young, and no clock outside of its bounds. */
  check(node: SimulatedNode): void {
    for (const row of node.table.rows()) {
      if (row.beat === 0 || row.id === node.id) continue;
      const madeMs = this.made.get(`${row.id} ${row.run} ${row.beat}`) ?? Number.NaN;
      expect(madeMs).toBeGreaterThanOrEqual(node.madeMs.get(row.id) ?? -Infinity);
      node.madeMs.set(row.id, madeMs);
      const aliveMs = row.aliveMs - node.monotonicMs;
      expect(aliveMs).toBeLessThanOrEqual(node.known.get(row.id) ?? -Infinity);
      const shownMs = row.clockMs - (this.nodes.find(({ id }) => id === row.id)?.clockMs ?? 0);
      expect(shownMs).toBeGreaterThanOrEqual(aliveMs);
      expect(shownMs).toBeLessThanOrEqual(aliveMs + row.slackMs);
      // A sample says when it was made: it is at least as old as the table says.
      if (row.sample) expect(row.sample.atMs - node.monotonicMs).toBeLessThanOrEqual(row.sample.value.uptimeMs ?? 0);
    }
  }

  exchangeAtOnce(from: SimulatedNode, to: SimulatedNode): void {
    this.send(from, to);
    const exchange = this.exchanges.at(-1);
    if (!exchange || exchange.from !== from) return;
    this.timeMs += 3;
    this.answer(exchange);
    this.timeMs += 2;
    this.receive(exchange);
  }
}

type Step = (world: World) => void;

const place = fc.nat({ max: 11 });
const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % Math.max(1, items.length)];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.nat({ max: 200 }).map(
    (ms): Step =>
      (world) => {
        world.timeMs += ms;
      },
  ),
  place.map(
    (at): Step =>
      (world) =>
        world.beat(world.node(at)),
  ),
  fc.tuple(place, place).map(
    ([a, b]): Step =>
      (world) =>
        world.send(world.node(a), world.node(b)),
  ),
  place.map(
    (at): Step =>
      (world) => {
        const exchange = pick(world.exchanges, at);
        if (exchange) world.answer(exchange);
      },
  ),
  place.map(
    (at): Step =>
      (world) => {
        const exchange = pick(world.exchanges, at);
        if (exchange) world.receive(exchange);
      },
  ),
  fc.tuple(place, place).map(
    ([a, b]): Step =>
      (world) =>
        world.exchangeAtOnce(world.node(a), world.node(b)),
  ),
  fc.nat({ max: 15 }).map(
    (split): Step =>
      (world) => {
        world.split = split;
      },
  ),
  // A clock that was set back makes the number of a run smaller; no two runs have the same.
  fc.tuple(place, fc.integer({ min: -50, max: 50 })).map(
    ([at, change]): Step =>
      (world) => {
        const node = world.node(at);
        node.restart(change * 1000 + (world.made.size % 997) + 1);
      },
  ),
);

describe('tables that exchange what they know', () => {
  it('never take over an older sign of life, know no age too young, and agree in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const world = new World();
        for (const act of steps) act(world);
        // Everything works again: after a while all know the last run of each.
        world.split = 0;
        world.exchanges.length = 0;
        for (let round = 0; round < 12; round++) {
          world.timeMs += FRESH_MS;
          for (const [at, node] of world.nodes.entries()) {
            world.beat(node);
            world.exchangeAtOnce(node, world.node(at + 1 + (round % (IDS.length - 1))));
          }
        }
        for (const node of world.nodes) {
          for (const { id, run } of world.nodes) {
            const row = node.table.get(id);
            expect({ id, run: row?.run, sampleRun: row?.sample?.run }).toEqual({ id, run, sampleRun: run });
            expect(world.timeMs + node.monotonicMs - (row?.aliveMs ?? -Infinity)).toBeLessThan(8 * FRESH_MS);
          }
        }
      }),
      { numRuns: 60 * MORE },
    );
  });
});
