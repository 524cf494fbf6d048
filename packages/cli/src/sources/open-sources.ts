import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import type { Client } from '@porthole/client';
import { codeOf, familySource, fileSource, type MemberSelection, ResponseClock, searchItems } from '@porthole/contract';
import { createZone, LogDir, nearestNames, WorkerPool, type Zone } from '@porthole/logs';
import { SharedByKey } from '@porthole/logs/shared';
import type { TailNode } from '@porthole/server/contract-node';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { visibleText } from '../output/visible-text.ts';
import { isUrl, namesNode } from './endpoint.ts';
import { findPath, isJournal, journalLog, type LocalPath, meantText, nearFiles } from './find-path.ts';
import { LocalLogs, StdinLogs } from './local-logs.ts';
import {
  clusterBackend,
  type FileHolder,
  type LogSource,
  type LogState,
  nodeState,
  type OpenSources,
  selectedLog,
} from './log-source.ts';
import { openNode } from './open-node.ts';
import { queryCluster, resolveNodeRef } from './query-cluster.ts';
import { checkQuery, localFormats, localOptions, memberSelection } from './source-flags.ts';
import { hasPipedInput, STDIN_FILE, StdinSpool } from './stdin-spool.ts';

/** In addition to the main thread, which scans as well. */
const OTHER_THREADS = Math.max(1, Math.min(8, availableParallelism()) - 1);

/** The first request to a node asks for so many: `search.max-records` is ten times as many by default. */
const NODE_RECORDS = 1000;

/** For a node that serves only the ends of its files: some ten thousand records of each. */
const CONTRACT_LIMITS = {
  tailBytes: 5 * 1024 ** 2,
  maxTotalBytes: 512 * 1024 ** 2,
  maxFiles: 1000,
  maxFileBytes: 64 * 1024 ** 2,
};

/** Local queries have no limit; records are printed as they are found. */
const LOCAL_RECORDS = Number.MAX_SAFE_INTEGER;

/** Opens the source of each argument; without arguments, what is piped in, else all logs of the node. */
export async function openSources(invocation: Invocation, targets: readonly string[]): Promise<OpenSources> {
  checkQuery(invocation);
  const opener = new SourceOpener(invocation);
  const isPiped = targets.length === 0 && !wantsNode(invocation) && hasPipedInput();
  const byDefault = isPiped ? STDIN : undefined;
  try {
    const sources: LogSource[] = [];
    for (const target of targets.length === 0 ? [byDefault] : targets) sources.push(await opener.open(target));
    // Followed, it may be empty only so far.
    if (isPiped && opener.isInputEmpty && !invocation.isOn('follow')) invocation.terminal.note(NO_INPUT);
    return { sources: tellApart(sources), close: () => opener.close() };
  } catch (error) {
    await opener.close();
    throw error;
  }
}

/** More names would not help. */
const SHOWN_NAMES = 10;

const NOT_FOUND: ReadonlySet<string> = new Set(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

/** For a log that does not exist, an error that names what there is: logs, and files here. Any other error is returned as it is. */
export async function explainMissingLog(error: unknown, sources: readonly LogSource[]): Promise<unknown> {
  if (!(error instanceof Error) || !NOT_FOUND.has(codeOf(error))) return error;
  // Several words of a line may be missing in the same place.
  const near = new Set<string>();
  const there = new Set<string>();
  for (const source of sources) {
    const { state } = source;
    const name = selectedLog(source)?.name;
    if (name === undefined) continue;
    // Without a list, the error says what it can.
    const listed = await state.logFiles().catch(() => []);
    const names = [...new Set(listed.flatMap((each) => [each.name, each.family]))];
    if (names.includes(name)) continue;
    for (const found of nearestNames(name, names)) near.add(found);
    for (const found of await nearFiles(name)) near.add(`./${found}`);
    for (const { family } of listed) there.add(family);
  }
  const [reason = ''] = error.message.split('; did you mean');
  if (near.size > 0) return new ProgramError(reason + meantText([...near]), { cause: error });
  if (there.size === 0) return error;
  const more = there.size > SHOWN_NAMES ? ` and ${there.size - SHOWN_NAMES} more` : '';
  const shown = visibleText(`; there are ${[...there].slice(0, SHOWN_NAMES).join(', ')}${more}`);
  return new ProgramError(reason + shown, { cause: error });
}

/** Gives each source a place where files of another one may have the same name. */
function tellApart(sources: readonly LogSource[]): LogSource[] {
  return sources.map((source, index) => {
    const { label, isCluster } = source;
    const name = selectedLog(source)?.name;
    const isAmbiguous = sources.some(
      (other, at) => at !== index && [undefined, name].includes(selectedLog(other)?.name),
    );
    if (isCluster || label === STDIN || (name !== undefined && !isAmbiguous) || sources.length < 2) return source;
    if (isUrl(label)) return { ...source, place: `${new URL(label).host}/` };
    const dir = name === undefined ? label : dirname(label);
    return { ...source, place: dir === '' || dir === '.' ? '' : join(dir, '/') };
  });
}

/** Argument for standard input. */
const STDIN = '-';

// absence: of the input of the program itself
const NO_INPUT = 'standard input is empty; to read the logs of a node instead, name it with --url';

/** Whether flags or the environment name a node or nodes. */
function wantsNode(invocation: Invocation): boolean {
  const { PORTHOLE_URL, PORTHOLE_CONTEXT } = invocation.env;
  return namesNode(invocation) || wantsAll(invocation) || Boolean(PORTHOLE_URL || PORTHOLE_CONTEXT);
}

function wantsAll(invocation: Invocation): boolean {
  return invocation.isOn('all') || Object.keys(memberSelection(invocation)).length > 0;
}

/** Where the records of a cluster are read. */
export function storeFlag(invocation: Invocation): Pick<MemberSelection, 'store'> {
  const store = invocation.text('store');
  return store === 'nodes' || store === 'archive' || store === 'auto' ? { store } : {};
}

/** A source before its logs are selected. */
type Backend = Omit<LogSource, 'label' | 'selection'>;

/** Opens sources; directories and nodes are opened once and shared. */
class SourceOpener {
  readonly #invocation: Invocation;
  readonly #dirs = new Map<string, LogDir>();
  readonly #nodes = new SharedByKey<string, Backend>({ isKept: true });
  readonly #cleanups: (() => Promise<void>)[] = [];
  #spool: StdinSpool | undefined;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  async open(target: string | undefined): Promise<LogSource> {
    const isAddress = target !== undefined && isUrl(target);
    if (target === STDIN) return this.#stdin();
    if (target !== undefined && isJournal(target)) return this.#journal(target);
    if (wantsAll(this.#invocation))
      return this.#members(isAddress ? target : undefined, { file: isAddress ? undefined : target });
    if (isAddress) return { ...(await this.#node(target)), label: target, selection: {} };
    // With --url or -c, a plain word can only be a log name on that node.
    const path = target === undefined ? undefined : await findPath(target, namesNode(this.#invocation));
    if (path) return this.#local(target ?? '', path);
    const ref = target?.includes(':') ? await this.#resolve(target) : undefined;
    if (ref) return this.#members(undefined, { nodes: [ref.node], file: ref.file, isPast: ref.isPast });
    const node = await this.#node(undefined);
    const selection = target === undefined ? {} : await this.#select(node, target);
    return { ...node, label: target ?? '', selection };
  }

  async #resolve(target: string) {
    return resolveNodeRef(await openNode(this.#invocation), target, { withPast: true });
  }

  async close(): Promise<void> {
    for (const dir of this.#dirs.values()) await dir.close();
    for (const remove of this.#cleanups) await remove();
  }

  /** Whether standard input was read and had no byte. */
  get isInputEmpty(): boolean {
    return this.#spool?.isEmpty === true;
  }

  async #stdin(): Promise<LogSource> {
    if (this.#spool) throw new ProgramError('standard input can be read only once');
    const spool = await StdinSpool.start({ isFollowed: this.#invocation.isOn('follow') });
    this.#spool = spool;
    this.#cleanups.push(() => spool.close());
    const zone = createZone(this.#invocation.text('log-zone'));
    const dir = await this.#openDir(spool.dir, zone);
    this.#dirs.set(spool.dir, dir);
    const source = singleBackend(new StdinLogs(dir, spool));
    const selection = { src: [fileSource(STDIN_FILE)] };
    return { ...source, label: STDIN, selection, zone, clockAheadMs: 0, maxRecords: LOCAL_RECORDS };
  }

  /** Some members of the cluster of a node. */
  async #members(
    url: string | undefined,
    { nodes, file, isPast }: Pick<MemberSelection, 'nodes'> & { file: string | undefined; isPast?: true | undefined },
  ): Promise<LogSource> {
    if (this.#invocation.text('cursor') !== undefined)
      throw new ProgramError('--cursor works with a single node only; use --since');
    const client = await openNode(this.#invocation, url);
    const selected = { nodes: nodes ?? ['*'], ...memberSelection(this.#invocation), ...storeFlag(this.#invocation) };
    const description = await queryCluster(client, () => client.describe());
    const source: Backend = { ...clusterBackend(client, selected, description), maxRecords: NODE_RECORDS };
    // The archive has logs, not files.
    const named = isPast && file !== undefined ? { src: [familySource(file)] } : undefined;
    const selection = named ?? (file === undefined ? {} : await this.#select(source, file));
    const isOneNode = nodes?.length === 1 && !/[*?]/.test(nodes.join());
    return { ...source, label: nodes?.join(' ') ?? 'all nodes', selection, isOneNode };
  }

  /** The journal of this machine, or with `--url` or `--all` those of nodes that serve them. */
  async #journal(target: string): Promise<LogSource> {
    if (wantsAll(this.#invocation) || namesNode(this.#invocation)) {
      const selection = { src: [familySource(journalLog(target))] };
      if (wantsAll(this.#invocation)) return { ...(await this.#members(undefined, { file: undefined })), selection };
      return { ...(await this.#node(undefined)), label: target, selection };
    }
    const { openJournal } = await import('./journal-logs.ts');
    const zone = createZone(this.#invocation.text('log-zone'));
    const logs = await openJournal(this.#invocation, target, (dir) => this.#openDir(dir, zone));
    this.#cleanups.push(() => logs.close());
    const source = { ...singleBackend(logs), zone, clockAheadMs: 0, maxRecords: LOCAL_RECORDS };
    return { ...source, label: target, selection: logs.selection };
  }

  async #local(label: string, { dir, file }: LocalPath): Promise<LogSource> {
    const zone = createZone(this.#invocation.text('log-zone'));
    const logs = this.#dirs.get(dir) ?? (await this.#openDir(dir, zone));
    this.#dirs.set(dir, logs);
    const source = { ...singleBackend(new LocalLogs(logs)), zone, clockAheadMs: 0, maxRecords: LOCAL_RECORDS };
    const selection = file === undefined ? {} : await this.#select(source, file);
    return { ...source, label, selection };
  }

  async #openDir(dir: string, zone: Zone): Promise<LogDir> {
    const options = await localOptions(this.#invocation, zone);
    return new LogDir(dir, { ...options, scansHere: true, workers: OTHER_THREADS });
  }

  #node(url: string | undefined) {
    return this.#nodes.run(url ?? '', () => this.#connect(url));
  }

  async #connect(url: string | undefined): Promise<Backend> {
    const clock = new ResponseClock();
    const client = await openNode(this.#invocation, url, { clock });
    try {
      const { timeZone, clockMs } = await client.describe();
      const zone = createZone(timeZone);
      return {
        ...singleBackend(nodeState(client)),
        zone,
        clockAheadMs: clockMs - Date.now(),
        maxRecords: NODE_RECORDS,
      };
    } catch (error) {
      if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
      return this.#contractOnly(client, clock);
    }
  }

  /** A node that only implements the contract serves the ends of its files; queries run locally on those. */
  async #contractOnly(client: Client, clock: ResponseClock): Promise<Backend> {
    const { ContractNode } = await import('@porthole/server/contract-node');
    const named = this.#invocation.text('log-zone');
    const zone = createZone(named);
    const memberZone = named === undefined ? undefined : zone;
    const tails: TailNode = {
      clock,
      listLogs: (options) => client.listLogs(options),
      viewLog: (request, options) => client.viewLog(request, options),
    };
    const threads = new WorkerPool(OTHER_THREADS, { scansHere: true });
    const formats = await localFormats(this.#invocation);
    const given = { zone, memberZone, formats, limits: CONTRACT_LIMITS };
    const node = new ContractNode({ node: client, tails, threads, ...given });
    this.#cleanups.push(async () => {
      await node.close();
      await threads.close();
    });
    const holder: FileHolder = { openLog: (request, options) => node.openTail(request, options) };
    const state: LogState = {
      logFiles: (options) => node.logFiles(options),
      searchLogs: (query, options) => searchItems(node, query, options),
      followLogs: (query, options) => node.followLogs(query, options),
      logHistogram: (query, options) => node.logHistogram(query, options),
      logDigest: (query, options) => node.logDigest(query, options),
      logTop: (query, options) => node.logTop(query, options),
      logFields: (query, options) => node.logFields(query, options),
    };
    return { state, holderFor: () => holder, isCluster: false, zone, clockAheadMs: 0, maxRecords: LOCAL_RECORDS };
  }

  /** One file, or with `--rotated` the family it belongs to. */
  async #select({ state }: Pick<LogSource, 'state'>, file: string): Promise<LogSource['selection']> {
    if (!this.#invocation.isOn('rotated')) return { src: [fileSource(file)] };
    const family = (await state.logFiles()).find(({ name }) => name === file)?.family;
    return { src: [familySource(family ?? file)] };
  }
}

/** A source that holds its own files. */
function singleBackend(state: LogState & FileHolder): Pick<LogSource, 'state' | 'holderFor' | 'isCluster'> {
  return { state, holderFor: () => state, isCluster: false };
}
