import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigHistory, NodePast } from '@porthole/cluster/past';
import { createZone, LogDir, type Scrubbing, type WorkerPool } from '@porthole/logs';
import type { ConfigSource } from '../config/service-config.ts';
import { ownDirs } from '../own-dirs.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { EventLog } from './event-log.ts';
import { LogEvents } from './log-events.ts';
import type { LogTallies } from './log-tallies.ts';
import { NodeEvents, RunMark } from './node-events.ts';
import { ServiceEvents, type ServiceEventsDeps } from './service-events.ts';

interface OpenEventsDeps {
  config: ConfigSource;
  ownLog: OwnLog;
  version: string;
  startedMs: number;
  /** The logs that are shown. */
  logs: LogDir;
  threads: WorkerPool | undefined;
  /** A secret that became known after an event was written is masked when it is read. */
  scrubbing: Scrubbing;
}

/** What happens to the node, written and read back. */
export interface OpenEvents {
  events: NodeEvents;
  past: NodePast;
  /** The log of events. */
  written: LogDir;
  /** What is counted of the logs. */
  tallies: LogTallies;
  /** Why events are not written, or logs not watched; `undefined` if they are. */
  problem(): string | undefined;
  /** The same of the history of configurations. */
  historyProblem(): string | undefined;
  close(): Promise<void>;
}

/** A node starts on a full disk: what cannot be written is tried again, and a problem until then. `undefined`: turned off. */
export async function openEvents(settings: Settings, deps: OpenEventsDeps): Promise<OpenEvents | undefined> {
  const { maxBytes } = settings.events;
  if (maxBytes === 0) return undefined;
  const { events: dir, configHistory } = ownDirs(settings);
  const log = await EventLog.open({ dir, maxBytes });
  const history = new ConfigHistory(configHistory);
  const { certFile } = settings.tls;
  const { config, version, startedMs, logs, threads, scrubbing } = deps;
  const ownLog = deps.ownLog.component('events');
  const events = new NodeEvents({
    ...{ log, history, config, version, startedMs },
    mark: new RunMark(dir),
    dirs: [dirname(settings.logging.dir), logs.path],
    certificate: async () => (certFile === '' ? undefined : readFile(certFile, 'latin1')),
    ownLog,
  });
  await events.start();
  const logEvents = new LogEvents({ logs, log, lookbackMs: settings.events.lookbackMs, ownLog });
  if (settings.events.logs) logEvents.start();
  const service = watchService(settings, { log, config, tallies: logEvents.tallies, ownLog });
  // One thread that starts with the first request: events are few.
  const own = threads ? { threads } : { workers: 1 };
  const written = new LogDir(dir, { zone: createZone('UTC'), hidden: ['running*', 'notify-*'], scrubbing, ...own });
  const isFailing = () => log.problem !== undefined || events.historyProblem !== undefined;
  const past = new NodePast({ logs: written, history, isFailing });
  return {
    events,
    past,
    written,
    tallies: logEvents.tallies,
    problem: () => {
      if (log.problem !== undefined) return `writing events fails: ${log.problem}`;
      return logEvents.problem && `watching logs fails: ${logEvents.problem}`;
    },
    historyProblem: () => events.historyProblem && `writing configurations fails: ${events.historyProblem}`,
    close: async () => {
      await service?.close();
      await logEvents.close();
      await events.close();
      await past.close();
    },
  };
}

/** A node that shows its own logs and settings has no service. */
function watchService(
  { service: { pidFile, unit, logDir } }: Settings,
  deps: Omit<ServiceEventsDeps, 'pidFile' | 'unit'> & { config: ConfigSource },
): ServiceEvents | undefined {
  if (pidFile === '' && unit === '' && logDir === '' && deps.config.observes === 'self') return undefined;
  const service = new ServiceEvents({ ...deps, pidFile, unit });
  service.start();
  return service;
}
