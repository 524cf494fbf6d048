import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { bundleProgram } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { messagesIn, numbered } from './testing/temp-log.ts';

/** Prints its state after each flush; a line on standard input starts the next. */
const PROGRAM = `
  import { createInterface } from 'node:readline';
  import { openOwnLog } from './own-log.ts';
  const log = await openOwnLog({ dir: process.env.LOG_DIR, level: 'info', maxFileBytes: 0,
    maxFileAgeMs: 0, keepFiles: 0, keepAgeMs: 0, gzip: false });
  for (let n = 0; n < 1000; n += 1) log.component('x').info('n', 'record ' + n);
  await log.flush();
  console.log(JSON.stringify(log.stats()));
  for await (const _ of createInterface({ input: process.stdin })) {
    await log.close();
    console.log(JSON.stringify(log.stats()));
    break;
  }
`;

// The limit on file size is the one way without privileges to have a write stop in the middle, as a full disk does.
test.skipIf(process.platform !== 'linux')('a write that stops inside a record goes on at that byte', async () => {
  const dir = tempDir();
  const child = spawn(
    'bash',
    ['-c', 'ulimit -S -f 10 && exec "$0" "$1"', process.execPath, bundleProgram(PROGRAM, import.meta.dirname)],
    { env: { ...process.env, LOG_DIR: dir }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill());
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  expect(JSON.parse((await answers.next()).value)).toMatchObject({ written: 0, isFailing: true, dropped: 0 });
  expect((await stat(join(dir, 'porthole.log'))).size).toBe(10 * 1024);
  expect((await readFile(join(dir, 'porthole.log'), 'utf8')).endsWith('\n')).toBe(false);

  // programs: prlimit
  await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
  child.stdin.end('go on\n');
  expect(JSON.parse((await answers.next()).value)).toMatchObject({ written: 1000, isFailing: false, dropped: 0 });
  await once(child, 'exit');
  expect(await messagesIn(join(dir, 'porthole.log'))).toEqual(numbered(0, 1000));
});
