import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf, type MemberSelection, pickMembers, ResponseClock, selectsMembers } from '@porthole/contract';
import { createZone, LogDir, type LogSelection, nearestNames, WorkerPool } from '@porthole/logs';
import { SharedByKey } from '@porthole/logs/shared';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { visibleText } from '../output/visible-text.ts';
import { isUrl, namesNode } from './endpoint.ts';
import { findPath, isJournal, journalLog, type LocalPath, meantText, nearFiles } from './find-path.ts';
import { LocalLogs, StdinLogs } from './local-logs.ts';
import {
  type Backend,
  type FileHolder,
  type LogSource,
  type LogState,
  type OpenSources,
  ofFamily,
  ofFile,
  selectedLog,
} from './log-source.ts';
import { openNode } from './open-node.ts';
import { OwnLogs } from './own-logs.ts';
import { resolveNodeRef } from './resolve-node.ts';
import { checkQuery, localOptions, memberSelection, storeFlag } from './source-flags.ts';
import { hasPipedInput, STDIN_FILE, StdinSpool } from './stdin-spool.ts';

/** In addition to the main thread, which scans as well. */
const OTHER_THREADS = Math.max(1, Math.min(8, availableParallelism()) - 1);

/** The first request to a node asks for so many: `search.max-records` is ten times as many by default. */
const NODE_RECORDS = 1000;

/** Local queries have no limit; records are printed as they are found. */
const LOCAL_RECORDS = Number.MAX_SAFE_INTEGER;

/**
 * Opens the source of each argument, after all logs of `members` if these are given; without any, what is piped in, else
 * all logs of the node.
 */
export async function openSources(
  invocation: Invocation,
  targets: readonly string[],
  members?: MemberSelection,
): Promise<OpenSources> {
  checkQuery(invocation);
  const opener = new SourceOpener(invocation);
  const isByDefault = targets.length === 0 && members === undefined;
  const isPiped = isByDefault && !wantsNode(invocation) && hasPipedInput();
  const byDefault = isPiped ? STDIN : undefined;
  try {
    const sources: LogSource[] = [];
    if (members) sources.push(await opener.openMembers(members));
    for (const target of isByDefault ? [byDefault] : targets) sources.push(await opener.open(target));
    // Followed, it may be empty only so far.
    if (isPiped && opener.isInputEmpty && !invocation.isOn('follow')) invocation.terminal.note(NO_INPUT);
    return { sources: tellApart(sources), close: () => opener.close() };
  } catch (error) {
    await opener.close();
    throw error;
  }
}

const NO_FILES = { files: [] };

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
    const name = selectedLog(source)?.name;
    if (name === undefined) continue;
    const { src: _missing, ...members } = pickMembers(source.selection);
    const listing = source.state.logFiles(members);
    // Without a list, the error says what it can.
    const { files: listed } = await listing.catch(() => NO_FILES);
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
    const { label, nodes } = source;
    const name = selectedLog(source)?.name;
    const isAmbiguous = sources.some(
      (other, at) => at !== index && [undefined, name].includes(selectedLog(other)?.name),
    );
    if (nodes || label === STDIN || (name !== undefined && !isAmbiguous) || sources.length < 2) return source;
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
  const isNamed = namesNode(invocation) || selectsMembers(memberSelection(invocation));
  return isNamed || Boolean(PORTHOLE_URL || PORTHOLE_CONTEXT);
}

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
    const members = memberSelection(this.#invocation);
    if (target !== undefined && isJournal(target)) {
      const isHere = !selectsMembers(members) && !namesNode(this.#invocation);
      return isHere
        ? this.#journal(target)
        : this.#remote(undefined, { target, members, log: ofFamily(journalLog(target)) });
    }
    if (isAddress) return this.#remote(target, { target, members });
    if (selectsMembers(members)) return this.#remote(undefined, { target, members, file: target });
    // With --url or -c, a plain word can only be a log name on that node.
    const path = target === undefined ? undefined : await findPath(target, namesNode(this.#invocation));
    if (path) return this.#local(target ?? '', path);
    const ref = target?.includes(':') ? await this.#resolve(target) : undefined;
    if (!ref) return this.#remote(undefined, { target, file: target });
    const { node, file, isPast } = ref;
    // The archive has logs, not files.
    const named = isPast && file !== undefined ? { log: ofFamily(file) } : { file };
    return this.#remote(undefined, { target, members: { nodes: [node] }, ...named });
  }

  openMembers(members: MemberSelection): Promise<LogSource> {
    return this.#remote(undefined, { members });
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
    const logs = new StdinLogs(await this.#openDir(spool.dir), spool);
    return { ...this.#ofFiles(logs), label: STDIN, selection: ofFile(STDIN_FILE) };
  }

  /** The journal of this machine. */
  async #journal(label: string): Promise<LogSource> {
    const { openJournal } = await import('./journal-logs.ts');
    const logs = await openJournal(this.#invocation, label, (dir) => this.#newDir(dir));
    this.#cleanups.push(() => logs.close());
    return { ...this.#here(logs, logs), label, selection: logs.selection };
  }

  async #local(label: string, { dir, file }: LocalPath): Promise<LogSource> {
    const logs = new LocalLogs(this.#dirs.get(dir) ?? (await this.#openDir(dir)));
    const backend = { ...this.#ofFiles(logs), listLogs: () => logs.listLogs() };
    return { ...backend, label, selection: await this.#select(backend, file) };
  }

  /** Files that are printed without decoding them, where that is possible. */
  #ofFiles(logs: LocalLogs): Backend {
    return { ...this.#here(new OwnLogs(logs), logs), searchPrinted: (query, options) => logs.search(query, options) };
  }

  /** What is read in this process. */
  #here(state: LogState, holder: FileHolder): Backend {
    const zone = createZone(this.#invocation.text('log-zone'));
    return { state, holderFor: () => holder, zone, clockAheadMs: 0, maxRecords: LOCAL_RECORDS };
  }

  async #openDir(dir: string): Promise<LogDir> {
    const opened = await this.#newDir(dir);
    this.#dirs.set(dir, opened);
    return opened;
  }

  async #newDir(dir: string): Promise<LogDir> {
    const options = await localOptions(this.#invocation, createZone(this.#invocation.text('log-zone')));
    return new LogDir(dir, { ...options, scansHere: true, workers: OTHER_THREADS });
  }

  /** A node, or members of its cluster. */
  async #remote(url: string | undefined, { target, members = {}, file, log }: RemoteLogs): Promise<LogSource> {
    const isOfMembers = selectsMembers(members);
    if (isOfMembers && this.#invocation.text('cursor') !== undefined)
      throw new ProgramError('--cursor works with a single node only; use --since');
    const backend = await this.#nodes.run(url ?? '', () => this.#connect(url));
    const selected = { ...members, ...storeFlag(this.#invocation) };
    const selection = { ...selected, ...(log ?? (await this.#select(backend, file, selected))) };
    return { ...backend, label: target ?? (isOfMembers ? 'all nodes' : ''), selection, nodes: shownNodes(members) };
  }

  async #connect(url: string | undefined): Promise<Backend> {
    const clock = new ResponseClock();
    const client = await openNode(this.#invocation, url, { clock });
    try {
      const { timeZone, clockMs } = await client.describe();
      // Asked for with each record: a client for each of them takes as long as printing it.
      const holders = new Map<string | undefined, FileHolder>([[undefined, client]]);
      const holderFor = (node: string | undefined) => {
        const holder = holders.get(node) ?? client.node(node ?? '');
        holders.set(node, holder);
        return holder;
      };
      const times = { zone: createZone(timeZone), clockAheadMs: clockMs - Date.now() };
      const listLogs: Backend['listLogs'] = (options) => client.listLogs(options);
      return { state: client, holderFor, listLogs, ...times, maxRecords: NODE_RECORDS };
    } catch (error) {
      if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
      // It only implements the contract.
      const { openContractLogs } = await import('./contract-logs.ts');
      const threads = new WorkerPool(OTHER_THREADS, { scansHere: true });
      const logs = await openContractLogs(this.#invocation, client, { clock, threads });
      this.#cleanups.push(async () => {
        await logs.close();
        await threads.close();
      });
      return this.#here(new OwnLogs(logs, new URL(client.url).host), logs);
    }
  }

  /** One file, or with `--rotated` the family it belongs to. */
  async #select(
    { state }: Pick<LogSource, 'state'>,
    file: string | undefined,
    members: MemberSelection = {},
  ): Promise<LogSelection> {
    if (file === undefined) return {};
    if (!this.#invocation.isOn('rotated')) return ofFile(file);
    const { files } = await state.logFiles(pickMembers(members));
    return ofFamily(files.find(({ name }) => name === file)?.family ?? file);
  }
}

/** Logs of a node or of members of its cluster. */
interface RemoteLogs {
  /** As given. */
  target?: string | undefined;
  members?: MemberSelection;
  file?: string | undefined;
  log?: LogSelection;
}

function shownNodes(members: MemberSelection): LogSource['nodes'] {
  if (!selectsMembers(members)) return undefined;
  const { nodes } = members;
  return nodes?.length === 1 && !/[*?]/.test(nodes.join()) ? 'one' : 'several';
}
