import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bundleProgram } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { familyLines, logNames, numbered, parseMessage } from './testing/temp-log.ts';

const PROGRAM = `
  import { openOwnLog } from './own-log.ts';
  const log = await openOwnLog({ dir: process.env.LOG_DIR, level: 'info', maxFileBytes: 20000,
    maxFileAgeMs: 0, keepFiles: 0, keepAgeMs: 0, gzip: true });
  const logger = log.component(process.env.LOG_COMPONENT);
  for (let n = 0; n < 2000; n += 1) {
    logger.info('n', 'record ' + n);
    if (n % 10 === 0) await log.flush();
  }
  await log.close();
`;

test('two processes rotating and compressing one file lose and mix nothing', async () => {
  const dir = tempDir();
  const program = bundleProgram(PROGRAM, import.meta.dirname);
  const run = (component: string): Promise<unknown> =>
    promisify(execFile)(process.execPath, [program], {
      env: { ...process.env, LOG_DIR: dir, LOG_COMPONENT: component },
    });
  await Promise.all([run('one'), run('two')]);
  expect((await logNames(dir)).length).toBeGreaterThan(5);
  const lines = await familyLines(dir);
  expect(lines).toHaveLength(4000);
  for (const component of ['one', 'two']) {
    const own = lines.filter((line) => line.includes(`\t[${component}] [n]: `)).map(parseMessage);
    expect(new Set(own)).toEqual(new Set(numbered(0, 2000)));
  }
});
