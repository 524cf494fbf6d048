import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SHARED_THREADS } from '@porthole/logs/testing';
import { onEnd, share, tempDir } from '@porthole/records/testing';
import type { PartialSettings } from '../settings/settings.ts';
import { type RunningNode, type StartNodeOptions, startNode } from '../start-node.ts';

export interface TestNodeOptions extends StartNodeOptions {
  /** Files of the log directory. */
  files?: Readonly<Record<string, string | Uint8Array>>;
}

export interface TestNode {
  running: RunningNode;
  port: number;
  /** Holds everything below; a file written here is outside the log directory. */
  dir: string;
  /** The directory that is shown. */
  logDir: string;
}

/**
 * A node as `startNode` starts it, with shared scanning threads unless the test sets how many it has. Its unexpected
 * errors are left to the process, so that they fail the test.
 */
export function startWithSharedThreads(options: StartNodeOptions): Promise<RunningNode> {
  const threads = options.settings?.search?.workers === undefined && { threads: SHARED_THREADS };
  return startNode({ ownsProcess: true, ...threads, ...options });
}

/** Free ports, an own log that is kept apart from the logs shown, and no log that is open because it is counted. */
export function testSettings(dir: string, given: PartialSettings = {}): PartialSettings {
  return {
    ...given,
    http: { port: 0, ...given.http },
    grpc: { port: 0, ...given.grpc },
    logging: { dir: join(dir, 'own'), ...given.logging },
    events: { logs: false, ...given.events },
    service: { logDir: join(dir, 'logs'), ...given.service },
  };
}

/** A node on free ports that shows a directory of its own; stopped when the test ends. */
export async function startTestNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const { files = {}, settings = {}, ...rest } = options;
  const dir = tempDir();
  const logDir = join(dir, 'logs');
  mkdirSync(logDir);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(logDir, name)), { recursive: true });
    writeFileSync(join(logDir, name), content);
  }
  const running = await startWithSharedThreads({ ...rest, settings: testSettings(dir, settings) });
  onEnd(() => running.stop());
  return { running, port: running.node.httpPort, dir, logDir };
}

/**
 * One for all tests of a file, or of a group, that only ask it: starting a node takes longer than most of what they ask.
 * It has its values once the first of them runs.
 */
export function shareTestNode(options: TestNodeOptions = {}): Readonly<TestNode> {
  const shared = {} as TestNode;
  share(async () => Object.assign(shared, await startTestNode(options)));
  return shared;
}

/** TCP connections that a server on this port still holds: not those the system only remembers (TIME_WAIT). */
export function countConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const held = new Set(['01', '04', '05', '08', '09', '0B']);
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/self/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map((row) => row.trim().split(/\s+/))
    .filter(
      ([, address = '', , state = '', , , , , , inode]) => address.endsWith(local) && held.has(state) && inode !== '0',
    ).length;
}
