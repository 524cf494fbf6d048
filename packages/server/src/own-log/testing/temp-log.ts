import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createZone } from '@porthole/logs';
import { onTestFinished } from 'vitest';
import { type OwnLog, type OwnLogOptions, openOwnLog } from '../own-log.ts';

export const NOON_MS = Date.UTC(2026, 10, 15, 12, 0, 0);

/** A clock that tests move. */
export interface TestClock {
  ms: number;
  readonly now: () => number;
}

export function testClock(ms = NOON_MS): TestClock {
  const clock = { ms, now: () => clock.ms };
  return clock;
}

/** No limits, UTC, no compression: each test sets what it is about. */
export async function openTestLog(options: Partial<OwnLogOptions> & { dir: string }): Promise<OwnLog> {
  const log = await openOwnLog({
    level: 'debug',
    zone: createZone('UTC'),
    maxFileBytes: 0,
    maxFileAgeMs: 0,
    keepFiles: 0,
    keepAgeMs: 0,
    gzip: false,
    gzipDelayMs: 0,
    ...options,
  });
  onTestFinished(() => log.close());
  return log;
}

/** Names in the directory, the live file last: rotated names sort by time. */
export async function logNames(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => name.startsWith('porthole')).sort();
  return [...names.filter((name) => name !== 'porthole.log'), ...names.filter((name) => name === 'porthole.log')];
}

/** All lines of the family, oldest first, whether compressed or not. */
export async function familyLines(dir: string): Promise<string[]> {
  const texts: string[] = [];
  for (const name of await logNames(dir)) {
    const bytes = await readFile(join(dir, name));
    texts.push((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
  }
  return splitLines(texts.join(''));
}

export function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no line feed');
  return lines;
}

export function parseMessage(line: string): string {
  return /^[^\t]+\t[^\t]+\t[^\t]+\t(?:\[[^\]]*\] ?)+: ([^\t]*)/.exec(line)?.[1] ?? `not a record: ${line}`;
}

export async function messagesIn(path: string): Promise<string[]> {
  return splitLines(await readFile(path, 'utf8')).map(parseMessage);
}

export function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `record ${from + index}`);
}
