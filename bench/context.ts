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

/** How long and how often things are measured, and of what size. */
export interface Effort {
  rounds: number;
  roundSeconds: number;
  /** Load before the first round, not counted: caches and the compiler settle. */
  warmUpSeconds: number;
  /** How often a new node is asked each kind of question before it is measured. */
  warmUpTimes: number;
  /** Whether to wait until files that were just made count as settled, a node has indexed its log, a window has come to rest. */
  waitsForRest: boolean;
  starts: number;
  idleSeconds: number;
  /** Size of the log that is searched, and of the one that is too large to be searched as a whole. */
  logBytes: number;
  largeLogBytes: number;
  followSeconds: number;
  followers: number;
  /** Size of the log of each member that is searched together with others. */
  memberLogBytes: number;
  /** Records of several nodes that are read to the last. */
  allRecords: number;
  archivedRecords: number;
  /** How often a page is opened, or goes elsewhere. */
  navigations: number;
  /** How long the memory of a page is watched. */
  longFollowSeconds: number;
}

export const FULL_EFFORT: Effort = {
  rounds: 3,
  roundSeconds: 2,
  warmUpSeconds: 1,
  warmUpTimes: 8,
  waitsForRest: true,
  starts: 10,
  idleSeconds: 10,
  logBytes: GIB,
  largeLogBytes: 4 * GIB,
  followSeconds: 10,
  followers: 500,
  memberLogBytes: 128 * MIB,
  allRecords: 222_222,
  archivedRecords: 1_000_000,
  navigations: 10,
  longFollowSeconds: 60,
};

export const SMOKE_EFFORT: Effort = {
  rounds: 1,
  roundSeconds: 1,
  warmUpSeconds: 0,
  warmUpTimes: 1,
  waitsForRest: false,
  starts: 1,
  idleSeconds: 1,
  logBytes: 32 * MIB,
  largeLogBytes: 32 * MIB,
  followSeconds: 1,
  followers: 20,
  memberLogBytes: 16 * MIB,
  allRecords: 5_000,
  archivedRecords: 20_000,
  navigations: 1,
  longFollowSeconds: 1,
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
