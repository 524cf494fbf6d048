import { eventually, scaled } from '@porthole/logs/testing';
import { expect } from 'vitest';
import { seededRandom } from '../../test/fuzz/testing/fuzz.ts';
import { AttackedNode } from './attacked-node.ts';
import type { Fault, FaultyServer } from './faulty-server.ts';
import { type Call, Callers, type Check, everyCall, GrpcCallers } from './random-calls.ts';

const { SEED = '20261115' } = process.env;
const FIRST_SEED = SEED === 'random' ? Math.floor(Math.random() * 2 ** 32) : Number(SEED);

/** Short, so that what is silent costs little. */
const SETTINGS = {
  'cluster.node-id': 'asked',
  'cluster.member-timeout': '400ms',
  'cluster.first-batch-timeout': '200ms',
  'cluster.refresh': '500ms',
  'http.answer-timeout': '4s',
  // Longer than clients of a busy machine are kept from reading.
  'http.stall-timeout': '10s',
  'http.max-streams': '2000',
  'search.budget': '1s',
  'bundle.timeout': '2s',
  'mcp.enabled': 'true',
  'node.time-zone': 'UTC',
};

/** Enough to keep two cores busy, and to have what stalls over soon. */
const CALLERS = 16;

/** How often a call of anything is made between those that lead to the faults. */
const OTHERS_EVERY = 8;

/** A client that leaves does so within this time of its request; within so much more after every so many requests. */
const LEAVES_MS = 25;
const CALLS_PER_PATIENCE = 200;

/** Only a test that fails takes so long: a fault that nothing leads to. */
const DEAL_ALL_MS = scaled(60_000);

/** What is still open when all is over: connections that are kept for the next request, files that are kept open. */
const KEPT_FILES = 16;

/** Resident memory also has what is not collected yet. */
const MAX_GROWTH_MIB = 160;

const SHOWN_TROUBLES = 10;

export interface FaultWorldOptions {
  isEmbedded: boolean;
  settings: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  /** What it connects to. */
  faulty: readonly FaultyServer[];
  /** Members that it is asked for. */
  members: readonly string[];
  headers?: readonly string[];
  check?: Check;
}

interface Calling {
  /** The calls that lead to what is to happen. */
  through: RegExp;
  /** How many of the clients leave early. */
  leaves?: number;
}

export interface Injection extends Calling {
  server: FaultyServer;
  faults: readonly Fault[];
  /** The requests to the server that are answered with them. */
  on: RegExp;
}

/** Calls that lead to something that is to happen, until it has. */
interface Leading {
  calls: readonly Call[];
  leaves: number;
  isOver(): boolean;
}

/** A node, the servers around it that send nonsense, and clients that leave. */
export class FaultWorld {
  readonly node: AttackedNode;
  readonly calls: readonly Call[];
  readonly #faulty: readonly FaultyServer[];
  readonly #isEmbedded: boolean;
  readonly #callers: readonly Callers[];
  #grpc: GrpcCallers | undefined;
  #files = 0;
  #residentMib = 0;

  private constructor(node: AttackedNode, { isEmbedded, members, faulty, headers, check }: FaultWorldOptions) {
    this.node = node;
    this.#faulty = faulty;
    this.#isEmbedded = isEmbedded;
    this.calls = everyCall(members);
    const target = { port: node.port, base: isEmbedded ? '/ops' : '', ...(headers && { headers }) };
    this.#callers = Array.from(
      { length: CALLERS },
      (_, index) => new Callers(target, seededRandom(FIRST_SEED + index), check ?? (() => {})),
    );
  }

  /** Everything is called once before anything is measured: code is loaded, threads run. */
  static async start(options: FaultWorldOptions): Promise<FaultWorld> {
    const { isEmbedded, files, settings } = options;
    const env = toEnv({ ...SETTINGS, ...settings });
    const world = new FaultWorld(await AttackedNode.start({ files, env, isEmbedded }), options);
    // An embedded node has no port for it; with credentials, HTTP is enough to try them.
    if (!isEmbedded && !options.headers)
      world.#grpc = new GrpcCallers(await world.node.grpcPort(), seededRandom(FIRST_SEED));
    const waiting = world.calls.values();
    await world.#inTurns(async (callers) => {
      for (const call of waiting) await callers.call([call], { leaves: 0, mostMs: 0 });
    });
    world.#expectAlive();
    world.#files = world.node.openFiles;
    world.#residentMib = world.node.residentMib;
    return world;
  }

  /** Calls what leads to the faults until all are dealt, those of all injections side by side. */
  async inject(...injections: readonly Injection[]): Promise<void> {
    const plans = injections.map(({ server, faults, on, ...calling }) => {
      const plan = server.plan(({ method, url = '' }) => method !== 'HEAD' && on.test(decodeURIComponent(url)), faults);
      return { ...this.#leadBy(calling, () => plan.left() === 0), calling, left: () => plan.left() };
    });
    await this.#callUntilOver(plans);
    for (const { calling, left } of plans) expect(left(), `faults that no call of ${calling.through} led to`).toBe(0);
  }

  /** Calls these and, now and then, everything else, until it is over. */
  async callUntil(isOver: () => boolean, calling: Calling): Promise<void> {
    await this.#callUntilOver([this.#leadBy(calling, isOver)]);
  }

  #leadBy({ through, leaves = 0.3 }: Calling, isOver: () => boolean): Leading {
    return { calls: this.calls.filter(({ name }) => through.test(name)), leaves, isOver };
  }

  /** All transports are called, by turns what leads to each thing that is left; some of the clients leave early. */
  async #callUntilOver(all: readonly Leading[]): Promise<void> {
    const giveUpAt = performance.now() + DEAL_ALL_MS;
    let count = 0;
    await this.#inTurns(async (callers) => {
      while (!this.node.program.hasEnded && performance.now() < giveUpAt) {
        const left = all.filter(({ isOver }) => !isOver());
        const turn = count++;
        const leading = left[turn % left.length];
        if (!leading) return;
        const { calls, leaves } = leading;
        // On a busy machine a node gets to a server later than the first clients wait for it.
        const mostMs = LEAVES_MS * (1 + Math.floor(turn / CALLS_PER_PATIENCE));
        if (turn % OTHERS_EVERY > 0) await callers.call(calls, { leaves, mostMs });
        else await callers.call(this.calls, { leaves: Math.max(leaves, 0.5), most: 4, mostMs });
        if (turn % OTHERS_EVERY === 1) await this.#grpc?.call();
      }
    });
    this.#expectAlive();
  }

  /** After the faults: nothing was harmed, nothing was said that is not so, and nothing is left of them. */
  async expectUnharmed(): Promise<void> {
    for (const server of this.#faulty) server.mend();
    this.#expectAlive();
    const { node } = this;
    await eventually(async () => {
      expect(await node.metric('porthole_open_streams')).toBe(0);
      expect(node.openFiles).toBeLessThan(this.#files + KEPT_FILES);
      for (const { connections } of this.#faulty) expect(connections).toBeLessThan(KEPT_FILES);
    });
    expect(node.residentMib - this.#residentMib).toBeLessThan(MAX_GROWTH_MIB);
    expect((await node.request('metrics')).text).not.toMatch(/^porthole_request_faults_total.* [1-9]/m);
    expect(node.ownLines.filter((line) => /uncaught|unhandled|crash/i.test(line))).toEqual([]);
    if (this.#isEmbedded) expect(await (await fetch(new URL('/', node.url))).text()).toBe('the shop\n');
    this.#expectAlive();
    await node.expectHealthy();
  }

  #expectAlive(): void {
    const recent = () => this.#faulty.flatMap((server) => server.recent).join('\n');
    const { program } = this.node;
    if (program.hasEnded || program.stderr !== '')
      throw new Error(`${program.hasEnded ? 'it has ended' : 'it complains'}: ${program.stderr}\nafter\n${recent()}`);
    const troubles = [...this.#callers, this.#grpc].flatMap((callers) => callers?.troubles ?? []);
    expect(troubles.slice(0, SHOWN_TROUBLES), `${troubles.length} in all`).toEqual([]);
  }

  async #inTurns(work: (callers: Callers) => Promise<void>): Promise<void> {
    await Promise.all(this.#callers.map(work));
  }
}

function toEnv(settings: Readonly<Record<string, string>>): Record<string, string> {
  const variable = (key: string) => `PORTHOLE_${key.replace(/[.-]/g, '_').toUpperCase()}`;
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [variable(key), value]));
}
