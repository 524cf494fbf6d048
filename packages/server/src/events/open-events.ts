import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { createZone, LogDir, type WorkerPool } from '@porthole/logs';
import type { ConfigSource } from '../config/service-config.ts';
import { ownDirs } from '../own-dirs.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { ConfigHistory } from './config-history.ts';
import { EventLog } from './event-log.ts';
import { RunMark } from './last-run.ts';
import { NodeEvents } from './node-events.ts';
import { NodePast } from './node-past.ts';

interface OpenEventsDeps {
  config: ConfigSource;
  ownLog: OwnLog;
  version: string;
  startedMs: number;
  /** The logs that are shown. */
  logPath: string;
  threads: WorkerPool | undefined;
}

/** What happens to the node, written and read back. */
export interface OpenEvents {
  events: NodeEvents;
  past: NodePast;
  close(): Promise<void>;
}

/** A text says why it is not kept, which is a warning: a node must start on a full disk. `undefined`: it is turned off. */
export async function openEvents(settings: Settings, deps: OpenEventsDeps): Promise<OpenEvents | string | undefined> {
  const { maxBytes } = settings.events;
  if (maxBytes === 0) return undefined;
  const { events: dir, configHistory } = ownDirs(settings);
  try {
    const log = await EventLog.open({ dir, maxBytes });
    const history = new ConfigHistory(configHistory);
    const { certFile } = settings.tls;
    const { config, ownLog, version, startedMs, logPath, threads } = deps;
    const events = new NodeEvents({
      ...{ log, history, config, version, startedMs },
      mark: new RunMark(dir),
      dirs: [dirname(settings.logging.dir), logPath],
      certificate: async () => (certFile === '' ? undefined : readFile(certFile, 'latin1')),
      ownLog: ownLog.component('events'),
    });
    await events.start();
    // One thread that starts with the first question: events are few.
    const own = threads ? { threads } : { workers: 1 };
    const logs = new LogDir(dir, { zone: createZone('UTC'), hidden: ['running*', 'notify-*'], ...own });
    const past = new NodePast({ logs, history });
    return {
      events,
      past,
      close: async () => {
        await events.close();
        await past.close();
      },
    };
  } catch (error) {
    return `events.max-size: what happens to this node cannot be kept in ${dir}: ${errorMessage(error)}`;
  }
}
