import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { startNode } from '@porthole/server';
import { describe, expect, it } from 'vitest';
import { BROKER_LINES } from './testing/log-fixture.ts';

const FORMAT = join(import.meta.dirname, '../packages/cli/share/lnav/porthole_log.json');

// programs: lnav

/** A home for lnav with the format installed. */
function lnavHome(): string {
  const home = tempDir();
  mkdirSync(join(home, '.lnav/formats/porthole'), { recursive: true });
  cpSync(FORMAT, join(home, '.lnav/formats/porthole/porthole_log.json'));
  return home;
}

function environment(home: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HOME: home, TZ: 'UTC', TERM: 'xterm' };
}

/** The rows lnav finds in a file. */
function queryLnav(home: string, query: string, file: string): unknown {
  const output = execFileSync('lnav', ['-n', '-c', `;${query}`, '-c', ':write-json-to -', file], {
    env: environment(home),
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

describe('the format file for lnav', () => {
  it('is valid, and its samples are read as it says', () => {
    const { status, stdout, stderr } = spawnSync('lnav', ['-W', '-C'], {
      env: environment(lnavHome()),
      encoding: 'utf8',
    });
    expect({ status, said: (stdout + stderr).includes('porthole_log') }).toEqual({ status: 0, said: false });
  });

  it('can be installed as the documentation says', () => {
    const home = tempDir();
    execFileSync('lnav', ['-i', FORMAT], { env: environment(home), stdio: 'ignore' });
    expect(readdirSync(join(home, '.lnav/formats/installed'))).toEqual(['porthole_log.json']);
  });

  it('reads what a node writes: time, level, source, component, message and context', async () => {
    const cwd = tempDir();
    const node = await startNode({
      settings: { http: { port: 0 }, grpc: { port: 0 }, logging: { dir: join(cwd, 'log') }, node: { timeZone: 'UTC' } },
    });
    node.logger('orders').warn('pay', 'a card was refused', { attempt: 2 });
    await node.stop();
    const query =
      'SELECT log_time, log_level, component, log_opid, src_file, src_line, log_body, context FROM porthole_log';
    const rows = queryLnav(lnavHome(), query, join(cwd, 'log/porthole.log')) as Record<string, unknown>[];
    expect(rows[0]).toMatchObject({
      log_level: 'info',
      component: 'node',
      log_opid: 'start',
      log_body: 'the node is starting',
    });
    expect(rows.find(({ component }) => component === 'orders')).toEqual({
      log_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
      log_level: 'warning',
      component: 'orders',
      log_opid: 'pay',
      src_file: expect.stringContaining('lnav-format.system.test.ts'),
      src_line: expect.any(Number),
      log_body: 'a card was refused',
      context: { attempt: 2 },
    });
  });

  it('reads the log of a database node, records of several lines too', () => {
    const file = join(tempDir(), 'broker.log');
    const untagged = '2026-11-15 05:03:00.000\tFATAL\tbroker/runtime.go:9\tout of memory';
    writeFileSync(file, `${[...BROKER_LINES, untagged].join('\n')}\n`);
    const query = "SELECT log_time, log_level, component, log_body FROM porthole_log WHERE log_level >= 'error'";
    expect(queryLnav(lnavHome(), query, file)).toEqual([
      {
        log_time: '2026-11-15 05:02:00.500',
        log_level: 'error',
        component: 'Broker',
        log_body: 'panic when processing\ngoroutine 1 [running]:\n\tmain.go:17',
      },
      { log_time: '2026-11-15 05:03:00.000', log_level: 'fatal', component: null, log_body: 'out of memory' },
    ]);
  });
});
