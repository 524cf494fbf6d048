import {
  type CallOptions,
  type ConfigHistory,
  type ConfigVersion,
  type FileRequest,
  familySource,
  fileSource,
  isPattern,
  type LogFilesOptions,
  LogSources,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PortholeError,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import { assertSafeName, groupFamilies, Scrubbing, type UserFormat, type WorkerPool, type Zone } from '@porthole/logs';
import type {
  ByteStream,
  Digest,
  DigestBaseline,
  DigestQuery,
  Fields,
  FieldsQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  RecordFilter,
  SearchEnd,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { isBatch, type RecordBatch } from '@porthole/records';
import { unreadPart } from '../requests/member-failure.ts';
import { type TailNode, viewFailure, viewTail } from './fetch-tail.ts';
import { followTails } from './follow-tails.ts';
import { MemberZone, zoneText } from './member-zone.ts';
import { type MirrorDir, nameOnNode, toNodeBatch, toNodeRecord } from './mirror-dir.ts';
import { safeEntries, type TailLimits } from './plan-files.ts';
import { type MirrorFacts, TailMirror } from './tail-mirror.ts';

/** The three operations of the contract. */
export type ContractState = Pick<NodeState, 'config' | 'listLogs' | 'viewLog'>;

/** Some ten thousand records of each file; 32 files of that length, or more that are shorter. */
const LIMITS: TailLimits = {
  tailBytes: 1024 ** 2,
  maxTotalBytes: 32 * 1024 ** 2,
  maxFiles: 500,
  maxFileBytes: 16 * 1024 ** 2,
};

/** A page of the console sends several requests at once: they share a listing. */
const FRESH_MS = 500;

const UNREAD = {
  format: 'unreadable',
  firstTimeMs: null,
  lastTimeMs: null,
  problem: 'the node serves only the ends of its files, and this one was not read',
} as const;

const UNTIMED = { firstTimeMs: null, lastTimeMs: null } as const;

/** What copies of the files of a node contain. */
export interface CopiedText {
  /** The zone of times without one; empty if it is not known. */
  zone: string;
  /** Nothing is missing since this time, by the clock of the node. */
  sinceMs: number;
  bytes: number;
  /** The time of the newest record, by the clock of the node. */
  lastRecordMs: number | null;
}

/** Where files are copied to. The copies are the recording of the node as soon as all files were read. */
export interface CopyTarget {
  readonly dir: string;
  readonly maxBytes: number;
  /** All files were read as of this time, by the clock of this node. */
  read(asOfMs: number, describe: () => Promise<CopiedText>): Promise<void>;
  /** The node does not respond. */
  lost(describe: () => Promise<CopiedText>): Promise<void>;
  /** Nothing is written any more. */
  close(): Promise<void>;
}

export interface ContractNodeOptions {
  node: ContractState;
  /** Source of the unmasked files to search; default: `node`. */
  tails?: TailNode;
  /** Masking of their text; default: none. */
  scrubbing?: Scrubbing;
  /** Time zone of its logs, if that is known. */
  memberZone?: Zone | undefined;
  /** The zone assumed until it is known from what the node writes. */
  zone: Zone;
  /** Formats of its logs, tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
  limits?: Partial<TailLimits>;
  /** Where its files are copied to; absent: to a temporary directory that is removed in the end. */
  copy?: CopyTarget | undefined;
  /** Scanner threads; closed by their creator, after this. */
  threads: WorkerPool;
  /** Poll interval of a follow; default: one second. */
  pollMs?: number;
  /** A listing younger than this is reused; default: half a second. */
  freshMs?: number;
}

/**
 * A node that only implements the contract. Requests for its records are served from the newest part of its files. The end of
 * each response reports what is missing: `limits`, `problems`, and the covered time range.
 */
export class ContractNode implements NodeState {
  readonly #node: ContractState;
  readonly #tails: TailNode;
  readonly #scrubbing: Scrubbing;
  readonly #zone: MemberZone;
  readonly #mirror: TailMirror;
  readonly #pollMs: number | undefined;
  readonly #copy: CopyTarget | undefined;

  constructor({ node, zone, limits = {}, threads, pollMs, freshMs = FRESH_MS, ...more }: ContractNodeOptions) {
    const { tails = node, formats, scrubbing = new Scrubbing(), copy } = more;
    this.#node = node;
    this.#tails = tails;
    this.#scrubbing = scrubbing;
    this.#pollMs = pollMs;
    this.#copy = copy;
    this.#zone = new MemberZone({ assumed: zone, set: more.memberZone });
    const merged = { ...LIMITS, ...limits };
    this.#mirror = new TailMirror({
      node: tails,
      zone: this.#zone,
      formats,
      limits: merged,
      threads,
      freshMs,
      scrubbing,
      ...(copy && {
        dir: copy.dir,
        onRead: async (atMs) => (this.isTimeGuessed ? undefined : copy.read(atMs, () => this.#describeCopies())),
        onSilent: () => copy.lost(() => this.#describeCopies()),
      }),
    });
  }

  /** Zone of its logs; `null` as long as it is only assumed. */
  get timeZone(): string | null {
    const { zone, source } = this.#zone.inUse;
    return source === 'assumed' ? null : zone.name;
  }

  /** Whether the times of its records depend on a zone that is only assumed. */
  get isTimeGuessed(): boolean {
    return this.timeZone === null && [...this.#mirror.facts().files.values()].some(({ times }) => times.hasLocal);
  }

  /** Ends its requests. */
  async close(): Promise<void> {
    await this.#mirror.close();
    await this.#copy?.close();
  }

  async #describeCopies(): Promise<CopiedText> {
    const { files } = this.#mirror.facts();
    const details = (await this.#mirror.dir.logs.details()).filter(({ firstTimeMs }) => firstTimeMs !== null);
    const cut = new Set([...files].filter(([, { isWhole }]) => !isWhole).map(([name]) => name));
    const lastMs = Math.max(-Infinity, ...details.map(({ lastTimeMs }) => lastTimeMs ?? -Infinity));
    return {
      zone: this.timeZone ?? '',
      sinceMs: Math.max(0, earliestTime(details, { cut, isWithAside: true })),
      bytes: [...files.values()].reduce((sum, { heldBytes, asideBytes }) => sum + heldBytes + asideBytes, 0),
      lastRecordMs: Number.isFinite(lastMs) ? lastMs : null,
    };
  }

  config(options?: CallOptions): Promise<NodeConfig> {
    return this.#node.config(options);
  }

  async listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return safeEntries(await this.#node.listLogs(options));
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    const { file } = request;
    assertSafeName(file);
    const entries = await this.#tails.listLogs(options);
    const listedBytes = entries.find(({ name }) => name === file)?.size;
    const passOn = () => this.#node.viewLog(request, options);
    try {
      // Perhaps it serves more than it lists.
      if (listedBytes === undefined) return await passOn();
      return await viewTail(this.#tails, request, { listedBytes, scrubbing: this.#scrubbing, passOn, ...options });
    } catch (error) {
      throw viewFailure(error, { file, entries });
    }
  }

  describe(): Promise<NodeDescription> {
    return notSupported('/api/v1/node');
  }

  settings(): Promise<NodeSettings> {
    return notSupported('/api/v1/config/settings');
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *events(): AsyncGenerator<never, void, undefined> {
    return notSupported('/api/v1/events');
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *followEvents(): AsyncGenerator<never, void, undefined> {
    return notSupported('/api/v1/events');
  }

  configHistory(): Promise<ConfigHistory> {
    return notSupported('/api/v1/config/history');
  }

  configVersion(): Promise<ConfigVersion> {
    return notSupported('/api/v1/config/history');
  }

  openLog(_request: FileRequest): Promise<OpenLog> {
    return notSupported('/api/v1/log/raw');
  }

  /** The mirrored part of a file: record offsets refer to it. The caller closes it. */
  async openTail({ file }: FileRequest, options: CallOptions = {}): Promise<OpenLog> {
    assertSafeName(file);
    await this.#mirror.refresh({ src: [fileSource(file)] }, options);
    return this.#mirror.dir.logs.open(file, options);
  }

  /** First and last timestamps are those of the mirrored part. */
  async logFiles(options: LogFilesOptions = {}): Promise<LogFileDetails[]> {
    const { src } = options;
    const { dir, facts } = await this.#open(src === undefined ? {} : { src }, options);
    return tailDetails(facts, dir, options);
  }

  async *search(
    query: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    const { dir, asked, fix } = await this.#open(query, options);
    // Records of an older part must be decoded, to name the file they are in.
    const { onlyRaw: _onlyRaw, ...how } = options;
    for await (const item of dir.logs.search(asked, how)) yield isBatch(item) ? toNodeBatch(item) : await fix(item);
  }

  async *followLogs(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[], void, undefined> {
    assertSafeSources(query);
    yield* followTails(this.#mirror, query, {
      ...options,
      ...(this.#pollMs !== undefined && { pollMs: this.#pollMs }),
    });
  }

  async logHistogram(query: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    const { dir, asked, fix } = await this.#open(query, options);
    const histogram = await dir.logs.histogram(asked, options);
    return { ...histogram, end: await fix(histogram.end) };
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    const { dir, asked, fix } = await this.#open(query, options);
    const digest = await dir.logs.digest(asked, options);
    const { fromMs: _fromMs, ...timeless } = asked;
    const { limits, problems } = await fix(digest.end, timeless);
    const unread = unreadPart({ problems, ...(limits !== undefined && { limits }) });
    const groups = digest.groups.map((group) => ({ ...group, sample: toNodeRecord(group.sample) }));
    const fixed = { ...digest, groups, end: await fix(digest.end) };
    return unread === null || !digest.baseline ? fixed : withoutNew(fixed, digest.baseline, unread);
  }

  async logFields(query: FieldsQuery, options: SearchOptions = {}): Promise<Fields> {
    const { dir, asked, fix } = await this.#open(query, options);
    const fields = await dir.logs.fields(asked, options);
    return { ...fields, end: await fix(fields.end) };
  }

  async logTop(query: TopQuery, options: SearchOptions = {}): Promise<Top> {
    const { dir, asked, fix } = await this.#open(query, options);
    const top = await dir.logs.top(asked, options);
    return { ...top, end: await fix(top.end) };
  }

  /** What was copied of the selected files, and the query in terms of the copies. */
  async #open<Q extends TailQuery>(
    query: Q,
    options: CallOptions,
  ): Promise<{ dir: MirrorDir; asked: Q; fix: FixEnd; facts: MirrorFacts }> {
    const { src } = query;
    assertSafeSources(query);
    const selection = src === undefined ? {} : { src };
    await this.#mirror.refresh(selection, options);
    const facts = this.#mirror.facts(selection);
    const { only } = new LogSources(src);
    const problem = only?.kind === 'file' ? facts.problems.find(({ file }) => file === only.name) : undefined;
    if (problem !== undefined && !facts.files.has(problem.file)) throw toError(problem);
    const { dir } = this.#mirror;
    const asked = withAside(query, facts);
    return { dir, asked, facts, fix: (end, given = asked) => limitEnd(end, { facts, dir, query: given }) };
  }
}

/** A file in two parts is a family, unless there are others of its log: then the newer part is searched. */
function withAside<Q extends TailQuery>(query: Q, { files, listed }: MirrorFacts): Q {
  if (query.src === undefined) return query;
  const divided = groupFamilies(listed.map(({ name }) => name)).filter(
    (family) => family.files.length === 1 && (files.get(family.files[0]?.name ?? '')?.asideBytes ?? 0) > 0,
  );
  const src = query.src.flatMap((text) => {
    const logs = new LogSources([text]);
    const whole = divided.filter((family) => family.files.some(({ name }) => logs.hasFile(name, family.name)));
    const families = whole.map(({ name }) => familySource(name));
    return logs.hasPatterns || families.length === 0 ? [text, ...families] : families;
  });
  return { ...query, src };
}

/** Throws for a name that the node cannot have. */
function assertSafeSources({ src }: LogSelection): void {
  for (const { kind, name } of new LogSources(src).list) if (kind === 'file' && !isPattern(name)) assertSafeName(name);
}

/** What the ends of files do not show to be old may be. */
function withoutNew(digest: Digest, baseline: DigestBaseline, detail: string): Digest {
  const groups = digest.groups.map((group) =>
    group.isNew ? { ...group, isNew: false, isNewUnknown: true as const } : group,
  );
  return { ...digest, groups, baseline: { ...baseline, isComplete: false, detail: baseline.detail ?? detail } };
}

/** `asked`: as if this had been asked for. */
type FixEnd = <E extends EndFacts>(end: E, asked?: TailQuery) => Promise<E>;

function toError({ code, detail }: FileProblem): PortholeError {
  return new PortholeError(code === 'LOG_FILE_NOT_FOUND' ? code : 'LOG_FILE_UNREADABLE', detail);
}

async function notSupported(path: string): Promise<never> {
  throw new PortholeError('NOT_SUPPORTED', `the node has no ${path}: it only implements the contract`);
}

/** Details of all listed files. The modification time is that of the newest record, or 0 if unknown. */
async function tailDetails(
  facts: MirrorFacts,
  dir: MirrorDir,
  options: LogFilesOptions = {},
): Promise<LogFileDetails[]> {
  const known = new Map((await dir.logs.details(options)).map((file) => [file.name, file]));
  const problems = new Map(facts.problems.map(({ file, detail }) => [file, detail]));
  const sizes = new Map(safeEntries(facts.listed).map(({ name, size }) => [name, size]));
  const all = groupFamilies([...sizes.keys()]).flatMap(({ name: family, files }) =>
    files.map(({ name, state, compressed }): LogFileDetails => {
      const isGuess = dir.zone.source === 'assumed' && facts.files.get(name)?.times.hasLocal === true;
      const details = known.get(name) ?? UNREAD;
      const { format, firstTimeMs, lastTimeMs, problem } = isGuess
        ? { ...details, ...UNTIMED, problem: 'time zone not known' }
        : details;
      return {
        ...{ name, size: sizes.get(name) ?? 0, family, state, compressed, format },
        ...{ modifiedMs: lastTimeMs ?? 0, firstTimeMs, lastTimeMs },
        problem: problems.get(name) ?? problem,
        ...('learned' in details && { learned: details.learned }),
      };
    }),
  );
  const logs = new LogSources(options.src);
  return all.filter(({ name, family }) => logs.hasFile(name, family));
}

/** The part of a query that decides what may be missing from the response. */
export type TailQuery = LogSelection &
  Pick<RecordFilter, 'fromMs' | 'toMs'> &
  Partial<Pick<SearchQuery, 'order' | 'start'>>;

export type EndFacts = Omit<SearchEnd, 'type' | 'cursor'>;

export interface LimitEndOptions {
  /** What was mirrored when the search began. */
  facts: MirrorFacts;
  /** The searched mirror. */
  dir: MirrorDir;
  query: TailQuery;
}

/** The end of a response from file tails, with what they lack: problems, covered range, and `limits`. */
export async function limitEnd<E extends EndFacts>(end: E, { facts, dir, query }: LimitEndOptions): Promise<E> {
  const isSelected = createSelector(query, facts);
  const problems = [...end.problems, ...facts.problems.filter(({ file }) => isSelected(file))].map((problem) => ({
    ...problem,
    file: nameOnNode(problem.file),
  }));
  const leftOut = new Set(end.problems.filter(({ code }) => code === 'LEFT_OUT').map(({ file }) => file));
  const files = [...facts.files].filter(([name]) => isSelected(name) && !leftOut.has(name));
  const cut = new Set(files.filter(([, { isWhole }]) => !isWhole).map(([name]) => name));
  // Whether a record is in the time range is then a guess, and so is what is not.
  const isNeeded = files.some(([, { times }]) => times.hasLocal);
  const isGuess = isNeeded && dir.zone.source === 'assumed';
  if (cut.size === 0 && !isGuess) return { ...end, problems };
  const begin = isGuess
    ? Number.POSITIVE_INFINITY
    : earliestTime(await dir.logs.details(), { cut, isWithAside: new LogSources(query.src).only?.kind !== 'file' });
  const held = files.map(([name, { heldBytes, asideBytes }]) => ({ name, heldBytes: heldBytes + asideBytes }));
  const zone = zoneText(dir.zone, { isNeeded });
  const limits = cut.size === 0 ? zone : `${heldText(held, facts)}; ${zone}`;
  return {
    ...end,
    problems,
    ...coverage(end, { begin, query, asOfMs: facts.asOfMs }),
    ...((isGuess || isLimited(end, { begin, query })) && { limits }),
  };
}

function createSelector({ src }: TailQuery, { listed }: MirrorFacts): (name: string) => boolean {
  const logs = new LogSources(src);
  if (logs.isAll) return () => true;
  const families = groupFamilies(listed.map(({ name }) => name));
  const names = families.flatMap((family) =>
    family.files.flatMap(({ name }) => (logs.hasFile(name, family.name) ? [name] : [])),
  );
  const selected = new Set(names);
  // A file that is not listed any more is selected by its own name.
  return (name) => selected.has(name) || logs.names('file', name);
}

interface LimitFacts {
  /** Time range of the mirrored parts. */
  begin: number;
  query: TailQuery;
}

/** Coverage starts at the latest start of an incomplete file; a file without timestamps has none. */
function earliestTime(
  details: readonly LogFileDetails[],
  { cut, isWithAside }: { cut: ReadonlySet<string>; isWithAside: boolean },
): number {
  const starts = new Map<string, number>();
  for (const { name, firstTimeMs } of details) {
    const file = isWithAside ? nameOnNode(name) : name;
    if (cut.has(file)) starts.set(file, Math.min(starts.get(file) ?? Infinity, firstTimeMs ?? Infinity));
  }
  return Math.max(-Infinity, ...starts.values());
}

/** Whether records may be missing: not if only later ones were requested, or all of a page of the newest are. */
function isLimited({ reason, coveredFromMs }: EndFacts, { begin, query }: LimitFacts): boolean {
  const isNewestPage = query.order === 'newest' && reason === 'limit';
  return begin > ((isNewestPage ? coveredFromMs : query.fromMs) ?? -Infinity);
}

function coverage(
  end: EndFacts,
  { begin, query, asOfMs }: LimitFacts & { asOfMs: number },
): Pick<EndFacts, 'coveredFromMs' | 'coveredToMs'> {
  const isAll = end.reason === 'exhausted' && query.start === undefined;
  const fromMs = Math.max(begin, (isAll ? query.fromMs : end.coveredFromMs) ?? -Infinity);
  const toMs = (isAll ? Math.min(query.toMs ?? Infinity, Math.max(asOfMs, fromMs)) : end.coveredToMs) ?? -Infinity;
  const isCovered = Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs <= toMs;
  return isCovered ? { coveredFromMs: fromMs, coveredToMs: toMs } : { coveredFromMs: null, coveredToMs: null };
}

function heldText(files: readonly { name: string; heldBytes: number }[], { listed }: MirrorFacts): string {
  const held = files.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  const sizes = new Map(listed.map(({ name, size }) => [name, size]));
  const total = files.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0);
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  return `served from the newest ${showBytes(held)} of ${showBytes(total)} in ${count}`;
}

function showBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, scale] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(bytes / Number(scale)).toFixed(1)} ${unit}`;
}
