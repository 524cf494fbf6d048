import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { BINARY, Program, serve } from './testing/program.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\n';

/** Runs a command whose stdout is /dev/full: every write fails with ENOSPC. */
async function runOntoFullDisk(args: readonly string[], cwd: string, tmp = cwd) {
  const full = openSync('/dev/full', 'w');
  const env = { PATH: process.env.PATH, TMPDIR: tmp };
  const child = spawn(process.execPath, [BINARY, ...args], { cwd, env, stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  let stderr = '';
  child.stderr?.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  await once(child, 'close');
  return { code: child.exitCode, stderr };
}

const FULL = 'porthole: cannot write the output: ENOSPC: no space left on device, write\n';

it.each([
  ['logs', '-n', '1', 'a.log'],
  ['logs', 'search', 'ready', 'a.log'],
  ['logs', 'digest', 'a.log'],
  ['logs', 'histogram', 'a.log'],
  ['logs', 'ls', '.'],
  ['logs', '-f', '-n', '1', 'a.log'],
  ['version'],
  ['help'],
  ['logs', '--help'],
  ['completion', 'bash'],
])('%s %s onto a full disk is one line on stderr and exit code 2', async (...args) => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.log'), LINE);
  expect(await runOntoFullDisk(args, cwd)).toEqual({ code: 2, stderr: FULL });
});

it('what a node says onto a full disk is an error, and leaves nothing behind', async () => {
  const cwd = tempDir();
  const url = await serve(cwd).ready();
  const tmp = join(cwd, 'tmp');
  mkdirSync(tmp);
  for (const args of [
    ['logs', '-n', '1'],
    ['config', 'get'],
    ['config', 'get', 'http.port'],
    ['logs', 'download', 'porthole.log', '--to', '-'],
    ['nodes'],
    ['bundle', '-o', '-'],
  ]) {
    const { code, stderr } = await runOntoFullDisk([...args, '--url', url], cwd, tmp);
    expect({ args, code, last: stderr.split('\n').slice(-2) }).toEqual({ args, code: 2, last: [FULL.trim(), ''] });
    expect(readdirSync(tmp)).toEqual([]);
  }
});

it('who stops reading has seen enough', async () => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.log'), LINE.repeat(50_000));
  const program = new Program(
    ['-c', `"$0" "$1" logs -n all a.log | head -n 1; exit "$\{PIPESTATUS[0]}"`, process.execPath, BINARY],
    {
      cwd,
      command: 'bash',
    },
  );
  expect(await program.end()).toMatchObject({ code: 0, stderr: '' });
});

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a follow ends with %s as %d, without another word', async (signal, code) => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.log'), LINE);
  const program = new Program(['logs', '-f', 'a.log'], { cwd });
  await eventually(() => expect(program.stdout).toContain('ready'));
  program.kill(signal);
  expect(await program.end()).toMatchObject({ code, stderr: '' });
});

it.each([
  [['logs', 'search', 'x'], 'SIGTERM', 143],
  [['logs', 'search', 'x'], 'SIGINT', 130],
  [['logs', '-f'], 'SIGTERM', 143],
  [['logs', 'digest'], 'SIGTERM', 143],
  [['config', 'get'], 'SIGTERM', 143],
  [['nodes'], 'SIGTERM', 143],
] as const)('%j that waits for a node ends with %s as %d, without a stack trace', async (args, signal, code) => {
  let requests = 0;
  const server = createServer(() => requests++); // never responds
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = new Program([...args, '--url', url], { cwd: tempDir() });
  await eventually(() => expect(requests).toBeGreaterThan(0));
  program.kill(signal);
  const { code: ended, signal: by, stderr } = await program.end();
  // A command that has nothing to tidy up leaves the signal to the system, which shells report the same way.
  expect(ended ?? 128 + constants.signals[by ?? signal]).toBe(code);
  expect(stderr).toBe('');
});
