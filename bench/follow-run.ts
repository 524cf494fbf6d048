import { writeFileSync } from 'node:fs';
import { type ClientRequest, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { LINE_PATTERN, type LineWriter, startWriter, type WriterOptions } from './line-writer.ts';
import type { PortholeServer } from './porthole.ts';
import { type Program, startProgram } from './program.ts';

export const FOLLOWED_FILE = 'followed.log';

/** After its end nothing more is waited for. */
const LAST_LINE_MS = 10_000;
const BEGIN_MS = 20_000;
const POLL_MS = 20;

/** So many connect at a time. */
const AT_ONCE = 50;

interface FollowRunOptions extends WriterOptions {
  dir: string;
  server: PortholeServer;
  followers: number;
  seconds: number;
  /** Whether `tail -F` follows the same file at the same time. */
  besideTail?: boolean;
  /** Called when all followers have received their first lines, and when the writer has stopped. */
  onBegin?(): void;
  onEnd?(): void;
}

interface FollowRun {
  /** Lines written between begin and end, and their bytes. */
  lines: number;
  bytes: number;
  /** From the write to the client, of the first follower. */
  latenciesMs: number[];
  /** From the write to whoever reads from `tail -F`, which follows beside it. */
  tailMs: number[];
}

/** Makes the file there is to follow. */
export function createFollowedFile(dir: string): void {
  writeFileSync(join(dir, FOLLOWED_FILE), '');
}

/** Followers of one file while it is written. Rejects unless every one of them has received every line once, in order. */
export async function runFollow(context: BenchContext, options: FollowRunOptions): Promise<FollowRun> {
  const { dir, server, seconds } = options;
  const latencies: number[] = [];
  const tailMs: number[] = [];
  let begin = Number.POSITIVE_INFINITY;
  const noted = new Follower((number, tookMs) => {
    if (number >= begin) latencies.push(tookMs);
  });
  const tailed = new Follower((number, tookMs) => {
    if (number >= begin) tailMs.push(tookMs);
  });
  const followers = [noted, ...Array.from({ length: options.followers - 1 }, () => new Follower())];
  const close = () => followers.forEach((follower) => void follower.close());
  context.cleanup.add(close);
  const url = `${server.url}/api/v1/log/follow?src==${FOLLOWED_FILE}`;
  for (let from = 0; from < followers.length; from += AT_ONCE) {
    await Promise.all(followers.slice(from, from + AT_ONCE).map((follower) => follower.open(url)));
  }
  if (options.besideTail) tailed.openTail(context, join(dir, FOLLOWED_FILE));
  const writer = startWriter(join(dir, FOLLOWED_FILE), options);
  context.cleanup.add(() => writer.stop());
  const all = options.besideTail ? [...followers, tailed] : followers;
  await until(() => all.every(({ first }) => first >= 0), BEGIN_MS);
  options.onBegin?.();
  begin = writer.next;
  const bytesBefore = writer.bytes;
  await sleep(seconds * 1000);
  writer.stop();
  const last = writer.next - 1;
  await until(() => all.every((follower) => follower.last >= last || follower.error), LAST_LINE_MS);
  options.onEnd?.();
  close();
  tailed.close();
  checkAll(all, { begin, last, writer });
  return { lines: writer.next - begin, bytes: writer.bytes - bytesBefore, latenciesMs: latencies, tailMs };
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

/** Counts the numbered lines a follower receives. */
class Follower {
  /** Numbers of the first and the last line received; -1 before. */
  first = -1;
  last = -1;
  count = 0;
  /** Lines received twice, or before an earlier one, and events that are no record: there should be none. */
  strange = 0;
  error: Error | undefined;
  readonly #onLine: (number: number, tookMs: number) => void;
  #request: ClientRequest | undefined;
  #tail: Program | undefined;
  #rest = '';
  #closed = false;

  constructor(onLine: (number: number, tookMs: number) => void = () => {}) {
    this.#onLine = onLine;
  }

  /** Resolves with the head of the answer: then it is let in, though it may not have begun. */
  open(url: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#request = get(url, { agent: false }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${url} answers ${response.statusCode}`));
        response.setEncoding('latin1'); // the lines are ASCII
        response.on('data', (text: string) => this.#take(text));
        response.on('error', (error) => this.#fail(error));
        response.on('close', () => this.#fail(new Error(`${url} was ended`)));
        resolve();
      });
      this.#request.on('error', (error) => {
        this.#fail(error);
        reject(error);
      });
    });
  }

  openTail(context: BenchContext, path: string): void {
    const command = ['tail', '-n', '+1', '-F', path];
    context.recordCommand(command);
    this.#tail = startProgram(command, context.cleanup, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#tail.child.stdout?.removeAllListeners('data').on('data', (text: string) => this.#take(text));
  }

  /** Whether it received every line from this one up to that. */
  hasAll(from: number, to: number): boolean {
    const { first, last, count, strange } = this;
    return first >= 0 && first <= from && last === to && count === last - first + 1 && strange === 0;
  }

  close(): void {
    this.#closed = true;
    this.#request?.destroy();
    void this.#tail?.stop();
  }

  #fail(error: Error): void {
    if (!this.#closed) this.error ??= error;
  }

  /** Whole lines of the answer; an event's data is one of them. */
  #take(text: string): void {
    const now = process.hrtime.bigint();
    const all = this.#rest + text;
    const end = all.lastIndexOf('\n') + 1;
    this.#rest = all.slice(end);
    const whole = all.slice(0, end);
    for (const [, event] of whole.matchAll(/^event: (.*)$/gm)) if (event !== 'record') this.strange++;
    for (const [, number, writtenNs] of whole.matchAll(LINE_PATTERN)) {
      this.#count(Number(number), Number(now - BigInt(writtenNs ?? 0)) / 1e6);
    }
  }

  #count(number: number, tookMs: number): void {
    if (this.first < 0) this.first = number;
    else if (number !== this.last + 1) this.strange++;
    this.last = number;
    this.count++;
    this.#onLine(number, tookMs);
  }
}
