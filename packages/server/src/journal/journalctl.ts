// owner: the process has a listener for life, and has ended when its output was read
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { PortholeError } from '@porthole/contract';
import { hasCode } from '../errors.ts';

/** After this long without reacting to SIGTERM it is killed. */
const KILL_AFTER_MS = 2000;

/** The end of what it writes to stderr is kept, which has the reason of a failure. */
const STDERR_CHARS = 2000;

/** Cursors of journald: `s=…;i=…;b=…;m=…;t=…;x=…`. */
const CURSOR = /^[\w=;-]{1,500}$/;

/** `journalctl` cannot be run, failed, or has nothing to read; the message says what to do. */
export class JournalError extends PortholeError {
  override readonly name = 'JournalError';

  constructor(message: string) {
    super('JOURNAL_UNAVAILABLE', message);
  }
}

/** Which entries are read. */
export interface JournalSelection {
  /** Directory of the journal files; empty: those of this machine. */
  directory: string;
  /** A valid name; `undefined`: the entries of all units. */
  unit: string | undefined;
}

/** Where to begin, and where to end. */
export type JournalRange =
  | { cursor: string }
  /** The newest ones. */
  | { lines: number }
  | { sinceMs: number | undefined; untilMs: number | undefined }
  | 'all';

/** Every value is part of the argument that it belongs to, so none can be taken for another argument. */
export function journalctlArgs({ directory, unit }: JournalSelection, range: JournalRange, isFollow = false): string[] {
  return [
    // Without `--all`, long fields are null. Without `--quiet`, "-- No entries --" is among the records.
    ...['--output=json', '--all', '--quiet', '--no-pager'],
    ...(directory === '' ? [] : [`--directory=${directory}`]),
    ...(unit === undefined ? [] : [`--unit=${unit}`]),
    ...rangeArgs(range),
    ...(isFollow ? ['--follow', '--no-tail'] : []),
  ];
}

export function isJournalCursor(text: string): boolean {
  return CURSOR.test(text);
}

function rangeArgs(range: JournalRange): string[] {
  if (range === 'all') return [];
  if ('cursor' in range) return [`--cursor=${range.cursor}`];
  if ('lines' in range) return [`--lines=${range.lines}`];
  const { sinceMs, untilMs } = range;
  return [
    ...(sinceMs === undefined ? [] : [`--since=@${Math.max(0, Math.floor(sinceMs / 1000))}`]),
    ...(untilMs === undefined ? [] : [`--until=@${Math.max(0, Math.ceil(untilMs / 1000))}`]),
  ];
}

/**
 * The output of `journalctl` as it arrives; the reader's pace is that of the program. Throws a `JournalError` if it
 * fails, and ends if the signal aborts. When this returns, the process has ended, whatever the way.
 */
export async function* runJournalctl(
  args: readonly string[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Buffer, void, undefined> {
  signal?.throwIfAborted();
  // Messages in English, without colours; all times in the output are numbers.
  const env = { ...process.env, LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_LOG_LEVEL: 'notice' };
  const child = spawn('journalctl', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = waitForEnd(child);
  const stop = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', stop);
  try {
    try {
      for await (const chunk of child.stdout) yield chunk as Buffer;
    } catch (error) {
      // The process could not be started, which `ended` explains.
      if (!hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')) throw error;
    }
    const failure = await ended;
    if (failure !== undefined && !signal?.aborted) throw new JournalError(failure);
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
    const killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    await ended;
    clearTimeout(killer);
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Resolves when the process has ended and was reaped, with the reason if it failed. */
function waitForEnd(child: Child): Promise<string | undefined> {
  let stderr = '';
  child.stderr.on('error', (error) => {
    stderr += `(its messages cannot be read: ${error.message})`;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  return new Promise((resolve) => {
    // For life: it is also emitted when the process cannot be killed.
    child.on('error', (error) => {
      const isMissing = hasCode(error, 'ENOENT');
      const what = isMissing
        ? 'journalctl not found: install systemd, or read the journal on a machine that has it'
        : '';
      resolve(what || `journalctl cannot be started: ${error.message}`);
    });
    child.once('close', (code, signal) => {
      const reason = stderr.trim().replaceAll(/\s*\n\s*/g, '; ');
      const how = signal ? `was ended by ${signal}` : `failed with exit code ${code}`;
      resolve(code === 0 ? undefined : `journalctl ${how}${reason === '' ? '' : `: ${reason}`}`);
    });
  });
}
