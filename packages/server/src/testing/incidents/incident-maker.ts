import type { EventKind } from '@porthole/contract';
import { seededRandom } from '@porthole/logs/testing';
import type { Incident, Truth } from './incident.ts';
import { type LineText, NodeScript } from './node-script.ts';
import { type PeriodicJob, SERVICES, type Service } from './services.ts';
import { Words } from './words.ts';

const MINUTE_MS = 60_000;

/** A Tuesday; each seed has an hour of its own. */
const FIRST_MS = Date.parse('2026-03-03T00:00:00Z');

/** How a scenario writes what goes wrong, on top of what is usual. */
export class IncidentMaker {
  readonly words: Words;
  /** The hour that is asked about. */
  readonly fromMs: number;
  readonly toMs: number;
  /** When the logs begin. */
  readonly pastMs: number;
  readonly nodes: NodeScript[] = [];
  #service: Service = SERVICES.storage;

  constructor(seed: number) {
    this.words = new Words(seededRandom(seed * 7919 + 17));
    const startMs = FIRST_MS + (seed % 500) * 13 * 3_600_000 + this.words.int(0, 3_600_000);
    this.toMs = startMs + 60 * MINUTE_MS;
    this.fromMs = startMs;
    this.pastMs = this.toMs - this.words.int(88, 124) * MINUTE_MS;
  }

  /** A cluster whose nodes have been running for hours or days, the last one perhaps not. */
  cluster(name: keyof typeof SERVICES, count: number, { lastStartsMs }: { lastStartsMs?: number } = {}): NodeScript[] {
    const service = SERVICES[name];
    this.#service = service;
    for (let number = 1; number <= count; number++) {
      const node = new NodeScript({ ...service, id: `${service.name}-${number}`, words: this.words });
      const longAgoMs = this.pastMs - this.words.int(200, 200_000) * 1000;
      node.begin(number === count ? (lastStartsMs ?? longAgoMs) : longAgoMs);
      this.nodes.push(node);
    }
    return this.nodes;
  }

  /** A time between these minutes of the hour. */
  at(fromMinute: number, toMinute: number): number {
    return Math.round(this.fromMs + (fromMinute + this.words.random() * (toMinute - fromMinute)) * MINUTE_MS);
  }

  /** After this many seconds, more or less. */
  after(timeMs: number, fromSeconds: number, toSeconds = fromSeconds * 1.3): number {
    return Math.round(timeMs + (fromSeconds + this.words.random() * (toSeconds - fromSeconds)) * 1000);
  }

  one(nodes: readonly NodeScript[] = this.nodes): NodeScript {
    return this.words.pick(nodes);
  }

  others(node: NodeScript): NodeScript[] {
    return this.nodes.filter((other) => other !== node);
  }

  /** Calls at random times; `perMinute` may depend on how much of the range has passed, from 0 to 1. */
  during(
    [fromMs, toMs]: readonly [number, number],
    perMinute: number | ((share: number) => number),
    write: (timeMs: number) => void,
  ): void {
    const rateAt = typeof perMinute === 'number' ? () => perMinute : perMinute;
    const most = Math.max(...[0, 0.25, 0.5, 0.75, 1].map(rateAt));
    for (let timeMs = fromMs; most > 0; ) {
      timeMs += this.words.gap(MINUTE_MS / most);
      if (timeMs >= toMs) return;
      if (this.words.random() * most < rateAt((timeMs - fromMs) / (toMs - fromMs))) write(Math.round(timeMs));
    }
  }

  /** The same line at random times. */
  repeat(
    node: NodeScript,
    range: readonly [number, number],
    perMinute: number | ((share: number) => number),
    line: LineText,
    known: Readonly<Record<string, string>> = {},
  ): void {
    this.during(range, perMinute, (timeMs) => node.line(timeMs, line, known));
  }

  /** A member that was there does not respond; each of the nodes notices by itself. */
  seenLost(nodes: readonly NodeScript[], about: NodeScript, timeMs: number, why = 'connection refused'): void {
    for (const node of nodes) {
      const firstFailureMs = this.after(timeMs, 0.1, 3);
      const lastSignMs = timeMs - this.words.int(10, 2000);
      const uncertaintyMs = firstFailureMs - lastSignMs;
      const fields = { firstFailureMs, lastSignMs, uncertaintyMs, why };
      this.#seen(node, 'member-lost', about, {
        timeMs: firstFailureMs,
        message: `${about.id} was lost: ${why}`,
        fields,
      });
    }
  }

  /** A member responds again; `awaySinceMs` is when it was last heard of. */
  seenBack(nodes: readonly NodeScript[], about: NodeScript, timeMs: number, awaySinceMs: number): void {
    const isRestarted = about.run > awaySinceMs;
    for (const node of nodes) {
      const seenMs = this.after(timeMs, 0.2, 4);
      const awayMs = seenMs - awaySinceMs;
      const after = `after ${(awayMs / 1000).toFixed(1)} s`;
      const message = isRestarted
        ? `${about.id} is back ${after}: it was restarted`
        : `${about.id} responds again ${after}`;
      const fields = { isRestarted, awayMs, lastSignMs: awaySinceMs };
      this.#seen(node, 'member-back', about, { timeMs: seenMs, message, fields });
    }
  }

  seenJoined(nodes: readonly NodeScript[], about: NodeScript, timeMs: number): void {
    for (const node of nodes)
      this.#seen(node, 'member-joined', about, {
        timeMs: this.after(timeMs, 0.2, 4),
        message: `${about.id} joined`,
        fields: {},
      });
  }

  /** The node is stopped and started, as the others see it too; returns when it is back. */
  restart(
    node: NodeScript,
    stopMs: number,
    { downSeconds, version }: { downSeconds: readonly [number, number]; version?: string },
  ): number {
    const others = this.others(node);
    node.stop(stopMs);
    for (const other of others)
      this.#seen(other, 'member-left', node, {
        timeMs: this.after(stopMs, 0, 1),
        message: `${node.id} left: it was stopped`,
        fields: { lastSignMs: stopMs - this.words.int(0, 1000) },
      });
    const backMs = this.after(stopMs, ...downSeconds);
    node.start(backMs, version === undefined ? {} : { version });
    this.seenBack(others, node, backMs, stopMs);
    return backMs;
  }

  #seen(
    node: NodeScript,
    kind: EventKind,
    about: NodeScript,
    { timeMs, message, fields }: { timeMs: number; message: string; fields: Readonly<Record<string, unknown>> },
  ): void {
    if (node.isDownAt(timeMs)) return;
    const cause = `${kind} ${about.id} ${about.run} ${timeMs}`;
    node.event(timeMs, kind, message, { member: about.id, run: about.run, ...fields, cause });
  }

  /** Adds what is usual and returns the whole. */
  finish(name: string, seed: number, truth: Truth): Incident {
    for (const node of this.nodes) this.#addUsual(node);
    // Not every node watches its logs.
    if (this.words.random() < 0.4) for (const node of this.nodes) node.watchErrors(this.pastMs);
    const { fromMs, toMs } = this;
    return { name, seed, fromMs, toMs, nodes: this.nodes.map((node) => node.finish()), truth };
  }

  #addUsual(node: NodeScript): void {
    const { words } = this;
    const { usual, rare, jobs } = this.#service;
    const whole = [this.pastMs, this.toMs] as const;
    const waves = this.#waves();
    for (const line of usual) {
      // No two nodes have the same load.
      const perMinute = line.perMinute * (0.7 + 0.6 * words.random());
      this.during(whole, perMinute * 4, (timeMs) => {
        if (words.random() * 4 < waves(timeMs) * node.rateAt(timeMs)) node.line(timeMs, line);
      });
    }
    for (const line of rare) this.repeat(node, whole, words.random() * 0.02, line);
    for (const job of jobs) this.#addJob(node, job);
  }

  /** Traffic rises and falls, and sometimes comes in a burst of a minute or two. */
  #waves(): (timeMs: number) => number {
    const { words } = this;
    const phase = words.random() * 6.28;
    const periodMs = words.int(20, 70) * MINUTE_MS;
    const bursts = Array.from({ length: words.int(0, 4) }, () => {
      const fromMs = this.pastMs + words.random() * (this.toMs - this.pastMs);
      return { fromMs, toMs: fromMs + words.int(20, 110) * 1000, factor: 1.6 + words.random() * 1.6 };
    });
    return (timeMs) => {
      const burst = bursts.find(({ fromMs, toMs }) => timeMs >= fromMs && timeMs < toMs);
      return (1 + 0.25 * Math.sin(phase + (6.28 * timeMs) / periodMs)) * (burst?.factor ?? 1);
    };
  }

  #addJob(node: NodeScript, { everyMinutes, repeats, first, middle, last }: PeriodicJob): void {
    const { words } = this;
    const offsetMs = words.random() * everyMinutes * MINUTE_MS;
    for (let startMs = this.pastMs + offsetMs; startMs < this.toMs; startMs += everyMinutes * MINUTE_MS) {
      let timeMs = startMs + words.int(0, 1500);
      if (timeMs + repeats[1] * 900 + 400 >= this.toMs) return;
      node.line(timeMs, first);
      for (let left = words.int(...repeats); left > 0; left--) {
        timeMs += words.int(40, 900);
        node.line(timeMs, middle);
      }
      node.line(timeMs + words.int(10, 400), last);
    }
  }
}
