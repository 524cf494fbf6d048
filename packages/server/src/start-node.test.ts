import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually, openBelow } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PartialSettings } from './settings/settings.ts';
import { startNode } from './start-node.ts';
import { openRequest, requestJson, sendRequest } from './testing/send-request.ts';
import { countConnections, startTestNode, startWithSharedThreads, testSettings } from './testing/test-node.ts';

const BIG = Buffer.alloc(32 * 1024 * 1024, 'a line of a log file\n');

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

describe('nodes in one process', () => {
  it('run side by side, each on ports of its own', async () => {
    const [one, other] = [await startTestNode({ files: { one: '1' } }), await startTestNode({ files: { other: '2' } })];
    expect(new Set([one, other].flatMap(({ running: { node } }) => [node.httpPort, node.grpcPort])).size).toBe(4);
    expect(await requestJson(one.port, '/api/v1/log/list')).toEqual([{ name: 'one', size: 1 }]);
    expect(await requestJson(other.port, '/api/v1/log/list')).toEqual([{ name: 'other', size: 1 }]);
    await one.running.stop();
    expect((await sendRequest(other.port, '/health/live')).status).toBe(200);
  });

  it('respond to the program that embeds them as they respond over HTTP', async () => {
    const { port, running } = await startTestNode({ files: { 'a.log': 'text\n' } });
    expect(await running.state.listLogs()).toEqual(await requestJson(port, '/api/v1/log/list'));
    expect(await running.state.config()).toEqual(await requestJson(port, '/api/v1/config'));
  });

  it('take records of the program that embeds them', async () => {
    const { running, dir } = await startTestNode();
    running.logger('storage').info('compaction', 'done', { files: 3 });
    await running.stop();
    const text = readFileSync(join(dir, 'own', 'porthole.log'), 'utf8');
    expect(text).toMatch(/\tINFO\t[^\t]*start-node\.test\.ts:\d+\t\[storage\] \[compaction\]: done\t\{"files":3\}\n/);
    expect(text).toContain('the node has stopped');
  });
});

describe('a start that fails', () => {
  /** What this process holds open below a directory. */
  const heldBelow = (dir: string) =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.startsWith(dir) ? [path] : [];
      } catch {
        return []; // the descriptor that lists them
      }
    });

  it('leaves nothing open: a part that cannot be opened, a port that is taken', async () => {
    const failures: [PartialSettings, (dir: string) => void, RegExp][] = [
      [{ log: { journal: true } }, (dir) => writeFileSync(join(dir, 'journal'), ''), /^log.journal: /],
      [{ http: { port: await takenPort() } }, () => {}, /is in use/],
    ];
    for (const [settings, prepare, expected] of failures) {
      const dir = tempDir();
      mkdirSync(join(dir, 'logs'));
      writeFileSync(join(dir, 'logs', 'a.log'), 'a line\n');
      prepare(dir);
      await expect(startWithSharedThreads({ settings: testSettings(dir, settings) })).rejects.toThrow(expected);
      expect(heldBelow(dir)).toEqual([]);
    }
  });
});

describe('stop', () => {
  it('is harmless more than once, and frees the ports and the log', async () => {
    const { running, dir } = await startTestNode();
    await Promise.all([running.stop(), running.stop()]);
    await running.stop();
    expect(await canBind(running.node.httpPort)).toBe(true);
    expect(await canBind(running.node.grpcPort)).toBe(true);
    expect(openBelow(dir)).toBe(0);
  });

  it('waits for a running response, but not for idle keep-alive connections', async () => {
    const { running, port } = await startTestNode({
      files: { 'big.log': BIG },
      settings: { node: { stopTimeoutMs: 3_600_000 } },
    });
    const response = await openRequest(port, '/api/v1/log/raw?file=big.log', { headers: { connection: 'keep-alive' } });
    const stopped = running.stop();
    let bytes = 0;
    for await (const part of response) bytes += (part as Buffer).length;
    expect(bytes).toBe(BIG.length);
    await stopped;
    expect(countConnections(port)).toBe(0);
  });

  it('cuts what has not ended within node.stop-timeout', async () => {
    const { running, port, dir } = await startTestNode({
      files: { 'big.log': BIG },
      settings: { node: { stopTimeoutMs: 50 } },
    });
    const response = await openRequest(port, '/api/v1/log/raw?file=big.log');
    await running.stop();
    const reading = async () => {
      for await (const part of response) void part;
    };
    await expect(reading()).rejects.toThrow('aborted');
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });

  it('closes connections that rest at once', async () => {
    const { running, port } = await startTestNode({ settings: { node: { stopTimeoutMs: 3_600_000 } } });
    await fetch(`http://127.0.0.1:${port}/health/live`).then((response) => response.text());
    await running.stop();
    expect(countConnections(port)).toBe(0);
  });
});

describe('a node that cannot start', () => {
  it.each(['http', 'grpc'] as const)(
    'because its %s port is taken says so with the option to use, and leaves nothing open',
    async (which) => {
      const dir = tempDir();
      mkdirSync(join(dir, 'logs'));
      const [taken, free] = [await takenPort(), await takenPortThenFree()];
      const ports =
        which === 'http'
          ? { http: { port: taken }, grpc: { port: free } }
          : { http: { port: free }, grpc: { port: taken } };
      const starting = startNode({ settings: testSettings(dir, ports) });
      await expect(starting).rejects.toThrow(
        new RegExp(
          `^port ${taken} is in use by node .*\\(process ${process.pid}\\): choose another one with the option settings\\.${which}\\.port`,
        ),
      );
      expect(await canBind(free)).toBe(true);
      expect(openBelow(dir)).toBe(0);
    },
  );

  it('because the address is not one of the machine says so', async () => {
    const settings = testSettings(tempDir(), { http: { port: 0, host: '192.0.2.1' }, auth: { allowAnonymous: true } });
    await expect(startNode({ settings })).rejects.toThrow(/port 0 cannot be bound: .*EADDRNOTAVAIL/);
  });

  it('because its log directory is a file says so', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'logs'), 'a file');
    await expect(startNode({ settings: testSettings(dir) })).rejects.toThrow(
      `service.log-dir: ${join(dir, 'logs')} is not a directory`,
    );
    expect(openBelow(dir)).toBe(0);
  });
});

async function takenPortThenFree(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('whose state a node shows', () => {
  it.each([
    ['its own where it is pointed at nothing', { service: { logDir: '' } }, 'self'],
    ["a service's where it is pointed at its logs", {}, 'service'],
  ] as const)('is %s', async (_, settings, expected) => {
    const { running } = await startTestNode({ settings });
    expect((await running.state.describe()).observes).toBe(expected);
  });
});
