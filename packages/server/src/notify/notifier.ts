import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalCluster } from '@porthole/cluster';
import type { NodePast } from '@porthole/cluster/past';
import {
  codeOf,
  EVENT_KINDS,
  EVENT_LEVELS,
  type EventKind,
  errorMessage,
  type FetchFunction,
  kindsQuery,
  type NodeEvent,
  toEvent,
} from '@porthole/contract';
import { type FollowItem, type FoundRecord, pause, replaceFile } from '@porthole/logs';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import { hasCode } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { Webhook } from '../settings/webhooks.ts';
import { createWebhookFetch, type Notification, type SendOutcome, sendWebhook } from './send-webhook.ts';

/** Between two attempts, doubling. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 300_000;

/** The receiver does not take this body, whenever it is sent; it may still be a mistake of a proxy. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const MAX_REFUSALS = 3;

/**
 * A node waits so long for the one that sends what concerns the cluster, which may just have died. More than a lease of the
 * registry and the time until a loss is known.
 */
const HELD_MS = 60_000;
const ASK_MS = 1000;

/** What closing waits for the request in flight. */
const CLOSE_MS = 1000;

export interface NotifierDeps {
  webhooks: readonly Webhook[];
  past: NodePast;
  /** Where the positions are; only the user of the node reads it. */
  dir: string;
  cluster: string;
  version: string;
  startedMs: number;
  /** Which node sends the events about members; `undefined`: this one. */
  senders(): Pick<LocalCluster['senders'], 'turn' | 'sent'> | undefined;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  firstWaitMs?: number;
  timeoutMs?: number;
}

/** How far the events were sent: after a record, or from a time on. */
interface Position {
  cursor?: string;
  timeMs: number;
}

/**
 * Sends the events of this node to webhooks, each at least once and in the order they were written. The log of events is the
 * queue: a file has the position of each webhook, and what was not sent when the node ended is sent when it starts.
 */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #closing = new AbortController();
  readonly #sending = new AbortController();
  #running: Owned[] = [NO_WORK];
  #lanes: Lane[] = [];

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  /** Begins in the background, as this member. */
  async start(node: string): Promise<void> {
    const { webhooks, log } = this.#deps;
    const fetch = await createWebhookFetch();
    const { signal } = this.#closing;
    this.#running = webhooks.flatMap((webhook) =>
      PARTS.flatMap(({ part, has }) => {
        const kinds = sentKinds(webhook).filter(has);
        if (kinds.length === 0) return [];
        const lane = new Lane({
          ...this.#deps,
          webhook,
          kinds,
          part,
          node,
          fetch,
          signal,
          sending: this.#sending.signal,
        });
        this.#lanes.push(lane);
        return owned(lane.run(), (error) =>
          log.error('notify', 'a webhook is not used', { error: errorMessage(error) }),
        );
      }),
    );
  }

  /** For `/health/ready`. */
  check(): { ok: boolean; detail: string } {
    const problem = this.#lanes.find((lane) => lane.problem !== undefined)?.problem;
    return { ok: problem === undefined, detail: problem ?? `events are sent to ${this.#deps.webhooks.length}` };
  }

  /** Lets the request in flight end, if it does so soon: it would be sent again by the next run. */
  async close(): Promise<void> {
    this.#closing.abort();
    const timer = setTimeout(() => this.#sending.abort(), CLOSE_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }
}

/** Events about members are seen by many nodes, of which one sends; all others are sent by the node they are about. */
const isAboutMember = (kind: EventKind) => kind.startsWith('member-');
const PARTS = [
  { part: 'own', has: (kind: EventKind) => !isAboutMember(kind) },
  { part: 'members', has: isAboutMember },
] as const;

const LEVELS = ['info', 'warn', 'error'];

function sentKinds({ kinds, level }: Webhook): EventKind[] {
  const asked: readonly EventKind[] = kinds.length > 0 ? kinds : EVENT_KINDS;
  const rankOf = (name: string) => LEVELS.indexOf(name.toLowerCase());
  return asked.filter((kind) => rankOf(EVENT_LEVELS[kind]) >= rankOf(level));
}

interface LaneDeps extends NotifierDeps {
  webhook: Webhook;
  kinds: readonly EventKind[];
  part: 'own' | 'members';
  node: string;
  fetch: FetchFunction;
  /** Ends the lane; and later, if need be, its request. */
  signal: AbortSignal;
  sending: AbortSignal;
}

/** The events of some kinds on their way to one webhook. */
class Lane {
  readonly #deps: LaneDeps;
  readonly #path: string;
  /** A new webhook gets what happens from the start of this node on. */
  #position: Position;
  #problem: string | undefined;
  /** Why the position is not on disk. */
  #diskProblem: string | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(deps: LaneDeps) {
    this.#deps = deps;
    this.#position = { timeMs: deps.startedMs };
    this.#path = join(deps.dir, `notify-${deps.webhook.name}-${deps.part}.json`);
  }

  /** Why events are not sent, or how far they were sent cannot be kept. */
  get problem(): string | undefined {
    const problem = this.#problem ?? this.#diskProblem;
    return problem && `webhook ${this.#deps.webhook.name}: ${problem}`;
  }

  async run(): Promise<void> {
    const { signal } = this.#deps;
    let isRead = false;
    while (!signal.aborted) {
      try {
        if (!isRead) await this.#resume();
        isRead = true;
        await this.#follow();
      } catch (error) {
        if (signal.aborted) return;
        if (codeOf(error) === 'CURSOR_GONE') await this.#reportSkipped();
        else this.#report(errorMessage(error));
      }
      await this.#pause(this.#deps.firstWaitMs ?? FIRST_WAIT_MS);
    }
  }

  /** A new position is written at once: what this run does not live to report, the next one does. */
  async #resume(): Promise<void> {
    const kept = await readPosition(this.#path);
    if (kept) this.#position = kept;
    else await this.#save(this.#position);
  }

  /** Until it is behind what is kept in memory: then it starts again, from the files. */
  async #follow(): Promise<void> {
    const { past, kinds, signal } = this.#deps;
    const { cursor, timeMs } = this.#position;
    const start = cursor === undefined ? { timeMs } : { cursor, sinceMs: timeMs };
    for await (const items of past.followEvents({ start, query: kindsQuery(kinds) }, { signal }))
      for (const item of items) {
        if (item.type === 'gap' && item.reason === 'slow') return;
        if (isLost(item)) await this.#reportSkipped();
        if (item.type === 'record') await this.#take(item);
      }
  }

  async #take(record: FoundRecord): Promise<void> {
    const event = toEvent(record);
    if (!event) return;
    const { node, cluster, part, webhook, signal } = this.#deps;
    const senders = part === 'members' ? this.#deps.senders() : undefined;
    const { member, run } = event.fields;
    const shared = `${event.kind} ${member} ${run}`;
    for (;;) {
      const turn = (await senders?.turn(webhook.name, shared)) ?? 'here';
      if (turn === 'here') {
        await this.#send({ id: eventId(node, event), cluster, node, event });
        senders?.sent(webhook.name, shared);
        break;
      }
      // Another node sends it. If that one is lost before it has, this one does.
      // clock: ages of events, which outlive the process
      if (turn === 'sent' || Date.now() - event.timeMs > HELD_MS) break;
      await this.#pause(ASK_MS);
      signal.throwIfAborted();
    }
    await this.#save({ cursor: record.cursor, timeMs: event.timeMs });
  }

  /** Until the receiver has it, or has refused it several times. */
  async #send(notification: Notification): Promise<void> {
    const { webhook, fetch, version, signal, sending, timeoutMs, firstWaitMs = FIRST_WAIT_MS } = this.#deps;
    const how = { fetch, version, signal: sending, ...(timeoutMs !== undefined && { timeoutMs }) };
    let refusals = 0;
    for (let failures = 0; ; failures++) {
      signal.throwIfAborted();
      const outcome: SendOutcome = await sendWebhook(webhook, notification, how);
      if (outcome.isDelivered) return this.#report(undefined);
      this.#report(outcome.detail);
      if (REFUSED.has(outcome.status ?? 0) && ++refusals === MAX_REFUSALS) {
        const { id, event } = notification;
        return this.#warn('an event was refused and is not sent', { id, kind: event.kind, detail: outcome.detail });
      }
      const waitMs = Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** Math.min(failures, 20));
      await this.#pause(Math.max(waitMs * (0.75 + Math.random() / 4), outcome.retryAfterMs ?? 0));
    }
  }

  /** Events were deleted before they could be sent: an event in their place says so. */
  async #reportSkipped(): Promise<void> {
    const { node, cluster } = this.#deps;
    const fromMs = this.#position.timeMs;
    // From the first that is still there.
    this.#position = { timeMs: 0 };
    const since = new Date(fromMs).toISOString();
    const message = `events since ${since} were deleted before they could be sent: events.max-size is full`;
    this.#warn(message, {});
    // clock: times of events
    const event = { kind: 'events-skipped', timeMs: Date.now(), level: 'WARN', message, fields: { fromMs } } as const;
    await this.#send({ id: `${node} skipped ${fromMs}`, cluster, node, event });
  }

  /** Never rejects: what a disk does not take now is tried again, and events are sent meanwhile. */
  async #save(position: Position): Promise<void> {
    this.#position = position;
    try {
      await replaceFile(this.#path, JSON.stringify(position));
      this.#diskProblem = undefined;
    } catch (error) {
      this.#diskProblem = `how far events were sent cannot be kept: ${errorMessage(error)}`;
      const again = () => this.#deps.signal.aborted || void this.#save(this.#position);
      clearTimeout(this.#again);
      this.#again = setTimeout(again, ASK_MS).unref();
    }
  }

  /** Once for each problem, and when it is over. */
  #report(problem: string | undefined): void {
    if (problem === this.#problem) return;
    if (problem !== undefined) this.#warn('events cannot be sent', { problem });
    else if (this.#problem !== undefined)
      this.#deps.log.info('notify', 'events are sent again', { webhook: this.#deps.webhook.name });
    this.#problem = problem;
  }

  #warn(message: string, context: Record<string, unknown>): void {
    this.#deps.log.warn('notify', message, { webhook: this.#deps.webhook.name, ...context });
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, this.#deps.signal, { ref: false });
  }
}

/** Of all of the event itself: where it is in a file changes with rotation, and with what is known of a short file. */
function eventId(node: string, { timeMs, kind, level, message, fields }: NodeEvent): string {
  const content = JSON.stringify([node, timeMs, kind, level, message, fields]);
  return `${node} ${new Date(timeMs).toISOString()} ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

/** Whether events are missing that no file has any more. */
function isLost(item: FollowItem): boolean {
  return item.type === 'gap' && item.reason !== 'slow';
}

async function readPosition(path: string): Promise<Position | undefined> {
  try {
    const { cursor, timeMs } = JSON.parse(await readFile(path, 'utf8')) as Partial<Position>;
    if (typeof timeMs !== 'number') return undefined;
    return { timeMs, ...(typeof cursor === 'string' && { cursor }) };
  } catch (error) {
    // It is replaced as a whole, so one that cannot be read was not written by this program.
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
