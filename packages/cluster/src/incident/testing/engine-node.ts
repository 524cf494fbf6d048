import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigHistory, EVENT_LEVELS, type EventKind, type SearchOptions } from '@porthole/contract';
import {
  createZone,
  type DigestQuery,
  type HistogramQuery,
  LogDir,
  type SearchQuery,
  type TopQuery,
} from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import { onTestFinished } from 'vitest';
import { LogDirNode } from '../../testing/log-dir-node.ts';

/** A node whose logs and events are files that the engine reads. */
export class EngineNode extends LogDirNode {
  readonly #events: LogDir;
  readonly #lines: { timeMs: number; text: string }[] = [];
  history: ConfigHistory = { periods: [], isComplete: true };

  constructor() {
    super();
    mkdirSync(join(this.dir, 'events'));
    this.write('a.log', '');
    this.#events = new LogDir(join(this.dir, 'events'), { zone: createZone('UTC'), threads: SHARED_THREADS });
    onTestFinished(() => this.#events.close());
  }

  log(timeMs: number, level: string, source: string, message: string): void {
    const time = new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');
    this.#lines.push({ timeMs, text: `${time}\t${level}\t${source}\t${message}\n` });
  }

  /** Writes what was logged, in the order of time. */
  flush(): void {
    const sorted = this.#lines.sort((a, b) => a.timeMs - b.timeMs);
    this.write('a.log', sorted.map(({ text }) => text).join(''));
  }

  writeEvents(events: readonly { timeMs: number; kind: EventKind; fields?: object }[]): void {
    const lines = events.map(({ timeMs, kind, fields }) => {
      const at = new Date(timeMs).toISOString();
      return `${JSON.stringify({ time: at, level: EVENT_LEVELS[kind], message: kind, kind, ...fields })}\n`;
    });
    writeFileSync(join(this.dir, 'events', 'events.log'), lines.join(''));
  }

  override events = ((query: SearchQuery, options: SearchOptions = {}) => this.#events.search(query, options)) as never;
  override logHistogram = ((query: HistogramQuery, options: SearchOptions) =>
    this.logs.histogram(query, options)) as never;
  override logDigest = ((query: DigestQuery, options: SearchOptions) => this.logs.digest(query, options)) as never;
  override logTop = ((query: TopQuery, options: SearchOptions) => this.logs.top(query, options)) as never;
  override configHistory = (async () => this.history) as never;
}
