import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallOptions, NodeState, SearchOptions } from '@porthole/contract';
import { createZone, LogDir, type LogFileDetails, type SearchItem, type SearchQuery } from '@porthole/logs';
import { SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import { onTestFinished } from 'vitest';
import { FakeNode } from './fake-node.ts';

/** A member with a real log directory and real cursors. */
export class LogDirNode extends FakeNode implements NodeState {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-cluster-')));
  readonly logs: LogDir;

  constructor({ zone = 'UTC' }: { zone?: string } = {}) {
    super();
    this.logs = new LogDir(this.dir, { zone: createZone(zone), threads: SHARED_THREADS });
    onTestFinished(async () => {
      await this.logs.close();
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.dir, name), text);
  }

  append(name: string, text: string): void {
    appendFileSync(join(this.dir, name), text);
  }

  override async logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return this.logs.details(options);
  }

  override async *respond(
    query: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<SearchItem[], void, undefined> {
    yield* searchItems(this.logs, query, options);
  }
}

/** Log lines at these times, in UTC. */
export function logLines(name: string, times: readonly number[], shiftMs = 0): string {
  return times
    .map((timeMs, index) => {
      const text = new Date(timeMs + shiftMs).toISOString().replace('T', ' ').replace('Z', '');
      return `${text}\tINFO\t${name}.go:1\t${name}-${index}\n`;
    })
    .join('');
}
