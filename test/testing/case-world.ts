import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeState } from '@porthole/contract';
import type { CaseDir, CaseFiles, NodeStateCase } from '@porthole/contract/testing';
import type { RunningNode } from '@porthole/server';
import { startWithSharedThreads, testSettings } from '@porthole/server/testing';

/** A node and the directory it shows. */
export interface CaseFixture {
  running: RunningNode;
  dir: CaseDir;
  /** The directory that is shown. */
  logDir: string;
  close(): Promise<void>;
}

/** Modification time of files at rest. It has a fraction, because formats write fractions differently. */
const WRITTEN = new Date('2026-06-01T12:00:00.123Z');

export async function openFixture({
  files = {},
  config,
  settings = {},
}: Pick<NodeStateCase, 'files' | 'config' | 'settings'>): Promise<CaseFixture> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-case-')));
  const [logDir, configFile] = [join(root, 'logs'), join(root, 'service.toml')];
  mkdirSync(logDir);
  writeAll(logDir, files);
  if (config !== undefined) writeFileSync(configFile, config);
  const running = await startWithSharedThreads({
    settings: testSettings(root, {
      ...settings,
      node: { timeZone: 'Europe/Berlin', hostName: 'case' },
      // Nothing is cached between requests: receipts contain what was scanned, and must be equal for all.
      search: { maxIndexBytes: 0, ...settings.search },
      service: { logDir, ...(config !== undefined && { configFile }) },
    }),
  });
  const held = new HeldSearch(running.state);
  return {
    running,
    logDir,
    dir: {
      write: (name, content) => writeFileSync(join(logDir, name), content),
      append: (name, content) => appendFileSync(join(logDir, name), content),
      rename: (from, to) => renameSync(join(logDir, from), join(logDir, to)),
      truncate: (name, sizeBytes) => truncateSync(join(logDir, name), sizeBytes),
      remove: (name) => unlinkSync(join(logDir, name)),
      configure: (text) => (text === null ? unlinkSync(configFile) : writeFileSync(configFile, text)),
      holdSearch: () => held.begin(),
      releaseSearch: () => held.end(),
    },
    async close() {
      await held.end();
      await running.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function writeAll(logDir: string, files: CaseFiles): void {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(logDir, name), content);
    utimesSync(join(logDir, name), WRITTEN, WRITTEN);
  }
}

class HeldSearch {
  readonly #node: NodeState;
  #batches: AsyncIterator<unknown> | undefined;

  constructor(node: NodeState) {
    this.#node = node;
  }

  async begin(): Promise<void> {
    const query = { order: 'newest', limit: 1, before: 0, after: 0 } as const;
    this.#batches = this.#node.search(query)[Symbol.asyncIterator]();
    await this.#batches.next();
  }

  async end(): Promise<void> {
    await this.#batches?.return?.();
  }
}
