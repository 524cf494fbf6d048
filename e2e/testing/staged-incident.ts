import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@porthole/logs/testing';
import { expect } from 'vitest';
import { type ClusterProcess, serviceConfig } from './cluster-process.ts';

/* An incident with a past: a setting changes, errors of a new kind rise on its node and spread, and it gives up. */

/** The past that an incident of the last hour is compared with. */
const PAST_MS = 150 * 60_000;

const ERRORS = 60;

interface Line {
  timeMs?: number;
  level?: string;
  source?: string;
}

function line(message: string, { timeMs = Date.now(), level = 'INFO', source = 'main.go:1' }: Line = {}): string {
  const time = new Date(timeMs).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\t${level}\t${source}\t[Store]: ${message}\n`;
}

/** What the service wrote before: a record every ten seconds, and an error that everybody knows now and then. */
export function writePast(id: string, cwd: string): void {
  mkdirSync(join(cwd, 'logs'), { recursive: true });
  const nowMs = Date.now();
  let text = '';
  for (let timeMs = nowMs - PAST_MS; timeMs < nowMs; timeMs += 10_000) {
    text += line(`flushed ${timeMs % 97} blocks`, { timeMs });
    if (timeMs % 7 === 0) text += line('slow client, dropped', { timeMs, level: 'ERROR', source: 'conn.go:9' });
  }
  writeFileSync(join(cwd, 'logs', 'service.log'), text);
  writeFileSync(join(cwd, 'service.toml'), serviceConfig(id, '[storage]\nwal_dir = "/data/wal"\n'));
}

function write({ cwd }: ClusterProcess, text: string): void {
  appendFileSync(join(cwd, 'logs', 'service.log'), text);
}

/** Changes the setting of a node, and waits until it has noticed. */
export async function changeSetting(node: ClusterProcess): Promise<{ fromMs: number; toMs: number }> {
  const fromMs = Date.now();
  const changed = serviceConfig(node.id, '[storage]\nwal_dir = "/mnt/slow/wal"\n');
  writeFileSync(join(node.cwd, 'service.toml'), changed);
  await eventually(async () => {
    const { body } = await node.request('/api/v1/events?kind=config-changed');
    expect(body).toContain('storage.wal_dir');
  });
  return { fromMs, toMs: Date.now() };
}

/** Errors of a new kind rise on one node, and spread to another. */
export async function breakDown(first: ClusterProcess, second: ClusterProcess): Promise<void> {
  for (let number = 0; number < ERRORS; number++) {
    const failed = `write failed: timeout shard=7 after ${number} ms`;
    write(first, line(failed, { level: 'ERROR', source: 'wal.go:211' }));
    const missed = `no acknowledgement from ${first.id} shard=7 for ${number} ms`;
    if (number >= ERRORS / 2) write(second, line(missed, { level: 'ERROR', source: 'replica.go:88' }));
    await sleep(40); // pause: records at different times
  }
  write(first, line('the write-ahead log is gone, giving up', { level: 'FATAL', source: 'main.go:40' }));
}
