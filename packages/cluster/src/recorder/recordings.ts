import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CallOptions,
  type ConfigOptions,
  type Member,
  type MemberClock,
  type NodeConfig,
  type NodeDescription,
  type NodeState,
  PortholeError,
  type RecordingHead,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import { createZone, LogDir, type UserFormat, WorkerPool, type Zone } from '@porthole/logs';
import { SharedByKey } from '@porthole/logs/shared';
import type { ByteStream, LogEntry, LogFileDetails, SearchQuery } from '@porthole/logs/types';
import type { CopiedText, CopyTarget } from '../contract-only/contract-node.ts';
import { DelegatedNode } from '../contract-only/delegated-node.ts';
import type { Clocks } from '../fan-out/clock.ts';
import type { Peers } from '../fan-out/peers.ts';
import { isMemberId } from '../membership/member-address.ts';
import type { DepartedState, MemberProfile } from '../membership/profiles/member-profile.ts';
import type { ProfileCache } from '../membership/profiles/profile-cache.ts';
import { ConfigHistory, NodePast } from '../past/node-past.ts';
import { withDeadline } from '../requests/bounded-calls.ts';
import { expectFailure } from '../requests/member-failure.ts';
import { RecordedNode, recordedText } from './recorded-node.ts';
import type { Recorders } from './recorders.ts';
import { RECORDED_DEPTH, Recording, type RecordingFacts, type RecordingLimits } from './recording.ts';

/** Fraction of the timeout for asking who has recorded a member: the request itself needs the rest. */
const ASK_SHARE = 0.3;

/** What others have recorded is asked for so often at most; of a member that is gone, less often. */
const FOUND_MS = 3000;
const GONE_MS = 30_000;

/** Of recordings whose ends are so close to each other, the longer one is read. */
const SAME_END_MS = 250;

/** Threads that read recordings, shared by all of them. */
const THREADS = 1;

/** What is kept of a member has one limit: its records, its newest events, and the configurations that these name. */
const RECORDS_SHARE = 0.75;
const EVENTS_SHARE = 0.125;
const CONFIGS_SHARE = 0.125;

/** Events are kept whenever they were. */
const EVENTS = 'events';
const CONFIGS = 'config-history';
const MAX_VERSIONS = 20;

/** The index of a recording is small: it is read seldom. */
const INDEX_BYTES = 2 * 1024 ** 2;

/** What is known of copies is written so often, besides when it changes whether the member responds. */
const SAVE_MS = 10_000;

/** A member by what was recorded of it. Times are by the clock of this node. */
export interface RecordedMember {
  member: Member;
  departed: DepartedState | null;
  /** Its clock when it was last heard of. */
  clock: MemberClock | null;
  /** Its last sign of life. */
  asOfMs: number;
  /** How much of what it wrote is missing at the end: 0 if it said goodbye; `null` if that is not known. */
  missingMs: number | null;
  recordedBy: string | null;
  /** `recorded by storage-1, until 03:15:42.118 (0.3 s before it was lost)` */
  label: string;
  lastRecordMs: number | null;
  state: NodeState;
}

export interface RecordingsDeps {
  dir: string;
  limits: RecordingLimits;
  profiles: Pick<ProfileCache, 'get' | 'asOfMs' | 'getDeparted'>;
  peers: Pick<Peers, 'all' | 'get'>;
  clocks: Clocks;
  selfId: string;
  recorders: Pick<Recorders, 'askedFor'>;
  /** Time zone of members that do not report theirs. */
  zone: Zone;
  formats?: readonly UserFormat[] | undefined;
  timeoutMs: number;
  nowMs(): number;
}

/** Who has recorded a member, and how well. */
interface Found extends Pick<RecordingFacts, 'asOfMs' | 'lostMs' | 'sinceMs' | 'clock'> {
  by: string;
  lastRecordMs: number | null;
}

/** What members wrote lately, wherever it was recorded: here, or by other members. */
export class Recordings {
  readonly #deps: RecordingsDeps;
  readonly #opening = new SharedByKey<string, Recording>({ isKept: true });
  /** Those of this node. */
  readonly #own = new Map<string, Recording>();
  readonly #logs = new Map<string, { path: string; zone: string; logs: LogDir }>();
  /** Directories with copies that are written to, by member. */
  readonly #copying = new Map<string, string>();
  readonly #found = new Map<string, { found: Found | undefined; atMs: number }>();
  readonly #asking = new SharedByKey<string, Found | undefined>({ endsUnwatched: true });
  #threads: WorkerPool | undefined;

  constructor(deps: RecordingsDeps) {
    this.#deps = deps;
  }

  get dir(): string {
    return this.#deps.dir;
  }

  /** Opens what earlier runs have recorded. */
  async load(): Promise<void> {
    const names = await readdir(this.dir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const id of names.filter(isMemberId)) await this.open(id);
  }

  /** The recording of a member by this node. It is created if there is none. */
  open(id: string): Promise<Recording> {
    const { dir, nowMs } = this.#deps;
    const { maxBytes, maxMs } = this.#deps.limits;
    return this.#opening.run(id, async () => {
      const limits = { maxBytes: maxBytes * RECORDS_SHARE, maxMs };
      const recording = await Recording.open(join(dir, id), limits, nowMs);
      this.#own.set(id, recording);
      return recording;
    });
  }

  /** The events of a member, recorded beside its logs. */
  openEvents(id: string): Promise<Recording> {
    const { dir, limits, nowMs } = this.#deps;
    const path = join(id, EVENTS);
    const ofEvents = { maxBytes: limits.maxBytes * EVENTS_SHARE, maxMs: Infinity };
    return this.#opening.run(path, () => Recording.open(join(dir, path), ofEvents, nowMs));
  }

  /** The configurations of a member, by version. */
  configs(id: string): ConfigHistory {
    return new ConfigHistory(join(this.dir, id, CONFIGS), {
      maxVersions: MAX_VERSIONS,
      maxBytes: this.#deps.limits.maxBytes * CONFIGS_SHARE,
    });
  }

  /** A new directory for copies of the files of a contract-only member. */
  copyOf(id: string): CopyTarget {
    const name = `copy-${randomUUID()}`;
    const dir = join(this.dir, id, name);
    const { limits, nowMs, clocks } = this.#deps;
    let savedMs = -Infinity;
    this.#copying.set(id, name);
    const save = async (recording: Recording, { zone, sinceMs, ...copy }: CopiedText) => {
      recording.facts = { ...recording.facts, zone, sinceMs, copy: { name, ...copy } };
      savedMs = performance.now();
      await recording.saveFacts();
    };
    return {
      dir,
      maxBytes: limits.maxBytes * RECORDS_SHARE,
      read: async (asOfMs, describe) => {
        const recording = await this.open(id);
        const isFirst = recording.facts.copy?.name !== name;
        const isDue = isFirst || recording.facts.lostMs !== null || performance.now() - savedMs > SAVE_MS;
        const described = isDue ? await describe() : undefined;
        const clock = clocks.of(id) ?? (isFirst ? null : recording.facts.clock);
        recording.facts = { ...recording.facts, asOfMs, lostMs: null, clock };
        if (described) await save(recording, described);
        if (isFirst) await recording.clearUnless(name);
      },
      lost: async (describe) => {
        const recording = await this.open(id);
        if (recording.facts.copy?.name !== name || recording.facts.lostMs !== null) return;
        recording.facts = { ...recording.facts, lostMs: nowMs() };
        await save(recording, await describe());
      },
      close: async () => {
        if (this.#copying.get(id) === name) this.#copying.delete(id);
        if (this.#own.get(id)?.facts.copy?.name === name) await this.#own.get(id)?.saveFacts();
        else await rm(dir, { recursive: true, force: true });
      },
    };
  }

  /** After a failure to write, what is on the disk counts. */
  reopen(): void {
    this.#opening.clear();
  }

  /** How much of which members is recorded here, for metrics. */
  usage(): { id: string; bytes: number; asOfMs: number }[] {
    return [...this.#own]
      .filter(([, { isEmpty }]) => !isEmpty)
      .map(([id, { bytes, facts }]) => ({ id, bytes, asOfMs: facts.asOfMs }));
  }

  /** What this node has recorded of a member. `undefined`: nothing. */
  head(id: string): RecordingHead | undefined {
    const found = this.#ownFound(id);
    if (!found) return undefined;
    const { asOfMs, lostMs, sinceMs, clock, lastRecordMs } = found;
    const nowMs = this.#deps.nowMs();
    const lostAgeMs = lostMs === null ? null : Math.max(0, nowMs - lostMs);
    return { ageMs: Math.max(0, nowMs - asOfMs), lostAgeMs, sinceMs, clock, lastRecordMs };
  }

  /** A member by what was recorded of it: the freshest of all nodes, or what this one has. The ends of responses say so. */
  member(id: string, { onlyHere = false }: { onlyHere?: boolean } = {}): NodeState {
    const load = async (options: CallOptions) => {
      const found = onlyHere ? undefined : await this.find(id, options);
      return this.#nodeOf(id, found?.recordedBy ?? null);
    };
    return new RecordedSomewhere(load, { isReported: false });
  }

  async #node(id: string): Promise<NodeState | undefined> {
    const found = this.#ownFound(id);
    const profile = this.#deps.profiles.get(id);
    if (!found && !profile) return undefined;
    const recording = await this.open(id);
    const logs = await this.#logsOf(id, recording);
    const { asOfMs, lostMs } = recording.facts;
    const missingMs = missingOf(found, lostMs ?? asOfMs);
    const label = recordedText(found ? this.#deps.selfId : null, { asOfMs, missingMs });
    return new RecordedNode({ id, recording, profile, logs, label, ...(await this.#past(id, label)) });
  }

  /** Nothing if none of its events were recorded. */
  async #past(id: string, label: string): Promise<{ past?: NodePast }> {
    const recording = await this.openEvents(id);
    if (recording.facts.asOfMs === 0) return {};
    const logs = await this.#logsOf(join(id, EVENTS), recording);
    const node = new RecordedNode({ id, recording, profile: undefined, logs, label });
    const dir = {
      search: (query: SearchQuery, options?: SearchOptions) => node.search(query, options),
      follow: () => node.followLogs(),
      close: () => logs.close(),
    };
    return { past: new NodePast({ logs: dir, history: this.configs(id) }) };
  }

  /** The freshest recording of a member, here or elsewhere, and what else is known of it. Never rejects because of a member. */
  async find(id: string, options: CallOptions = {}): Promise<RecordedMember | undefined> {
    const known = this.#found.get(id);
    // Until its recorder knows that it was lost, its end may be missing.
    const isOver = known?.found?.lostMs !== null && Boolean(this.#deps.profiles.getDeparted(id));
    if (!known || performance.now() - known.atMs > (isOver ? GONE_MS : FOUND_MS)) {
      const found = await this.#asking.run(id, (signal) => this.#ask(id, signal), options);
      // A client may ask for any id.
      if (found || this.#deps.profiles.get(id)) this.#found.set(id, { found, atMs: performance.now() });
    }
    return this.known(id);
  }

  /** The same as of the last time it was looked for. */
  known(id: string): RecordedMember | undefined {
    const asked = this.#found.get(id)?.found;
    const found = asked && asked.by !== this.#deps.selfId ? asked : this.#ownFound(id);
    const profile = this.#deps.profiles.get(id) ?? (found && this.#listed(id, found.asOfMs));
    if (!profile) return undefined;
    const { member, departed } = profile;
    const {
      by = null,
      asOfMs = profile.asOfMs,
      lostMs = null,
      clock = profile.clock,
      lastRecordMs = null,
    } = found ?? {};
    // Who is looked for does not respond, whether its recorder has noticed or not.
    const missingMs = missingOf(found, lostMs ?? departed?.sinceMs ?? this.#deps.nowMs());
    return {
      member,
      departed,
      clock,
      asOfMs,
      missingMs,
      recordedBy: by,
      label: recordedText(by, { asOfMs, missingMs }),
      lastRecordMs: lastRecordMs === null ? null : lastRecordMs - Math.round(clock?.offsetMs ?? 0),
      state: new RecordedSomewhere(() => this.#nodeOf(id, by), { profile, isReported: true }),
    };
  }

  /** Deletes what this node has recorded of a member. */
  async drop(id: string): Promise<void> {
    const copy = this.#own.get(id)?.facts.copy?.name;
    this.#own.delete(id);
    this.#found.delete(id);
    for (const path of [id, join(id, EVENTS)]) {
      this.#opening.forget(path);
      await this.#closeLogs(path);
    }
    // Copies that are written to are deleted when that ends.
    const copies = copy === undefined || copy === this.#copying.get(id) ? [] : [copy];
    for (const part of ['log', 'positions', 'recording.json', EVENTS, CONFIGS, ...copies])
      await rm(join(this.dir, id, part), { recursive: true, force: true });
    // What is known of the member besides is deleted for itself.
    await rmdir(join(this.dir, id)).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
    });
  }

  async dropWhere(isUnused: (id: string, asOfMs: number) => boolean): Promise<void> {
    for (const [id, { facts }] of this.#own) if (isUnused(id, facts.asOfMs)) await this.drop(id);
  }

  async close(): Promise<void> {
    for (const id of [...this.#logs.keys()]) await this.#closeLogs(id);
    await this.#threads?.close();
  }

  async #nodeOf(id: string, by: string | null): Promise<NodeState> {
    const { selfId, peers } = this.#deps;
    const elsewhere = by === null || by === selfId ? undefined : peers.get(by).recordedMember?.(id);
    const node = elsewhere ?? (await this.#node(id));
    if (!node) throw new PortholeError('MEMBER_NOT_FOUND', `nothing was recorded of ${JSON.stringify(id)}`);
    return node;
  }

  /** A member that was lost before more was kept of it. */
  #listed(id: string, asOfMs: number): MemberProfile | undefined {
    const peer = this.#deps.peers.all().find(({ member }) => member.id === id);
    return peer && { member: peer.member, asOfMs, clock: null, config: null, files: null, departed: null };
  }

  #ownFound(id: string): Found | undefined {
    const recording = this.#own.get(id);
    const { asOfMs = 0, lostMs = null, sinceMs = null, clock = null } = recording?.facts ?? {};
    // Nothing is known yet.
    if (!recording || asOfMs === 0) return undefined;
    return { by: this.#deps.selfId, asOfMs, lostMs, sinceMs, clock, lastRecordMs: recording.lastRecordMs };
  }

  async #ask(id: string, signal: AbortSignal): Promise<Found | undefined> {
    const { recorders, selfId } = this.#deps;
    const others = recorders.askedFor(id).filter((asked) => asked !== selfId && asked !== id);
    const asked = await Promise.all(others.map((by) => this.#askOne(by, { id, signal })));
    signal.throwIfAborted();
    const own = this.#ownFound(id);
    const all = [...(own ? [own] : []), ...asked.flatMap((found) => found ?? [])];
    const whole = all.filter(({ sinceMs }) => sinceMs !== null);
    const best = whole.length > 0 ? whole : all;
    const freshestMs = best.reduce((last, { asOfMs }) => Math.max(last, asOfMs), -Infinity);
    const fresh = best.filter(({ asOfMs }) => asOfMs >= freshestMs - SAME_END_MS);
    return fresh.reduce<Found | undefined>(
      (longest, next) => (longest && sinceOf(longest) <= sinceOf(next) ? longest : next),
      undefined,
    );
  }

  /** `undefined` if it has none, or does not respond. */
  async #askOne(by: string, { id, signal }: { id: string; signal: AbortSignal }): Promise<Found | undefined> {
    const { peers, timeoutMs, clocks, nowMs } = this.#deps;
    try {
      const ask = async (leaving: AbortSignal) => peers.get(by).recordingHead?.(id, { signal: leaving });
      const head = await withDeadline(ask, { timeoutMs: timeoutMs * ASK_SHARE, signal });
      if (!head || !(head.ageMs >= 0)) return undefined;
      const { ageMs, lostAgeMs, sinceMs, clock, lastRecordMs } = head;
      const lostMs = lostAgeMs === null ? null : nowMs() - lostAgeMs;
      return { by, asOfMs: nowMs() - ageMs, lostMs, sinceMs, clock: addClocks(clock, clocks.of(by)), lastRecordMs };
    } catch (error) {
      expectFailure(error);
      return undefined;
    }
  }

  async #logsOf(id: string, recording: Recording): Promise<LogDir> {
    const known = this.#logs.get(id);
    const { zone } = recording.facts;
    const path = recording.logDir;
    if (known?.path === path && known.zone === zone) return known.logs;
    await this.#closeLogs(id);
    this.#threads ??= new WorkerPool(THREADS);
    const { formats } = this.#deps;
    const logs = new LogDir(path, {
      zone: zone === '' ? this.#deps.zone : createZone(zone),
      ...(formats && { formats }),
      tree: { depth: RECORDED_DEPTH, maxEntries: 10_000, roots: [] },
      threads: this.#threads,
      maxIndexBytes: INDEX_BYTES,
    });
    this.#logs.set(id, { path, zone, logs });
    return logs;
  }

  async #closeLogs(id: string): Promise<void> {
    const known = this.#logs.get(id);
    this.#logs.delete(id);
    await known?.logs.close();
  }
}

interface SomewhereOptions {
  /** What every node keeps of every member needs no request. */
  profile?: MemberProfile;
  /** The report of the member says that it was recorded, and until when; otherwise the ends of responses do. */
  isReported: boolean;
}

/** What was recorded of a member, wherever it is: looked for with the first request. */
class RecordedSomewhere extends DelegatedNode implements NodeState {
  readonly #load: (options: CallOptions) => Promise<NodeState>;
  readonly #profile: MemberProfile | undefined;
  readonly #isReported: boolean;

  constructor(load: (options: CallOptions) => Promise<NodeState>, { profile, isReported }: SomewhereOptions) {
    super();
    this.#load = load;
    this.#profile = profile;
    this.#isReported = isReported;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return (await this.#load(options)).describe(options);
  }

  async config(options: ConfigOptions = {}): Promise<NodeConfig> {
    const { config = null } = this.#profile ?? {};
    return config !== null && options.format !== 'source' ? config : (await this.#load(options)).config(options);
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return (await this.logFiles(options)).map(({ name, size }) => ({ name, size }));
  }

  override async logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return this.#profile?.files ?? (await this.#load(options)).logFiles(options);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    return (await this.#load(options)).viewLog(request, options);
  }

  protected nodeFor(_operation: unknown, { options }: { options: CallOptions }): Promise<NodeState> {
    return this.#load(options);
  }

  protected override toEnd<E extends { limits?: string }>(end: E): E {
    if (!this.#isReported) return end;
    const { limits: _limits, ...rest } = end;
    return rest as E;
  }
}

/** What is missing at the end of a recording; `null` if it is not a whole one. */
function missingOf(found: Pick<Found, 'asOfMs' | 'sinceMs'> | undefined, untilMs: number): number | null {
  return found?.sinceMs == null ? null : Math.max(0, untilMs - found.asOfMs);
}

function sinceOf({ sinceMs }: Found): number {
  return sinceMs ?? Infinity;
}

/** The clock of a member compared with this node, from its clock and that of the one that compared them. */
function addClocks(clock: MemberClock | null, by: MemberClock | undefined): MemberClock | null {
  if (!clock || !by) return clock;
  return { offsetMs: clock.offsetMs + by.offsetMs, uncertaintyMs: clock.uncertaintyMs + by.uncertaintyMs };
}
