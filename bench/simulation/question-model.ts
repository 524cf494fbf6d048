import { EventQueue } from './event-queue.ts';
import { SeededRandom } from './random.ts';

/** One request to all members, directly or through helpers. */
export interface QuestionOptions {
  members: number;
  seed: number;
  /** Members of a group; 0: every member is contacted directly. */
  groupSize: number;
  /** Members that a node contacts at a time. */
  maxParallel: number;
  /** CPU time of the sender of a request: sending it, reading the response, merging its first records. */
  senderMs: number;
  /** CPU time of a helper's response at the node that asked it, for each member of the group. */
  groupMs: number;
  /** Until a member has its first records: mean of an exponential distribution. */
  serveMs: number;
  latencyMs: number;
  /** Of so many members in a hundred, a response takes so much longer. */
  slowPercent: number;
  slowMs: number;
  /** So many in a thousand do not respond, and nobody knows that yet. */
  silentPerMille: number;
  /** Of a member, and until a silent helper is replaced. */
  deadlineMs: number;
  helperDeadlineMs: number;
}

export interface QuestionResult {
  /** Until all members have sent their first records or were given up. */
  firstRecordMs: number;
  requests: number;
  /** Most that one node had open at a time. */
  connections: number;
  /** Members of which there is no response. */
  missing: number;
}

/** One thread: what it has to do is done one after the other. */
class Cpu {
  readonly #queue: EventQueue;
  #freeMs = 0;

  constructor(queue: EventQueue) {
    this.#queue = queue;
  }

  run(durationMs: number, then: () => void): void {
    this.#freeMs = Math.max(this.#freeMs, this.#queue.nowMs) + durationMs;
    this.#queue.after(this.#freeMs - this.#queue.nowMs, then);
  }
}

export function simulateQuestion(options: QuestionOptions): QuestionResult {
  return new Question(options).run();
}

class Question {
  readonly #options: QuestionOptions;
  readonly #queue = new EventQueue();
  readonly #random: SeededRandom;
  readonly #result: QuestionResult = { firstRecordMs: 0, requests: 0, connections: 0, missing: 0 };

  constructor(options: QuestionOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  run(): QuestionResult {
    const { members, groupSize } = this.#options;
    const all = Array.from({ length: members }, (_, member) => member);
    const asker = new Cpu(this.#queue);
    const finish = () => {
      this.#result.firstRecordMs = this.#queue.nowMs;
    };
    if (groupSize === 0) this.#askMembers(asker, all, finish);
    else this.#askGroups(asker, all, finish);
    this.#queue.runUntil(Number.MAX_SAFE_INTEGER);
    return this.#result;
  }

  #askMembers(cpu: Cpu, members: readonly number[], done: () => void): void {
    this.#inParallel(members, done, (member, next) => {
      cpu.run(this.#options.senderMs / 2, () => {
        this.#respond(member, this.#options.deadlineMs, (hasResponded) => {
          if (!hasResponded) this.#result.missing++;
          cpu.run(hasResponded ? this.#options.senderMs / 2 : 0, next);
        });
      });
    });
  }

  #askGroups(asker: Cpu, members: readonly number[], done: () => void): void {
    const { groupSize, groupMs, senderMs } = this.#options;
    const groups: number[][] = [];
    for (let at = 0; at < members.length; at += groupSize) groups.push(members.slice(at, at + groupSize));
    this.#inParallel(groups, done, (group, next) => {
      const answered = () => asker.run(senderMs / 2 + groupMs * group.length, next);
      this.#askHelper(asker, group, 0, answered);
    });
  }

  /** Tries members of the group in turn until one helps. */
  #askHelper(asker: Cpu, group: readonly number[], attempt: number, done: () => void): void {
    const helper = group[this.#random.below(group.length)] ?? 0;
    if (attempt >= 2) {
      this.#askMembers(asker, group, done);
      return;
    }
    asker.run(this.#options.senderMs / 2, () => {
      this.#respond(helper, this.#options.helperDeadlineMs, (hasResponded) => {
        if (hasResponded) this.#askMembers(new Cpu(this.#queue), group, done);
        else this.#askHelper(asker, group, attempt + 1, done);
      });
    });
  }

  #respond(member: number, deadlineMs: number, done: (hasResponded: boolean) => void): void {
    const { latencyMs, serveMs, slowMs } = this.#options;
    this.#result.requests++;
    if (this.#isSilent(member)) {
      this.#queue.after(deadlineMs, () => done(false));
      return;
    }
    const network = this.#random.waiting(latencyMs) + this.#random.waiting(latencyMs);
    const tookMs = network + this.#random.waiting(serveMs) + (this.#isSlow(member) ? slowMs : 0);
    this.#queue.after(Math.min(tookMs, deadlineMs), () => done(tookMs <= deadlineMs));
  }

  /** Spread over all groups. */
  #isSlow(member: number): boolean {
    return (member * 37) % 100 < this.#options.slowPercent;
  }

  #isSilent(member: number): boolean {
    return (member * 373) % 1000 < this.#options.silentPerMille;
  }

  #inParallel<T>(items: readonly T[], done: () => void, start: (item: T, next: () => void) => void): void {
    let started = 0;
    let finished = 0;
    const next = () => {
      finished++;
      if (finished === items.length) done();
      else begin();
    };
    const begin = () => {
      const item = items[started];
      if (item === undefined) return;
      started++;
      start(item, next);
    };
    const width = Math.min(items.length, this.#options.maxParallel);
    this.#result.connections = Math.max(this.#result.connections, items.length);
    for (let count = 0; count < width; count++) begin();
  }
}
