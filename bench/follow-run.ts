import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { Follower } from './follower.ts';
import { type LineWriter, startWriter, type WriterOptions } from './line-writer.ts';
import type { PortholeServer } from './porthole.ts';

export const FOLLOWED_FILE = 'followed.log';

/** After its end nothing more is waited for. */
const LAST_LINE_MS = 10_000;
const BEGIN_MS = 20_000;
const POLL_MS = 20;

/** So many connect at a time. */
const AT_ONCE = 50;

export interface FollowRunOptions extends WriterOptions {
  dir: string;
  server: PortholeServer;
  followers: number;
  seconds: number;
  /** Called when all followers have received their first lines, and when the writer has stopped. */
  onBegin?(): void;
  onEnd?(): void;
}

export interface FollowRun {
  /** Lines written between begin and end, and their bytes. */
  lines: number;
  bytes: number;
  /** From the write to the client, of the first follower. */
  latenciesMs: number[];
}

/** Makes the file there is to follow. */
export function createFollowedFile(dir: string): void {
  writeFileSync(join(dir, FOLLOWED_FILE), '');
}

/** Followers of one file while it is written. Rejects unless every one of them has received every line once, in order. */
export async function runFollow(context: BenchContext, options: FollowRunOptions): Promise<FollowRun> {
  const { dir, server, seconds } = options;
  const latencies: number[] = [];
  let begin = Number.POSITIVE_INFINITY;
  const noted = new Follower((number, tookMs) => {
    if (number >= begin) latencies.push(tookMs);
  });
  const followers = [noted, ...Array.from({ length: options.followers - 1 }, () => new Follower())];
  const close = () => followers.forEach((follower) => void follower.close());
  context.cleanup.add(close);
  const url = `${server.url}/api/v1/log/follow?file=${FOLLOWED_FILE}`;
  for (let from = 0; from < followers.length; from += AT_ONCE) {
    await Promise.all(followers.slice(from, from + AT_ONCE).map((follower) => follower.open(url)));
  }
  const writer = startWriter(join(dir, FOLLOWED_FILE), options);
  context.cleanup.add(() => writer.stop());
  await until(() => followers.every(({ first }) => first >= 0), BEGIN_MS);
  options.onBegin?.();
  begin = writer.next;
  const bytesBefore = writer.bytes;
  await sleep(seconds * 1000);
  writer.stop();
  const last = writer.next - 1;
  await until(() => followers.every((follower) => follower.last >= last || follower.error), LAST_LINE_MS);
  options.onEnd?.();
  close();
  checkAll(followers, { begin, last, writer });
  return { lines: writer.next - begin, bytes: writer.bytes - bytesBefore, latenciesMs: latencies };
}

function checkAll(
  followers: readonly Follower[],
  { begin, last, writer }: { begin: number; last: number; writer: LineWriter },
): void {
  const failed = followers.filter((follower) => follower.error || !follower.hasAll(begin, last));
  const [one] = failed;
  if (!one) return;
  const received = `lines ${one.first} to ${one.last}, ${one.count} of them, ${one.strange} strange`;
  throw new Error(
    `${failed.length} of ${followers.length} followers did not receive all of ${writer.next} lines; one: ${received}`,
    { cause: one.error },
  );
}

async function until(isDone: () => boolean, maxMs: number): Promise<void> {
  for (const end = performance.now() + maxMs; !isDone() && performance.now() < end; ) await sleep(POLL_MS);
}
