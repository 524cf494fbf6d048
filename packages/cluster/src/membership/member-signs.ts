import { codeOf, errorMessage } from '@porthole/contract';
import { owned } from '@porthole/logs/shared';

/** How often the members are checked, and this process itself. */
const TICK_MS = 500;

/** A member without a sign of life for so long is asked, and so is one that is lost. Others log each request: less often. */
const QUIET_MS = 2500;
const SPARED_MS = 15_000;

/** How long one contact may take, and the pause before the next one. */
const CONTACT_MS = 2000;
const AGAIN_MS = 500;

/** A member is lost when so many contacts in a row have failed, over at least so long. */
const MISSES = 3;
const SURE_MS = 2000;

/** The same where contacts get no response at all: a machine that is very busy, or was stopped for a moment, sends none either. */
const SILENT_MS = 15_000;

/** A member that first responds later than this after the start of this node was not there before it. */
const JOINING_MS = 10_000;

/** This process did nothing for so long: it was stopped, the machine slept, or its clock was set. What failed meanwhile says nothing. */
const PAUSE_MS = 2000;

/** After that, a network may take a while to be back. */
const AFTER_PAUSE_MS = 15_000;

/** What arrived meanwhile is read then, and is as old as the pause. */
const BACKLOG_MS = 250;

/** More than the members of any cluster; those that are gone are forgotten first. */
const MAX_MEMBERS = 20_000;

/** An event about a member, as this node writes it to its log of events. */
export interface MemberEvent {
  kind: 'member-joined' | 'member-left' | 'member-lost' | 'member-back';
  timeMs: number;
  message: string;
  /** The same for the same event: it is written once. */
  cause: string;
  fields: Readonly<Record<string, unknown>>;
}

/** When a member was lost: after the last sign of life, and not after the first contact that failed. */
export interface Loss {
  lastSignMs: number;
  firstFailureMs: number;
}

/** A member of the list, with the start of its run; 0 if that is not known. */
export interface ListedMember {
  run: number;
  /** Whether it was not listed before. */
  isNew: boolean;
  /** Whether this node contacts it. */
  isContacted: boolean;
  /** Whether it logs every request, like LinDB: it is contacted less often. */
  isSpared?: boolean;
}

export interface MemberSignsDeps {
  /**
   * Asks the member for something small. Resolves with the start of its run, 0 if it does not say; rejects without a response
   * within the time.
   */
  contact(id: string, options: { signal: AbortSignal; timeoutMs: number }): Promise<number>;
  write(event: MemberEvent): void;
  /** The events of earlier runs of this node, oldest first: what was written is not written again. */
  past?: readonly { kind: string; fields: Readonly<Record<string, unknown>> }[];
  report?(problem: string): void;
  nowMs?(): number;
  /** Monotonic. */
  runningMs?(): number;
}

type Fields = Readonly<Record<string, unknown>>;

/** What is known of a loss. */
type Gap = { [Key in keyof Loss]: Loss[Key] | undefined };

interface Watched {
  readonly id: string;
  /** When its run started, as it says; 0 if that is not known. */
  run: number;
  /** `new`: it has not responded to this node yet. */
  state: 'new' | 'up' | 'left' | 'lost';
  /** Whether its first response is not news: it was there before this node, or an earlier run knew it. */
  isKnown: boolean;
  isRecalled: boolean;
  /** Whether contacts are made; about others, this node knows what the registry says. */
  isContacted: boolean;
  quietMs: number;
  lastSignMs: number | undefined;
  /** Since the last sign. */
  firstFailureMs: number | undefined;
  misses: number;
  /** What was missed of it before it was found to respond again: it may be another run. */
  gap: Gap | undefined;
  /** Whether it was lost or left before this run of this node: nobody knows when it came back. */
  isFromPast: boolean;
  isAsked: boolean;
  askedMs: number;
}

/**
 * The signs of life of the other members, as this node sees them, by its own clock; writes who joined, left, was lost and
 * came back.
 *
 * A failure is no loss: it only makes this node ask the member. One that refuses three times in a row, over at least two
 * seconds, or sends nothing for fifteen, is lost; the loss is between its last sign of life and the first of these contacts. One that responds
 * sooner is not, and if it is another run by then, it is back. A member that never responded cannot be lost.
 */
export class MemberSigns {
  readonly #deps: MemberSignsDeps;
  readonly #members = new Map<string, Watched>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #tick: { wallMs: number; runningMs: number };
  readonly #startedMs: number;
  #pauses = 0;
  #resumedMs = -Infinity;
  #awakeMs = 0;
  /** What is read now had not arrived at this time: the last tick after which everything was read. */
  #readUntilMs: number;

  constructor(deps: MemberSignsDeps) {
    this.#deps = deps;
    this.#tick = this.#readClock();
    this.#startedMs = this.#tick.runningMs;
    this.#readUntilMs = this.#tick.wallMs;
    for (const event of deps.past ?? []) this.#recall(event);
  }

  /** Begins to contact members that are quiet. Does not keep the process alive. */
  start(): void {
    this.#timer ??= setInterval(() => {
      const { wallMs } = this.#readClock();
      this.check();
      // After what has arrived until now was read: a busy process reads it late.
      setImmediate(() => {
        this.#readUntilMs = wallMs;
      });
    }, TICK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
  }

  /** The member gave a sign of life: anything that came from itself. */
  sign(id: string): void {
    const member = this.#members.get(id);
    if (!member) return;
    this.#checkPause();
    const { wallMs, runningMs } = this.#readClock();
    const isBacklog = runningMs - this.#resumedMs < BACKLOG_MS;
    const seenMs = Math.min(wallMs, this.#readUntilMs, isBacklog ? this.#awakeMs : Infinity);
    if (member.state !== 'up') return void this.#ask(member);
    if (member.firstFailureMs !== undefined) {
      member.gap ??= { lastSignMs: member.lastSignMs, firstFailureMs: member.firstFailureMs };
      member.firstFailureMs = undefined;
      member.misses = 0;
    }
    member.lastSignMs = Math.max(member.lastSignMs ?? 0, seenMs);
  }

  /** A contact with the member failed, or its connection was closed: it is asked whether it is still there. */
  failed(id: string): void {
    const member = this.#members.get(id);
    if (member?.state === 'up') this.#ask(member);
  }

  /** The member said that it stops. */
  left(id: string): void {
    const member = this.#members.get(id);
    const atMs = this.#readClock().wallMs;
    if (!member || member.state === 'left' || member.state === 'lost') return;
    const { run, lastSignMs } = member;
    member.state = 'left';
    member.isFromPast = false;
    member.firstFailureMs = undefined;
    const fields = { member: id, run, ...(lastSignMs !== undefined && { lastSignMs: Math.min(lastSignMs, atMs) }) };
    this.#write({ kind: 'member-left', timeMs: atMs, message: `${id} left: it was stopped`, fields }, atMs);
  }

  /** The member is in the list of members. */
  listed(id: string, { run, isNew, isContacted, isSpared = false }: ListedMember): void {
    const known = this.#members.get(id);
    const member = known ?? this.#add(id, { run, isKnown: !isNew });
    member.isContacted = isContacted;
    member.quietMs = isSpared ? SPARED_MS : QUIET_MS;
    if (!known && isNew && run !== 0) this.#responded(member, run, undefined);
    else if (run !== 0 && run !== member.run) this.#responded(member, run, undefined);
  }

  /** The member is not in the list any more, and did not say that it stops. */
  unlisted(id: string): void {
    const member = this.#members.get(id);
    if (member?.state !== 'up') return;
    if (member.isContacted && member.lastSignMs !== undefined) this.#ask(member);
    else this.#lose(member, this.#readClock().wallMs, 'its registration has expired');
  }

  /** When the member was lost; `undefined` if it is not. */
  lossOf(id: string): Loss | undefined {
    const member = this.#members.get(id);
    if (member?.state !== 'lost' || member.firstFailureMs === undefined) return undefined;
    return { lastSignMs: member.lastSignMs ?? member.firstFailureMs, firstFailureMs: member.firstFailureMs };
  }

  /** Whether it has been seen here and is not lost: if it does not respond in time, it is slow. */
  isAlive(id: string): boolean {
    const member = this.#members.get(id);
    return member?.state === 'up' && member.isContacted && member.lastSignMs !== undefined;
  }

  /** Asks the members that are quiet; called by the timer. */
  check(): void {
    this.#checkPause();
    const { wallMs, runningMs } = this.#tick;
    for (const member of this.#members.values()) {
      if (!member.isContacted || runningMs - member.askedMs < member.quietMs) continue;
      if (member.state === 'new' && runningMs - this.#startedMs > JOINING_MS) member.isKnown = member.isRecalled;
      const quietMs = wallMs - (member.lastSignMs ?? 0);
      if (member.state !== 'up' || quietMs >= member.quietMs) this.#ask(member);
    }
  }

  #add(id: string, { run, isKnown }: { run: number; isKnown: boolean }): Watched {
    const nothing = { lastSignMs: undefined, firstFailureMs: undefined, gap: undefined };
    const member: Watched = {
      ...{ id, run, isKnown, state: 'new', isContacted: false, isAsked: false, isFromPast: false, isRecalled: false },
      ...{ ...nothing, misses: 0, askedMs: -Infinity, quietMs: QUIET_MS },
    };
    this.#members.set(id, member);
    if (this.#members.size > MAX_MEMBERS)
      for (const { id: old, state } of this.#members.values())
        if (state === 'left' || state === 'lost') {
          this.#members.delete(old);
          break;
        }
    return member;
  }

  #recall({ kind, fields: { member: id, run, lastSignMs, firstFailureMs } }: { kind: string; fields: Fields }): void {
    if (!kind.startsWith('member-') || typeof id !== 'string') return;
    const member = this.#members.get(id) ?? this.#add(id, { run: 0, isKnown: true });
    member.run = numberOf(run) ?? 0;
    member.isRecalled = true;
    member.state = kind === 'member-lost' ? 'lost' : kind === 'member-left' ? 'left' : 'new';
    member.isFromPast = member.state !== 'new';
    member.lastSignMs = member.isFromPast ? numberOf(lastSignMs) : undefined;
    member.firstFailureMs = member.isFromPast ? numberOf(firstFailureMs) : undefined;
  }

  #ask(member: Watched): void {
    if (member.isAsked || !member.isContacted || this.#closing.signal.aborted) return;
    member.isAsked = true;
    const asking = this.#askUntilSure(member).finally(() => {
      member.isAsked = false;
      member.askedMs = this.#readClock().runningMs;
    });
    void owned(asking, (error) => this.#deps.report?.(`a member cannot be watched: ${errorMessage(error)}`));
  }

  /** Until it responds, or is lost. One that is not up is asked once: the next check asks again. */
  async #askUntilSure(member: Watched): Promise<void> {
    const { signal } = this.#closing;
    let pauses = this.#pauses;
    let sinceMs = this.#readClock().runningMs;
    let why = '';
    member.misses = 0;
    while (!signal.aborted) {
      const sent = this.#readClock();
      try {
        const run = await this.#deps.contact(member.id, { signal, timeoutMs: CONTACT_MS });
        return this.#responded(member, run, sent.wallMs);
      } catch (error) {
        this.#checkPause();
        const now = this.#readClock();
        if (member.state === 'left') member.firstFailureMs ??= now.wallMs;
        // It was never seen from here, so it was not lost.
        if (signal.aborted || member.state !== 'up' || member.lastSignMs === undefined) return;
        if (pauses !== this.#pauses) {
          pauses = this.#pauses;
          sinceMs = now.runningMs;
          member.misses = 0;
          member.firstFailureMs = undefined;
        }
        if (member.misses++ === 0) {
          sinceMs = sent.runningMs;
          why = errorMessage(error);
        }
        member.firstFailureMs ??= now.wallMs;
        const afterPauseMs = now.runningMs - this.#resumedMs < AFTER_PAUSE_MS ? AFTER_PAUSE_MS : 0;
        const ownMs = codeOf(error) === 'DEADLINE_EXCEEDED' ? SILENT_MS : SURE_MS;
        if (member.misses >= MISSES && now.runningMs - sinceMs >= Math.max(ownMs, afterPauseMs))
          return this.#lose(member, member.firstFailureMs, why);
      }
      await new Promise<void>((resolve) => setTimeout(resolve, AGAIN_MS).unref());
    }
  }

  /** It is there. `sentMs`: when it was asked, which it answered; `undefined`: it has registered. */
  #responded(member: Watched, run: number, sentMs: number | undefined): void {
    const { state, lastSignMs, firstFailureMs, isFromPast } = member;
    const isRestarted = run !== 0 && member.run !== 0 && run !== member.run;
    // A node that stops still answers what it was asked before.
    if (state === 'left' && !isRestarted && firstFailureMs === undefined) return;
    const gap = member.gap ?? { lastSignMs, firstFailureMs };
    member.run = run || member.run;
    member.state = 'up';
    member.gap = undefined;
    member.firstFailureMs = undefined;
    member.isFromPast = false;
    if (sentMs !== undefined) member.lastSignMs = isRestarted ? sentMs : Math.max(lastSignMs ?? 0, sentMs);
    const { id } = member;
    const timeMs = this.#readClock().wallMs;
    if (state === 'new' && !member.isKnown)
      this.#write({ kind: 'member-joined', timeMs, message: `${id} joined`, fields: { member: id, run: member.run } });
    else if (state === 'lost' || state === 'left' || (isRestarted && state === 'up'))
      this.#writeBack(member, gap, { timeMs, isRestarted, isFromPast });
    member.isKnown = true;
  }

  #writeBack(
    { id, run }: Watched,
    gap: Gap,
    { timeMs, isRestarted, isFromPast }: { timeMs: number; isRestarted: boolean; isFromPast: boolean },
  ): void {
    const { lastSignMs, firstFailureMs } = gap;
    const awayMs = isFromPast || lastSignMs === undefined ? undefined : Math.max(0, timeMs - lastSignMs);
    const after = awayMs === undefined ? '' : ` after ${(awayMs / 1000).toFixed(1)} s`;
    const message = isRestarted ? `${id} is back${after}: it was restarted` : `${id} responds again${after}`;
    const known = {
      ...(lastSignMs !== undefined && { lastSignMs }),
      ...(firstFailureMs !== undefined && { firstFailureMs }),
    };
    const fields = { member: id, run, isRestarted, ...(awayMs !== undefined && { awayMs }), ...known };
    this.#write({ kind: 'member-back', timeMs, message, fields }, firstFailureMs ?? lastSignMs);
  }

  #lose(member: Watched, firstFailureMs: number, why: string): void {
    const { id, run } = member;
    const lastSignMs = member.lastSignMs && Math.min(member.lastSignMs, firstFailureMs);
    member.state = 'lost';
    member.gap = undefined;
    member.lastSignMs = lastSignMs;
    member.firstFailureMs = firstFailureMs;
    const since = lastSignMs !== undefined && { lastSignMs, uncertaintyMs: firstFailureMs - lastSignMs };
    const message = `${id} was lost: ${why}`;
    const fields = { member: id, run, firstFailureMs, ...since, why };
    this.#write({ kind: 'member-lost', timeMs: firstFailureMs, message, fields }, firstFailureMs);
  }

  #write(event: Omit<MemberEvent, 'cause'> & { fields: { member: string; run: number } }, atMs?: number): void {
    const { member, run } = event.fields;
    const cause = `${event.kind} ${member} ${run}${atMs === undefined ? '' : ` ${atMs}`}`;
    this.#deps.write({ ...event, cause });
  }

  #readClock(): { wallMs: number; runningMs: number } {
    // clock: when members were seen and lost, next to a clock that does not jump
    const { nowMs = Date.now, runningMs = () => performance.now() } = this.#deps;
    return { wallMs: nowMs(), runningMs: runningMs() };
  }

  /** Notices that this process did not run, or that its clock was set: timers and requests are late for that alone. */
  #checkPause(): void {
    const before = this.#tick;
    const now = this.#readClock();
    this.#tick = now;
    const ranMs = now.runningMs - before.runningMs;
    const stepMs = now.wallMs - before.wallMs - ranMs;
    if (ranMs < PAUSE_MS && Math.abs(stepMs) < PAUSE_MS) return;
    this.#pauses++;
    this.#resumedMs = now.runningMs;
    this.#awakeMs = before.wallMs;
    // Set back: what was seen by the old clock is not later than what comes.
    if (stepMs <= -PAUSE_MS)
      for (const member of this.#members.values())
        if (member.lastSignMs !== undefined) member.lastSignMs += Math.round(stepMs);
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
