import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeDescription, Readiness } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { NO_GAUGES } from './cluster/node-cluster.ts';
import { createHealth } from './health.ts';
import { checkCluster } from './node-components.ts';
import { openSocket, readToEnd, requestJson, sendRequest } from './testing/send-request.ts';
import { startTestNode } from './testing/test-node.ts';

function ready(port: number): Promise<Readiness> {
  return requestJson<Readiness>(port, '/health/ready');
}

function findCheck(readiness: Readiness, name: string) {
  return readiness.checks.find((check) => check.name === name);
}

describe('liveness', () => {
  it('is a response, nothing more', async () => {
    const { port } = await startTestNode();
    expect(await requestJson(port, '/health/live')).toEqual({ status: 'ok' });
  });
});

describe('readiness', () => {
  it('is reported with one check per thing the node depends on', async () => {
    const { port, logDir } = await startTestNode();
    const readiness = await ready(port);
    expect(readiness.status).toBe('ready');
    expect(readiness.checks.map(({ name, ok }) => ({ name, ok }))).toEqual([
      { name: 'log directory', ok: true },
      { name: 'configuration', ok: true },
      ...['own log', 'access log', 'index', 'events', 'config history'].map((name) => ({ name, ok: true })),
    ]);
    expect(findCheck(readiness, 'log directory')?.detail).toBe(`${logDir} is readable`);
  });

  it('is degraded while the log directory is missing or not a directory, and the node still responds', async () => {
    const { port, logDir } = await startTestNode();
    renameSync(logDir, `${logDir}.away`);
    expect(await ready(port)).toMatchObject({
      status: 'degraded',
      checks: expect.arrayContaining([
        { name: 'log directory', ok: false, detail: `${logDir} does not exist` },
      ]) as object,
    });
    expect((await sendRequest(port, '/health/ready')).status).toBe(200);
    expect(await requestJson(port, '/api/v1/log/list')).toEqual([]);
    const problems = async () => (await requestJson<NodeDescription>(port, '/api/v1/node')).problems;
    await eventually(async () =>
      expect(await problems()).toEqual([{ check: 'log directory', detail: `${logDir} does not exist` }]),
    );
    writeFileSync(logDir, 'a file');
    expect(findCheck(await ready(port), 'log directory')).toMatchObject({
      ok: false,
      detail: `${logDir} is not a directory`,
    });
    rmSync(logDir);
    renameSync(`${logDir}.away`, logDir);
    expect((await ready(port)).status).toBe('ready');
  });

  it('is degraded while the configuration of the service is invalid or missing', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'a = 1\n');
    const { port } = await startTestNode({ settings: { service: { configFile } } });
    expect((await ready(port)).status).toBe('ready');
    writeFileSync(configFile, 'password = hunter2-is-not-quoted\n');
    const broken = await ready(port);
    expect(broken.status).toBe('degraded');
    expect(findCheck(broken, 'configuration')?.detail).toMatch(/not valid TOML.*line 1/);
    expect(JSON.stringify(broken)).not.toContain('hunter2');
    rmSync(configFile);
    expect(findCheck(await ready(port), 'configuration')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('ENOENT'),
    });
    writeFileSync(configFile, 'a = 2\n');
    expect(findCheck(await ready(port), 'configuration')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('changed since start: a'),
    });
  });

  it('is stopping, with 503, for a request that comes in while the node stops', async () => {
    const { port, running } = await startTestNode();
    const late = (path: string) => {
      const socket = openSocket(port);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n`);
      return socket;
    };
    const [health, config] = [late('/health/ready'), late('/api/v1/config')];
    await sendRequest(port, '/health/live'); // by now both have begun to arrive
    await eventually(() => expect(health.bytesWritten).toBeGreaterThan(0));
    const stopped = running.stop();
    health.write('\r\n');
    config.write('\r\n');
    expect(await readToEnd(health)).toMatch(/^HTTP\/1\.1 503 .*"status":"stopping"/s);
    expect(await readToEnd(config)).toMatch(/^HTTP\/1\.1 503 .*"code":"SHUTTING_DOWN"/s);
    await stopped;
  });

  it('does not wait for a check that hangs', async () => {
    const health = createHealth(
      { disk: () => new Promise(() => {}), other: async () => ({ ok: true, detail: 'fine' }) },
      () => false,
    );
    expect(await health.check()).toEqual({
      status: 'degraded',
      checks: [
        { name: 'disk', ok: false, detail: 'no response within 800 ms' },
        { name: 'other', ok: true, detail: 'fine' },
      ],
    });
  });

  it('reveals nothing of an internal failure', async () => {
    const failing = async () => {
      throw new Error('password hunter2 refused');
    };
    const health = createHealth({ configuration: failing }, () => false);
    expect(JSON.stringify(await health.check())).not.toContain('hunter2');
  });

  it('of a node whose log directory comes later begins degraded', async () => {
    const later = join(tempDir(), 'later');
    const { port, running } = await startTestNode({ settings: { service: { logDir: later } } });
    expect(running.warnings).toEqual([`service.log-dir: ${later} does not exist; no logs are shown until it does`]);
    expect((await ready(port)).status).toBe('degraded');
    mkdirSync(later);
    writeFileSync(join(later, 'a.log'), 'text');
    expect((await ready(port)).status).toBe('ready');
    expect(await requestJson(port, '/api/v1/log/list')).toEqual([{ name: 'a.log', size: 4 }]);
  });
});

it('the check of the cluster fails when the registry does not respond', () => {
  const status = { members: 3, isFresh: true, detail: '3 members, from static' };
  const stale = { members: 3, isFresh: false, detail: 'etcd does not respond' };
  expect(checkCluster({ status, gauges: NO_GAUGES })).toEqual({ ok: true, detail: status.detail });
  expect(checkCluster({ status: stale, gauges: NO_GAUGES })).toEqual({ ok: false, detail: stale.detail });
  const gauges = { ...NO_GAUGES, namesakeUrl: '"http://b"' };
  expect(checkCluster({ status, gauges })).toEqual({ ok: false, detail: expect.stringContaining('"http://b"') });
});
