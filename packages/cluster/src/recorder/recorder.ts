import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, errorMessage, MEMBER_HEARTBEAT_MS, toEvent, YIELD_MS, YIELD_PAST_MS } from '@porthole/contract';
import { allWithin, NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import type { FollowItem, FollowQuery, StartPoint } from '@porthole/logs/types';
import { isBatch } from '@porthole/records';
import type { Clocks } from '../fan-out/clock.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { ConfigHistory } from '../past/config-history.ts';
import { EventsNode } from '../past/events-node.ts';
import { withDeadline } from '../requests/bounded-calls.ts';
import { expectFailure, reportMistake, toOutcome } from '../requests/member-failure.ts';
import type { Recorders } from './recorders.ts';
import { latestMs, type RecordedItem, type Recording, RecordingRefused } from './recording.ts';
import type { Recordings } from './recordings.ts';

/** A new recorder begins with what the member wrote in this time, and with at least so many records. */
const HISTORY_MS = 10 * 60_000;
const HISTORY_RECORDS = 1000;
const HISTORY_BUDGET_MS = 2000;
/** A member that is busy, or has just started, may find few records in that time, or none: it is asked to go on so often. */
const HISTORY_TRIES = 30;

/** How often it is looked who records whom; a change of the members is noticed at once. */
const UPDATE_MS = 5000;

/** A node that no longer records a member goes on for as long: the next one has what it missed by then. */
const LINGER_MS = 30_000;

/** What a node no longer records is deleted after this time, while the member responds and others record it. */
const MOVED_MS = 10 * 60_000;

/** How long to wait for a follow to end. */
const CLOSING_MS = 3000;

/** Longer configurations, with their settings, are not kept. */
const MAX_CONFIG_LENGTH = 1024 ** 2;
const CONFIG_TIMEOUT_MS = 10_000;

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 2000;

/** Records have the time at which they are written, if it is not longer ago than this. */
const RECENT_MS = 10_000;

/** A member that has written a moment ago may read its log late while it says that it lives. */
const BUSY_MS = 3000;

/** A node notices what was written after this time at the latest, unless its machine has no time for it. */
const READ_MS = 1000;

/** A member that has not said by then that it has sent all that was there before is taken to have. */
const CAUGHT_UP_MS = 30_000;

/** When it last heard of a member is written so often, besides when it changes whether it does. */
const SAVE_MS = 10_000;

/** The disk is left to the node itself when there is less than this. */
const MIN_FREE_BYTES = 128 * 1024 ** 2;
const FREE_CHECK_MS = 5000;
const STOPPED_MS = 20_000;

/** A member whose follow was refused is not followed for as long. */
const REFUSED_MS = 10 * 60_000;

/** Errors of a disk that is full, or cannot be written to. */
const DISK_CODES: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EACCES',
  'EPERM',
  'EFBIG',
  'EMFILE',
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
]);

export interface RecorderEvents {
  write(event: { kind: 'recorder-stopped'; message: string; cause?: string; fields?: { member: string } }): void;
}

export interface RecorderDeps {
  recorders: Pick<Recorders, 'records' | 'askedFor'>;
  recordings: Recordings;
  directory: Pick<MemberDirectory, 'onChange'>;
  peers: Pick<Peers, 'all'>;
  clocks: Clocks;
  /** Where it is written that nothing can be recorded; absent: nowhere. */
  events?: RecorderEvents | undefined;
  /** Resolves when no client waits for this node, or after this time: they come first. */
  untilFree?: ((mostMs: number) => Promise<void>) | undefined;
  report(problem: string): void;
  nowMs(): number;
  /** Tests have less room. */
  freeBytes?(dir: string): Promise<number>;
  /** How long nothing is tried after a disk has failed; for tests. */
  stoppedMs?: number;
}

interface Follow {
  peer: Peer;
  controller: AbortController;
  /** When it is over, because another node records the member now, or nobody. */
  untilMs: number;
  /** It is no longer registered. */
  isLeaving: boolean;
  /** From which something has come since it was last lost. */
  readonly connected: Set<Source>;
  done: Owned;
}

/** Follows the members that this node records, and writes what they send. Reads no faster than it writes. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #follows = new Map<string, Follow>();
  readonly #closing = new AbortController();
  #unsubscribe: () => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #updating = NO_WORK;
  #stoppedMs = -Infinity;
  #checkedMs = -Infinity;
  /** Why nothing is recorded; `null` if there is no problem. */
  problem: string | null = null;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** Does not keep the process alive. */
  start(): void {
    const update = () => {
      clearTimeout(this.#timer);
      if (this.#closing.signal.aborted) return;
      this.#next(() => this.update());
      this.#timer = setTimeout(update, UPDATE_MS).unref();
    };
    this.#unsubscribe = this.#deps.directory.onChange(update);
    update();
  }

  /** Ends its follows and writes when it last heard of each member. */
  async close(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    this.#closing.abort();
    await this.#updating;
    await this.#endAll();
  }

  /** Does one thing after the other. */
  #next(work: () => Promise<void>): void {
    this.#updating = owned(this.#updating.then(work), (error) => this.#deps.report(`recorder: ${errorMessage(error)}`));
  }

  /** Whether it records a member, or is about to. */
  follows(id: string): boolean {
    return this.#follows.has(id) || this.#deps.recorders.records(id);
  }

  /** Follows those members that this node records now. */
  async update(): Promise<void> {
    const { peers, recorders, recordings } = this.#deps;
    if (this.problem !== null && this.#follows.size === 0 && !(await this.#mayTryAgain())) return;
    const nowMs = performance.now();
    const listed = new Map(peers.all().map((peer) => [peer.member.id, peer]));
    for (const [id, follow] of this.#follows) {
      const peer = listed.get(id);
      // A member that runs anew is another peer.
      if (peer && peer !== follow.peer) await this.#end(id);
      // One that leaves says goodbye after that. What responds at its address later may be another node.
      follow.isLeaving = !peer;
      if (!peer && follow.connected.size === 0) await this.#end(id);
      if (!peer || !recorders.records(id)) follow.untilMs = Math.min(follow.untilMs, nowMs + LINGER_MS);
      if (nowMs > follow.untilMs) await this.#end(id);
    }
    if (this.#closing.signal.aborted) return;
    for (const [id, peer] of listed) {
      if (peer.member.isSelf || !recorders.records(id)) continue;
      const known = this.#follows.get(id);
      if (known) known.untilMs = Infinity;
      else this.#follow(peer);
    }
    const isMoved = (id: string) =>
      listed.get(id)?.hasFailed === false && !this.#follows.has(id) && !recorders.records(id);
    await recordings.dropWhere((id, asOfMs) => isMoved(id) && this.#deps.nowMs() - asOfMs > MOVED_MS);
  }

  #follow(peer: Peer): void {
    const { recordings, report } = this.#deps;
    const { id } = peer.member;
    const controller = new AbortController();
    const { signal } = controller;
    const follow: Follow = {
      peer,
      controller,
      untilMs: Infinity,
      isLeaving: false,
      connected: new Set(),
      done: NO_WORK,
    };
    const onLost = () => {
      if (follow.isLeaving && follow.connected.size === 0) controller.abort();
    };
    const { connected } = follow;
    const logs: Source = { peer, connected, onLost, open: () => recordings.open(id) };
    const events: Source = {
      ...logs,
      peer: Object.create(peer, { state: { get: () => new EventsNode(peer.state) } }),
      open: () => recordings.openEvents(id),
      copy: (records) => copyConfigs(records, { from: peer.state, to: recordings.configs(id), signal }),
    };
    follow.done = owned(Promise.all([this.#run(logs, signal), this.#run(events, signal)]), (error) =>
      reportMistake(error, report),
    );
    this.#follows.set(id, follow);
  }

  async #end(id: string): Promise<void> {
    const follow = this.#follows.get(id);
    this.#follows.delete(id);
    follow?.controller.abort();
    // A request that ignores its signal must not keep the others from being recorded.
    if (follow) await allWithin(CLOSING_MS, [follow.done]);
  }

  async #endAll(): Promise<void> {
    await Promise.all([...this.#follows.keys()].map((id) => this.#end(id)));
  }

  /** Follows one member until the signal fires, however often it fails; unless it has nothing of this kind. */
  async #run(source: Source, signal: AbortSignal): Promise<void> {
    let isByTime = false;
    for (let failures = 0; !signal.aborted; failures++) {
      const session = new Session(source, this.#deps);
      try {
        const checkRoom = () => this.#checkRoom();
        await session.run({ signal, isByTime, checkRoom, onWritten: () => this.#noteWritten() });
      } catch (error) {
        if (signal.aborted) break;
        if (DISK_CODES.has(systemCode(error))) return this.#stop(errorMessage(error));
        if (source.copy && toOutcome(error).outcome === 'not supported') return;
        reportMistake(error, this.#deps.report);
        isByTime = codeOf(error) === 'CURSOR_GONE' || codeOf(error) === 'CURSOR_INVALID';
        session.lost();
        if (error instanceof RecordingRefused) await this.#refuse(source.peer.member, { error, signal });
      } finally {
        await session.save().catch(expectFailure); // the next write says what is wrong with the disk
      }
      if (session.hasWorked) failures = 0;
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      await delay(waitMs, undefined, { signal }).catch(() => {}); // it was stopped: the loop ends
    }
  }

  /** Waits before the member is followed again. The others are recorded. */
  async #refuse({ id, node }: Peer['member'], { error, signal }: { error: Error; signal: AbortSignal }): Promise<void> {
    const message = `${id} is not recorded for ${REFUSED_MS / 60_000} minutes: ${error.message}`;
    this.#deps.report(message);
    const cause = `recording refused ${id} ${node.onlineTime}`;
    this.#deps.events?.write({ kind: 'recorder-stopped', message, cause, fields: { member: id } });
    await delay(REFUSED_MS, undefined, { signal, ref: false }).catch(() => {}); // it was stopped: the loop ends
  }

  /** The disk is full: the node itself needs it more. */
  #stop(reason: string): void {
    if (this.problem === null) {
      this.problem = `members are not recorded: ${reason}`;
      this.#deps.report(this.problem);
      this.#deps.events?.write({ kind: 'recorder-stopped', message: this.problem });
    }
    this.#stoppedMs = performance.now();
    for (const { controller } of this.#follows.values()) controller.abort();
    // Whoever closes this waits for what they still write.
    this.#next(() => this.#endAll());
  }

  async #checkRoom(): Promise<void> {
    if (performance.now() - this.#checkedMs < FREE_CHECK_MS) return;
    this.#checkedMs = performance.now();
    const free = await this.#freeBytes();
    if (free < MIN_FREE_BYTES)
      throw Object.assign(new Error(`only ${free} bytes of disk are free`), { code: 'ENOSPC' });
  }

  /** Some time after the disk was full, or could not be written. It is a problem until something is written. */
  async #mayTryAgain(): Promise<boolean> {
    if (performance.now() - this.#stoppedMs < (this.#deps.stoppedMs ?? STOPPED_MS)) return false;
    this.#stoppedMs = performance.now();
    if ((await this.#freeBytes()) < 2 * MIN_FREE_BYTES) return false;
    this.#deps.recordings.reopen();
    return true;
  }

  #noteWritten(): void {
    if (this.problem === null) return;
    this.problem = null;
    this.#deps.report('members are recorded again');
  }

  async #freeBytes(): Promise<number> {
    const { recordings, freeBytes } = this.#deps;
    if (freeBytes) return freeBytes(recordings.dir);
    const { bavail, bsize } = await statfs(recordings.dir);
    return bavail * bsize;
  }
}

/** What is recorded of a member: its logs, or its events as if they were logs. */
interface Source {
  peer: Peer;
  /** Those of the member from which something comes. */
  connected: Set<Source>;
  onLost(): void;
  open(): Promise<Recording>;
  /** Copies what these records name. */
  copy?(records: readonly RecordedItem[]): Promise<void>;
}

interface SessionOptions {
  signal: AbortSignal;
  isByTime: boolean;
  checkRoom(): Promise<void>;
  /** Something was written: the disk takes it. */
  onWritten(): void;
}

/** One follow of a member, until its connection is lost for good. */
class Session {
  readonly #peer: Peer;
  readonly #source: Source;
  readonly #deps: RecorderDeps;
  readonly #id: string;
  #recording: Recording | undefined;
  #savedMs = -Infinity;
  /** Whether all that was written before was sent: then a sign of life says that nothing is missing. */
  #isLive = false;
  #connectedMs = Infinity;
  hasWorked = false;

  constructor(source: Source, deps: RecorderDeps) {
    this.#peer = source.peer;
    this.#source = source;
    this.#deps = deps;
    this.#id = source.peer.member.id;
  }

  async run({ signal, isByTime, checkRoom, onWritten }: SessionOptions): Promise<void> {
    const { state } = this.#peer;
    const recording = await this.#source.open();
    this.#recording = recording;
    await checkRoom();
    if (!((await this.#peer.isPorthole?.({ signal })) ?? true)) return this.#copy({ signal, checkRoom, onWritten });
    await recording.clearUnless(undefined);
    const { timeZone: zone } = await state.describe({ signal });
    const memberMs = this.#deps.nowMs() + this.#offsetMs;
    const resumed = recording.resume();
    const historyMs = resumed ? memberMs : await historyStart(state, { memberMs, signal });
    const start = followStart(recording, { historyMs, isByTime });
    const isGapless = resumed !== undefined && !isByTime;
    const sinceMs = isGapless ? recording.facts.sinceMs : startTime(start, memberMs);
    recording.facts = { ...recording.facts, zone: zone ?? '', sinceMs };
    // Events are few, and read as they come.
    const texts = !this.#source.copy;
    const how = { signal, heartbeatMs: MEMBER_HEARTBEAT_MS, texts, gaps: 'load', positions: true } as const;
    for await (const items of state.followLogs({ start, raw: true }, how)) {
      if (signal.aborted) return;
      await this.#take(items, recording);
      if (this.hasWorked) onWritten();
      await checkRoom();
      await this.#deps.untilFree?.(this.#isLive ? YIELD_MS : YIELD_PAST_MS);
    }
  }

  /** Whoever asks a contract-only member copies its files; following it asks every second. */
  async #copy({ signal, checkRoom, onWritten }: Omit<SessionOptions, 'isByTime'>): Promise<void> {
    for await (const _items of this.#peer.state.followLogs({ start: 'end' }, { signal })) {
      this.hasWorked = true;
      onWritten();
      await checkRoom();
    }
  }

  async #take(items: readonly FollowItem[], recording: Recording): Promise<void> {
    const { nowMs, clocks } = this.#deps;
    const records: RecordedItem[] = [];
    for (const item of items) {
      if (item.type === 'reconnecting') return this.lost({ isStopping: item.isStopping === true });
      if (item.type === 'record' || item.type === 'text') records.push(item);
      if (item.type === 'position') this.#isLive = true;
      if (item.type === 'rotated') recording.forgetShortHeads(item.family);
      if (item.type === 'truncated') recording.forgetShortHeads(recording.familyOf(item.file));
      // Not even a search has what is missing.
      if (item.type === 'gap') recording.facts = { ...recording.facts, sinceMs: nowMs() + this.#offsetMs };
    }
    if (records.length > 0) await recording.append(records);
    const atMs = nowMs();
    const isFirst = !this.hasWorked || recording.facts.lostMs !== null;
    if (isFirst) this.#connectedMs = performance.now();
    recording.facts = {
      ...recording.facts,
      asOfMs: this.#completeUntil(records, recording, atMs),
      lostMs: null,
      clock: clocks.of(this.#id) ?? recording.facts.clock,
    };
    this.hasWorked = true;
    this.#source.connected.add(this.#source);
    if (isFirst || performance.now() - this.#savedMs > SAVE_MS) await this.save();
    await this.#source.copy?.(records);
  }

  /**
   * Until when nothing is missing, by the clock of this node: of a member that writes, up to the time of its last record, and
   * of a quiet one up to a moment ago. A member that is busy with other things reads its own log late.
   */
  #completeUntil(records: readonly RecordedItem[], { facts, lastRecordMs }: Recording, nowMs: number): number {
    this.#isLive ||= performance.now() - this.#connectedMs > CAUGHT_UP_MS;
    const sent = records.map(latestMs).findLast((timeMs) => timeMs !== undefined);
    const last = sent ?? lastRecordMs ?? undefined;
    const lastMs = last === undefined ? undefined : Math.min(nowMs, last - this.#offsetMs);
    const isRecent = lastMs !== undefined && nowMs - lastMs < (sent === undefined ? BUSY_MS : RECENT_MS);
    const untilMs = this.#isLive && !isRecent ? nowMs - READ_MS : lastMs;
    return Math.max(facts.asOfMs, untilMs ?? facts.asOfMs);
  }

  /** Nothing comes any more. */
  lost({ isStopping = false } = {}): void {
    const recording = this.#recording;
    const atMs = this.#deps.nowMs();
    const wasLive = this.#isLive;
    this.#isLive = false;
    this.#source.connected.delete(this.#source);
    this.#source.onLost();
    // The first failure counts, also of a node that was restarted itself.
    if (!recording || recording.facts.asOfMs === 0 || recording.facts.lostMs !== null) return;
    // What it has said goodbye after is complete.
    const asOfMs = isStopping && wasLive ? atMs : recording.facts.asOfMs;
    recording.facts = { ...recording.facts, asOfMs, lostMs: atMs };
    void owned(this.save(), (error) => this.#deps.report(`recorder: ${errorMessage(error)}`));
  }

  async save(): Promise<void> {
    this.#savedMs = performance.now();
    await this.#recording?.saveFacts();
  }

  get #offsetMs(): number {
    return Math.round(this.#deps.clocks.of(this.#id)?.offsetMs ?? 0);
  }
}

function followStart(
  recording: Recording,
  { historyMs, isByTime }: { historyMs: number; isByTime: boolean },
): FollowQuery['start'] {
  const resumed = recording.resume();
  if (!resumed) return { timeMs: historyMs };
  return isByTime ? { timeMs: recording.lastRecordMs ?? historyMs } : resumed;
}

/** The time to begin with: of a quiet member, the last records may be older than what is recorded of a busy one. */
async function historyStart(
  state: Peer['state'],
  { memberMs, signal }: { memberMs: number; signal: AbortSignal },
): Promise<number> {
  let earliestMs = memberMs - HISTORY_MS;
  let left = HISTORY_RECORDS;
  let start: StartPoint | undefined;
  for (let tries = 0; tries < HISTORY_TRIES && left > 0; tries++) {
    const query = { order: 'newest', limit: left, before: 0, after: 0, ...(start && { start }) } as const;
    let cursor: string | null = null;
    for await (const item of state.search(query, { signal, budgetMs: HISTORY_BUDGET_MS })) {
      if (!isBatch(item)) cursor = item.cursor;
      else for (const timeMs of item.times) if (timeMs < earliestMs) earliestMs = timeMs;
      if (isBatch(item)) left -= item.times.length;
    }
    if (cursor === null) break;
    start = { cursor };
  }
  return earliestMs;
}

/** Keeps the configurations that new events name, for when the member is gone. */
async function copyConfigs(
  records: readonly RecordedItem[],
  { from, to, signal }: { from: Peer['state']; to: ConfigHistory; signal: AbortSignal },
): Promise<void> {
  const versions = records.flatMap((item) => (item.type === 'record' && toEvent(item)?.fields.config) || []);
  for (const version of new Set(versions)) {
    if (typeof version !== 'string' || (await to.get(version))) continue;
    const fetching = (leaving: AbortSignal) => from.configVersion(version, { signal: leaving });
    // It may not be kept any more: then only the event says what changed.
    const sent: unknown = await withDeadline(fetching, { timeoutMs: CONFIG_TIMEOUT_MS, signal }).catch(expectFailure);
    // A member may send anything, or nothing.
    const { config, settings } = Object(sent) as Record<string, unknown>;
    if (typeof config === 'string' && Array.isArray(settings) && JSON.stringify(sent).length <= MAX_CONFIG_LENGTH)
      await to.add(config, settings.map(Object));
  }
}

function startTime(start: FollowQuery['start'], memberMs: number): number {
  return typeof start === 'object' && 'timeMs' in start ? start.timeMs : memberMs;
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
