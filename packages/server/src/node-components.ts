import type { SecretFingerprint } from '@porthole/cluster';
import type { NodePast } from '@porthole/cluster/past';
import { errorMessage, labelsOf, type NodeObject } from '@porthole/contract';
import {
  createHiddenNames,
  createZone,
  LogDir,
  type LogDirOptions,
  type LogMount,
  PATTERN_NAMES,
  removeHalfWritten,
  Scrubbing,
  type WorkerPool,
} from '@porthole/logs';
import { allWithin, owned, unneeded } from '@porthole/logs/shared';
import type { NodeArchive } from './archive/node-archive.ts';
import type { NodeOtlp, NodeOtlpDeps } from './archive/node-otlp.ts';
import type { Access } from './auth/access.ts';
import { ACCESS_LOG, type AccessLog, createAccessLog, hiddenLogs } from './auth/access-log.ts';
import type { Authenticate } from './auth/authenticate-hook.ts';
import { isMemberKey } from './auth/identity.ts';
import { type OpenedAccess, openAccess } from './auth/open-access.ts';
import { ReloadedFiles, type ReloadedGroup } from './auth/reloaded-files.ts';
import { ClusterFiles } from './cluster/cluster-files.ts';
import { NodeCluster } from './cluster/node-cluster.ts';
import { ConfigThread } from './config/config-thread.ts';
import type { KnownSecrets } from './config/config-view.ts';
import type { ConfigOption } from './config/mark.ts';
import { NodeSecrets } from './config/node-secrets.ts';
import { createConfigReader } from './config/program-config.ts';
import { type ConfigSource, createOwnConfig, createTextConfig, openServiceConfig } from './config/service-config.ts';
import { findWriters, openFilesNeeded } from './doctor/open-files.ts';
import { StartError } from './errors.ts';
import { type OpenEvents, openEvents } from './events/open-events.ts';
import { createHealth, type Health, probeLogDir } from './health.ts';
import type { Journal } from './journal/open-journal.ts';
import { LocalNode } from './local-node.ts';
import type { Notifier, NotifierDeps } from './notify/notifier.ts';
import { ownDirs, ownPaths } from './own-dirs.ts';
import {
  createSinkLog,
  type HostLogger,
  type Logger,
  type OwnLog,
  type OwnLogOptions,
  openNothing,
  openOwnLog,
  openStdout,
  passRecordsTo,
} from './own-log/own-log.ts';
import type { LoadedSettings } from './settings/load-settings.ts';
import { readFormats, readIndexLimit } from './settings/setting-kinds.ts';
import { readServiceConfig, readTree, type Settings } from './settings/settings.ts';
import { parseWebhooks } from './settings/webhooks.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';
import { StreamSlots } from './transport/stream-slots.ts';
import { ownVersion } from './version.ts';
import { SavedViewStore } from './views/saved-views.ts';

/** The parts of a node that need no port. */
export interface NodeComponents {
  tls: TlsFiles | undefined;
  access: Access;
  accessLog: AccessLog;
  /** Watching starts when the ports are bound. */
  reloadedFiles: ReloadedFiles;
  credentialFiles: readonly ReloadedGroup[];
  ownLog: OwnLog;
  logs: LogDir;
  config: ConfigSource;
  state: LocalNode;
  /** Joins the cluster when the ports are bound. */
  cluster: NodeCluster;
  slots: StreamSlots;
  /** Unless no events are kept. */
  happened: OpenEvents | undefined;
  views: SavedViewStore;
  /** If `archive.url` is set. */
  archive: NodeArchive | undefined;
  /** If `ship.otlp` is set. */
  otlp: NodeOtlp | undefined;
  health: Health;
  /** Warnings for the operator that do not keep the node from starting. */
  warnings: string[];
  close(): Promise<void>;
}

interface NodeComponentsOptions {
  /** The configuration of the program that embeds the node. */
  config: ConfigOption | undefined;
  authenticate: Authenticate | undefined;
  node(): NodeObject;
  isStopping(): boolean;
  /** Receives the own log instead of files. */
  logger: HostLogger | undefined;
  /** Worker pool shared with other nodes of this process, instead of `search.workers` of its own. */
  threads: WorkerPool | undefined;
}

/** Opens everything that needs no port. If it throws, the node cannot start and nothing is left open. */
export async function openNodeComponents(
  loaded: LoadedSettings,
  options: NodeComponentsOptions,
): Promise<NodeComponents> {
  const opened: Closable[] = [];
  const close = async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  const keep = <T extends Closable | undefined>(part: T): T => {
    if (part) opened.push(part);
    return part;
  };
  try {
    return { ...(await openAll(loaded, { ...options, keep })), close };
  } catch (error) {
    await unneeded(close()); // why the node cannot start is what matters
    throw error;
  }
}

interface Closable {
  close(): Promise<void>;
}

/** `keep`: what is opened is closed with the node, or with a start that fails; the last first. */
async function openAll(
  loaded: LoadedSettings,
  { keep, ...options }: NodeComponentsOptions & { keep<T extends Closable | undefined>(part: T): T },
): Promise<Omit<NodeComponents, 'close'>> {
  const { settings } = loaded;
  const zone = createZone(settings.node.timeZone);
  const tls = await readTlsFiles(settings);
  const opened = await openAccess(settings, {
    log: () => ownLog.component('auth'),
    memberToken: () => clusterFiles.token,
    authenticate: options.authenticate,
  });
  const { access } = opened;
  const clusterFiles = await ClusterFiles.open(settings);
  const logPath = settings.service.logDir || settings.logging.dir;
  // Without files of its own, a node that is not beside a service has no logs to show.
  const hasLogs = settings.service.logDir !== '' || (settings.logging.to === 'directory' && !options.logger);
  const warnings = [...loaded.warnings, ...opened.warnings, ...(await logDirWarnings(logPath, settings))];
  const fingerprint = await clusterFiles.fingerprint();
  const { scrubbing, secrets, config } = await openSecretsAndConfig(loaded, { given: options.config, fingerprint });
  const { logger, threads } = options;
  const openLog = (changes: Partial<OwnLogOptions>) => openLogOf({ ...settings.logging, zone, ...changes }, logger);
  const ownLog = keep(await startOwnLog(openLog));
  secrets.reportTo(ownLog.component('logs'));
  warnings.push(...secrets.startWarnings(config), ...(await ownLogWarnings(ownLog, loaded)));
  const hidden = await hiddenLogs(settings, logPath);
  const reloadedFiles = keep(new ReloadedFiles(ownLog.component('auth')));
  const accessLog = createAccessLog({
    mode: settings.logging.access,
    isGuarded: access.isGuarded,
    isDenied: createHiddenNames(hidden),
    open: () => openLog({ level: 'info', fileName: ACCESS_LOG }),
  });
  keep(accessLog);
  const journal = keep(await startJournal(settings, ownLog));
  const mounts = journal ? [journal.mount] : undefined;
  const log = ownLog.component('logs');
  const logs = keep(
    await openLogDir(settings, {
      ...{ path: logPath, zone, hidden, scrubbing, threads, mounts, log },
      deleted: (selection) => archive?.deleted(selection) ?? [],
    }),
  );
  if (!loaded.writesNothing) void owned(removeLeftOvers(settings), (error) => log.warn('start', errorMessage(error)));
  const happened = keep(
    await openEvents(settings, {
      ...{ config, ownLog, logs, threads, scrubbing },
      version: options.node().version,
      startedMs: options.node().onlineTime,
    }),
  );
  const observes = settings.service.logDir === '' ? config.observes : 'service';
  const labels = labelsOf(settings.node.labels);
  const self = { node: options.node, role: settings.cluster.role, labels, config, logs, zone, observes };
  const problems = () => health.problems();
  const state = new LocalNode({ ...self, problems, past: happened?.past, shipping: () => archive?.shipping });
  const clusterLog = ownLog.component('cluster');
  const archive = await openArchive(settings, { logs, isHidden: createHiddenNames(hidden), ownLog });
  const otlp = await openOtlp({ settings, logs, events: happened?.written, log: ownLog.component('otlp') });
  keep({ close: () => allWithin(SHIPPING_MS, [archive?.close(), otlp?.close()]) });
  const events = happened?.events.log;
  const notifier = await openNotifier(settings, {
    past: happened?.past,
    startedMs: options.node().onlineTime,
    senders: () => cluster.senders,
    log: ownLog.component('notify'),
  });
  if (settings.notify.webhook.length > 0 && !notifier)
    warnings.push('notify.webhook: nothing is sent, because this node keeps no events: events.max-size is 0');
  const { maxStreams: max, maxStreamsPerClient: perClient } = settings.http;
  const slots = new StreamSlots({ max, perClient, hasMembers: settings.cluster.tokenFile !== '' });
  const untilFree = (mostMs: number) => slots.untilFree(mostMs);
  const joined = {
    settings,
    files: clusterFiles,
    state,
    zone,
    scrubbing,
    log: clusterLog,
    archive,
    otlp,
    events,
    notifier,
  };
  const cluster = new NodeCluster({ ...joined, untilFree });
  const views = new SavedViewStore({
    dir: loaded.writesNothing ? null : ownDirs(settings).views,
    keys: () => cluster.viewKeys,
    log: ownLog.component('views'),
  });
  const checks = {
    ...(hasLogs && { 'log directory': () => probeLogDir(logPath) }),
    configuration: () => config.check(),
    'own log': async () => checkOwnLog(ownLog),
    ...(!loaded.writesNothing && {
      'access log': async () => checkWriter(accessLog.problem && `writing fails: ${accessLog.problem}`),
      index: async () => checkWriter(logs.usage.diskIndex.problem),
    }),
    ...(happened && { events: async () => checkWriter(happened.problem()) }),
    ...(happened && { 'config history': async () => checkWriter(happened.historyProblem()) }),
    ...(notifier && { webhooks: async () => notifier.check() }),
    ...(journal && { journal: async () => journal.check() }),
    ...(access.isGuarded && { credentials: async () => checkCredentials(opened, reloadedFiles) }),
    ...(cluster.isConfigured && { cluster: async () => checkCluster(cluster) }),
    ...(cluster.isConfigured && { recordings: async () => checkWriter(cluster.recorderProblem ?? undefined) }),
    ...(archive && { archive: async () => archive.check() }),
    ...(otlp && { otlp: async () => otlp.check() }),
  };
  const health = createHealth(checks, options.isStopping);
  const credentialFiles = [...opened.files, ...secrets.watchedFiles(config)];
  const components = {
    tls,
    access,
    accessLog,
    credentialFiles,
    reloadedFiles,
    ownLog,
    logs,
    config,
    state,
    cluster,
    slots,
  };
  return { ...components, happened, views, archive, otlp, health, warnings };
}

/** What processes that were killed have left half-written. */
async function removeLeftOvers(settings: Settings): Promise<void> {
  for (const dir of Object.values(ownDirs(settings))) await removeHalfWritten(dir);
}

interface ConfigOptions {
  given: NodeComponentsOptions['config'];
  fingerprint: SecretFingerprint | undefined;
}

/** The configuration this node shows, and the secrets in it and in its own settings, which are masked in log text. */
async function openSecretsAndConfig(loaded: LoadedSettings, { given, fingerprint }: ConfigOptions) {
  const { scrub, scrubPatterns } = loaded.settings.logs;
  const scrubbing = new Scrubbing({ patterns: PATTERN_NAMES.filter((name) => scrub && scrubPatterns.includes(name)) });
  const secrets = new NodeSecrets(loaded, scrubbing);
  await secrets.addOwn();
  const thread = new ConfigThread(loaded.settings.config.secretKeys);
  const onSecrets = (found: KnownSecrets) => secrets.addConfig(found);
  const config = await openConfig(loaded, { given, fingerprint, onSecrets, thread });
  return { scrubbing, secrets, config };
}

/** Of the five seconds that a stop waits for what the node is connected to: the cluster has the rest. */
const SHIPPING_MS = 2500;

/** The default limit of searches per client: a quarter of all. */
const CLIENT_SHARE = 4;

type LogDirDeps = Pick<LogDirOptions, 'zone' | 'hidden' | 'scrubbing' | 'deleted'> & {
  path: string;
  threads: WorkerPool | undefined;
  mounts: readonly LogMount[] | undefined;
  log: Logger;
};

async function openLogDir(
  settings: Settings,
  { path, threads, mounts, log: logger, ...deps }: LogDirDeps,
): Promise<LogDir> {
  const { log, search, follow, http } = settings;
  const indexDir = planIndexDir(settings, logger);
  const own = await ownPaths(settings, path);
  const perClient = search.maxQueuedPerClient || Math.ceil(search.maxQueued / CLIENT_SHARE);
  const logs = new LogDir(path, {
    formats: readFormats(log.formats),
    tree: { ...readTree(log), own, ...(mounts && { mounts }) },
    workers: search.workers,
    maxQueued: search.maxQueued,
    maxQueuedOf: (client) => (isMemberKey(client) ? search.maxQueued : perClient),
    maxIndexBytes: search.maxIndexBytes,
    followBytes: follow.bufferBytes,
    followLogs: follow.maxLogs,
    reservedFiles: openFilesNeeded(http),
    pollMs: follow.pollMs,
    ...deps,
    ...(threads && { threads }),
    ...(indexDir && { indexDir }),
  });
  logs.startIndexing();
  return logs;
}

async function ownLogWarnings(ownLog: OwnLog, { settings, sources }: LoadedSettings): Promise<string[]> {
  const { dir } = settings.logging;
  const name = sources.flags ? '--logging-dir DIR' : 'the option settings.logging.dir';
  const { isFailing, lastError } = ownLog.stats();
  // Reading the open files of every process takes longer than the rest of a start.
  const writers = ownLog.isNew ? [] : await findWriters(ownLog.place);
  return [
    ...(isFailing ? [`logging.dir: the own log cannot be written to ${ownLog.place}: ${lastError}; retrying`] : []),
    ...(writers.length > 1 ? [sharedLogDir(dir, writers, name)] : []),
  ];
}

/** Both nodes would rotate and delete the files, and the log would mix the records of both. */
function sharedLogDir(dir: string, writers: readonly number[], name: string): string {
  const others = [...new Set(writers)].filter((pid) => pid !== process.pid);
  const who =
    others.length === 0 ? 'in this process' : `process${others.length === 1 ? '' : 'es'} ${others.join(', ')}`;
  return `logging.dir: another node (${who}) writes its own log to ${dir} too: give each its own with ${name}`;
}

/** An unreadable directory prevents the start; a missing one may be created later. */
async function logDirWarnings(path: string, { service }: Settings): Promise<string[]> {
  if (service.logDir === '') return []; // the own log creates it
  const { ok, missing, detail } = await probeLogDir(path);
  if (ok) return [];
  if (missing) return [`service.log-dir: ${detail}; no logs are shown until it does`];
  throw new StartError(`service.log-dir: ${detail}`);
}

interface OpenConfigOptions extends ConfigOptions {
  onSecrets(secrets: KnownSecrets): void;
  thread: ConfigThread;
}

async function openConfig(loaded: LoadedSettings, { given, ...open }: OpenConfigOptions): Promise<ConfigSource> {
  const { service, config } = loaded.settings;
  const files = readServiceConfig(loaded.settings);
  const { secretKeys, maxBytes } = config;
  if (given !== undefined)
    return createTextConfig(createConfigReader(given, { maxBytes }), { file: null, secretKeys, ...open });
  if (!files) return createOwnConfig(loaded);
  return openServiceConfig({ ...files, command: service.configCommand, secretKeys, ...open });
}

/** Loaded on demand: a node without an archive pays nothing for it. */
async function openArchive(
  settings: Settings,
  { logs, isHidden, ownLog }: { logs: LogDir; isHidden(log: string): boolean; ownLog: OwnLog },
): Promise<NodeArchive | undefined> {
  if (settings.archive.url === '') return undefined;
  const { NodeArchive: Archive } = await import('./archive/node-archive.ts');
  return new Archive({ settings, logs, isHidden, log: ownLog.component('archive') });
}

/** Loaded on demand: few nodes send records. */
async function openOtlp(deps: NodeOtlpDeps): Promise<NodeOtlp | undefined> {
  if (deps.settings.ship.otlp === '') return undefined;
  const { NodeOtlp: Otlp } = await import('./archive/node-otlp.ts');
  return new Otlp(deps);
}

/** Loaded on demand: few nodes send events. */
async function openNotifier(
  settings: Settings,
  { past, ...deps }: Pick<NotifierDeps, 'startedMs' | 'senders' | 'log'> & { past: NodePast | undefined },
): Promise<Notifier | undefined> {
  const { webhooks } = parseWebhooks(settings.notify.webhook, '/');
  if (webhooks.length === 0 || !past) return undefined;
  const { Notifier: Opened } = await import('./notify/notifier.ts');
  const { events: dir } = ownDirs(settings);
  return new Opened({ ...deps, past, webhooks, dir, cluster: settings.cluster.name, version: ownVersion() });
}

/** Loaded on demand: few nodes read it. */
async function startJournal(settings: Settings, ownLog: OwnLog): Promise<Journal | undefined> {
  if (!settings.log.journal) return undefined;
  const { openJournal } = await import('./journal/open-journal.ts');
  return openJournal(settings, ownLog.component('journal'));
}

async function openLogOf(options: OwnLogOptions & Settings['logging'], logger?: HostLogger): Promise<OwnLog> {
  if (logger) return createSinkLog(options, () => passRecordsTo(logger));
  if (options.to === 'stdout') return createSinkLog(options, openStdout);
  if (options.to === 'nothing') return createSinkLog(options, openNothing);
  return openOwnLog(options);
}

/** Opens the own log and waits for its first record, so that a failing disk is noticed at once. */
async function startOwnLog(open: (changes: Partial<OwnLogOptions>) => Promise<OwnLog>): Promise<OwnLog> {
  const log = await open({});
  log.component('node').info('start', 'the node is starting', { pid: process.pid });
  await log.flush();
  return log;
}

/** Of what the node writes for itself; see docs/reliability.md. */
function checkWriter(problem: string | undefined): { ok: boolean; detail: string } {
  return { ok: problem === undefined, detail: problem ?? 'written' };
}

function checkOwnLog(ownLog: OwnLog): { ok: boolean; detail: string } {
  const { dropped, lastError, isFailing } = ownLog.stats();
  if (isFailing) return { ok: false, detail: `writing fails: ${lastError}` };
  return {
    ok: true,
    detail: dropped > 0 ? `${dropped} records dropped since start` : `written to ${ownLog.place}`,
  };
}

function checkCredentials({ keyFailure }: OpenedAccess, { failures }: ReloadedFiles): { ok: boolean; detail: string } {
  const problems = failures.map(({ setting, detail }) =>
    detail.startsWith(setting) ? detail : `${setting}: ${detail}`,
  );
  const keys = keyFailure();
  if (keys !== undefined) problems.push(`auth.jwks-url: ${keys}`);
  if (problems.length === 0) return { ok: true, detail: 'up to date' };
  return { ok: false, detail: `${problems.join('; ')}; the last valid version stays in use` };
}

export function checkCluster({
  status: { isFresh, detail },
  gauges: { namesakeUrl },
}: Pick<NodeCluster, 'status' | 'gauges'>): { ok: boolean; detail: string } {
  if (namesakeUrl === null) return { ok: isFresh, detail };
  const namesake = `another node, at ${namesakeUrl}, is registered with the id of this one`;
  return { ok: false, detail: `${namesake}, and the others know only that one: set "cluster.node-id" on both` };
}

/** Where indexes are kept. `undefined`: nowhere, because it is turned off. */
function planIndexDir(settings: Settings, log: Logger): LogDirOptions['indexDir'] {
  const maxBytes = readIndexLimit(settings.search.maxIndexDisk);
  if (maxBytes(Number.MAX_SAFE_INTEGER) === 0) return undefined;
  return {
    dir: ownDirs(settings).index,
    maxBytes,
    version: ownVersion(),
    onProblem: (problem) =>
      log.warn('index', 'the index cannot be kept on disk; retrying within a minute', { problem }),
  };
}
