import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cleanup } from './cleanup.ts';
import type { PeerName } from './peers.ts';
import { showCommand } from './program.ts';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

const TEMP_PREFIX = join(tmpdir(), 'porthole-bench-');

/** How long and how often things are measured. */
export interface Effort {
  rounds: number;
  roundSeconds: number;
  /** Load before the first round, not counted: caches and the compiler settle. */
  warmUpSeconds: number;
  readerMaxBytes: number;
  readerMaxMs: number;
  starts: number;
  idleSeconds: number;
  /** Size of the log that is searched, and of the one that is too large to be searched as a whole. */
  logBytes: number;
  largeLogBytes: number;
  /** How often a time is looked up in a log that was not asked about before. */
  seeks: number;
  followSeconds: number;
  /** Size of the log of each member that is searched together with others. */
  memberLogBytes: number;
  /** How long a node with many members is watched while nobody asks it. */
  idleClusterSeconds: number;
  /** Records of several nodes that are read to the last. */
  allRecords: number;
  /** How often a page is opened, or goes elsewhere. */
  navigations: number;
  /** How long the memory of a page is watched. */
  longFollowSeconds: number;
}

export const FULL_EFFORT: Effort = {
  rounds: 3,
  roundSeconds: 3,
  warmUpSeconds: 2,
  readerMaxBytes: 64 * MIB,
  readerMaxMs: 20_000,
  starts: 10,
  idleSeconds: 20,
  logBytes: GIB,
  largeLogBytes: 10 * GIB,
  seeks: 11,
  followSeconds: 20,
  memberLogBytes: 256 * MIB,
  idleClusterSeconds: 60,
  allRecords: 444_444,
  navigations: 20,
  longFollowSeconds: 180,
};

export const QUICK_EFFORT: Effort = {
  rounds: 3,
  roundSeconds: 1,
  warmUpSeconds: 1,
  readerMaxBytes: 16 * MIB,
  readerMaxMs: 5_000,
  starts: 3,
  idleSeconds: 5,
  logBytes: 128 * MIB,
  largeLogBytes: GIB,
  seeks: 3,
  followSeconds: 4,
  memberLogBytes: 128 * MIB,
  idleClusterSeconds: 20,
  allRecords: 50_000,
  navigations: 5,
  longFollowSeconds: 10,
};

export interface BenchContext {
  effort: Effort;
  cleanup: Cleanup;
  /** Command lines that made the figures, and files written for them by name: for the report. */
  readonly commands: ReadonlySet<string>;
  readonly files: ReadonlyMap<string, string>;
  recordCommand(command: readonly string[]): void;
  recordFile(name: string, text: string): void;
  peer(name: PeerName): string;
  /** A folder that stays from run to run, for input that is costly to make. */
  dataDir(name: string): string;
  /** A folder removed with the next cleanup. */
  tempDir(): string;
  log(progress: string): void;
}

export interface ContextOptions {
  effort: Effort;
  cleanup: Cleanup;
  peers: ReadonlyMap<PeerName, string>;
}

export function createContext({ effort, cleanup, peers }: ContextOptions): BenchContext {
  const commands = new Set<string>();
  const files = new Map<string, string>();
  return {
    effort,
    cleanup,
    commands,
    files,
    recordCommand: (command) => commands.add(hideLocalPaths(showCommand(command))),
    recordFile: (name, text) => files.set(name, hideLocalPaths(text)),
    peer(name) {
      const path = peers.get(name);
      if (path === undefined) throw new Error(`the group does not say that it needs ${name}`);
      return path;
    },
    dataDir(name) {
      const dir = join(ROOT, '.bench', name);
      mkdirSync(dir, { recursive: true });
      return dir;
    },
    tempDir() {
      const dir = mkdtempSync(TEMP_PREFIX);
      cleanup.add(() => rmSync(dir, { recursive: true, force: true }));
      return dir;
    },
    log: (progress) => console.error(progress),
  };
}

/** Where the checkout and the temporary folders are is of no interest, and different on every run. */
function hideLocalPaths(text: string): string {
  return text
    .replaceAll(ROOT, 'CHECKOUT/')
    .split(TEMP_PREFIX)
    .map((part, index) => (index === 0 ? part : `TEMP${part.replace(/^\w+/, '')}`))
    .join('');
}
