import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { startTestNode } from '../testing/test-node.ts';
import { ownVersion } from '../version.ts';
import { checkPorts } from './check-ports.ts';
import { runCheck } from './testing/run-check.ts';

/** A port that something else holds. */
async function takenPort(): Promise<number> {
  const server: Server = createServer((socket) => socket.end('nothing a node would say\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** A port that nothing holds any more. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

describe('ports', () => {
  test('that are free, or chosen by the system, are fine', async () => {
    const port = await freePort();
    expect(await runCheck(checkPorts, { settings: { http: { port }, grpc: { port: 0 } } })).toEqual([
      { state: 'ok', detail: `http.port ${port} is free on 127.0.0.1` },
      { state: 'ok', detail: 'grpc.port is 0: any free port' },
    ]);
  });

  test('that are not opened are not looked at', async () => {
    const settings = { http: { socket: '/run/node.sock' }, grpc: { enabled: false } };
    expect(await runCheck(checkPorts, { settings })).toEqual([
      { state: 'ok', detail: 'http.socket /run/node.sock is used instead of http.port' },
      { state: 'ok', detail: 'grpc.enabled is false: gRPC is off' },
    ]);
  });

  test('in use by another program are a problem, and the program is named', async () => {
    const port = await takenPort();
    const outcomes = await runCheck(checkPorts, { settings: { http: { port: 0 }, grpc: { port } } });
    expect(outcomes[1]).toEqual({
      state: 'problem',
      detail: expect.stringContaining(`grpc.port ${port} is in use by `),
      remedy: 'choose another one with --grpc-port N (0: any free port)',
    });
    expect(outcomes[1]?.detail).toMatch(new RegExp(`\\(process ${process.pid}\\)$`));
  });

  test('in use by a Porthole node are reported with its version and clock difference', async () => {
    const { running } = await startTestNode();
    const { httpPort, grpcPort } = running.node;
    const settings = { http: { port: httpPort }, grpc: { port: grpcPort } };
    const taken = (name: string, port: number) => `${name} ${port} is in use by a running Porthole node`;
    expect(await runCheck(checkPorts, { settings })).toMatchObject([
      { state: 'warning', detail: `${taken('http.port', httpPort)}, version ${ownVersion()}` },
      { state: 'warning', detail: `${taken('grpc.port', grpcPort)}, version ${ownVersion()}` },
    ]);
    const late = await runCheck(checkPorts, { settings, system: { nowMs: () => Date.now() - 90_000 } });
    expect(late[0]?.detail).toMatch(/; its clock is (?:8[5-9]|9\d)\.\d s ahead$/);
  });

  test('in use by a Porthole node are reported with what it says of itself', async () => {
    const { running, logDir } = await startTestNode();
    rmSync(logDir, { recursive: true });
    const settings = { http: { port: running.node.httpPort }, grpc: { enabled: false } };
    const outcomes = await runCheck(checkPorts, { settings });
    expect(outcomes.slice(2)).toMatchObject([
      { state: 'warning', detail: `the running node reports: log directory: ${logDir} does not exist` },
    ]);
  });

  test('in use by a Porthole node that requires a token are reported as such', async () => {
    const tokenFile = join(tempDir(), 'tokens');
    writeFileSync(tokenFile, createToken('ann').line);
    const { port } = await startTestNode({ settings: { auth: { tokenFile } } });
    const [outcome] = await runCheck(checkPorts, { settings: { http: { port }, grpc: { port: 0 } } });
    expect(outcome).toMatchObject({ state: 'warning', detail: expect.stringMatching(/ that requires a token$/) });
  });

  test('on an address that this machine does not have are a problem', async () => {
    const settings = { http: { host: '192.0.2.1', port: await freePort() }, auth: { allowAnonymous: true } };
    const [outcome] = await runCheck(checkPorts, { settings });
    expect(outcome).toMatchObject({ state: 'problem', remedy: expect.stringContaining('http.host') });
  });
});
