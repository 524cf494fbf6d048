import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNode } from '../create-node.ts';
import type { PartialSettings } from '../settings/settings.ts';
import { startNode } from '../start-node.ts';
import { testSettings } from '../testing/test-node.ts';

const HERE = { address: '127.0.0.1' };

/** A logger as pino's: the fields first. */
function createRecorder() {
  const records: { level: string; fields: object; message: string }[] = [];
  const method = (level: string) => (fields: object, message: string) => void records.push({ level, fields, message });
  const logger = { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
  return { logger, records };
}

describe('a node within a program', () => {
  it('writes nothing to the disk unless it is told where', async () => {
    const workDir = tempDir();
    const node = await createNode({ workDir, settings: { service: { logDir: workDir } } });
    onTestFinished(() => node.close());
    for (const path of ['/api/v1/config', '/api/v1/log/list', '/api/v1/log/search?q=a', '/none', '/health/ready']) {
      await (await node.fetch(new Request(`http://localhost${path}`), HERE)).text();
    }
    const views = await node.fetch(new Request('http://localhost/api/v1/views'), HERE);
    expect(await views.json()).toMatchObject({ code: 'VIEWS_UNAVAILABLE' });
    await node.close();
    expect(readdirSync(workDir)).toEqual([]);
  });

  it('is told where before it records the members of a cluster', async () => {
    const workDir = tempDir();
    const cluster = { members: ['http://127.0.0.1:9/'] };
    const url = 'http://127.0.0.1:9000/';
    const create = (settings: PartialSettings) => createNode({ workDir, url, settings: { ...settings, cluster } });
    await expect(create({})).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(/^option logging\.dir: /),
    });
    expect(readdirSync(workDir)).toEqual([]);
    await (await create({ logging: { dir: 'kept/log' } })).close();
    expect(readdirSync(workDir)).toEqual(['kept']);
  });

  it('is healthy without a log of its own, and says where it goes', async () => {
    const node = await createNode({ workDir: tempDir() });
    onTestFinished(() => node.close());
    const response = await node.fetch(new Request('http://localhost/health/ready'), HERE);
    expect(await response.json()).toEqual({
      status: 'ready',
      checks: [
        { name: 'configuration', ok: true, detail: expect.any(String) },
        { name: 'own log', ok: true, detail: 'written to nothing, as logging.to says' },
      ],
    });
    expect(await (await node.fetch(new Request('http://localhost/api/v1/log/list'), HERE)).json()).toEqual([]);
  });

  it('keeps its log and what happens where a setting says', async () => {
    const workDir = tempDir();
    const node = await createNode({ workDir, settings: { logging: { dir: 'kept/log' } } });
    await node.close();
    expect(readdirSync(join(workDir, 'kept')).sort()).toEqual(expect.arrayContaining(['events', 'log']));
  });

  it("passes its records to the program's logger, refused requests included", async () => {
    const { logger, records } = createRecorder();
    const node = await createNode({ workDir: tempDir(), logger, authenticate: () => null });
    await (await node.fetch(new Request('http://localhost/api/v1/config'), HERE)).text();
    node.logger('shop').warn('stock', 'nothing is left', { item: 7 });
    await node.close();
    expect(records).toContainEqual({
      level: 'info',
      fields: expect.objectContaining({ component: 'node', tag: 'start', version: expect.any(String) }),
      message: 'the node is ready',
    });
    expect(records).toContainEqual({
      level: 'warn',
      fields: { component: 'shop', tag: 'stock', item: 7 },
      message: 'nothing is left',
    });
    expect(records).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ component: 'access', status: 401 }) }),
    );
  });

  it('goes on when that logger throws, and its health says so', async () => {
    const fail = () => {
      throw new Error('no space in the logger');
    };
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const node = await createNode({ workDir: tempDir(), logger });
    onTestFinished(() => node.close());
    const response = await node.fetch(new Request('http://localhost/health/ready'), HERE);
    expect(await response.json()).toMatchObject({
      status: 'degraded',
      checks: [{}, { name: 'own log', ok: false, detail: 'writing fails: no space in the logger' }],
    });
  });

  it('serves its health to everyone although the program authenticates clients', async () => {
    const node = await createNode({ workDir: tempDir(), authenticate: () => null });
    onTestFinished(() => node.close());
    for (const path of ['/health/live', '/health/ready'])
      expect((await node.fetch(new Request(`http://localhost${path}`))).status, path).toBe(200);
    expect((await node.fetch(new Request('http://localhost/api/v1/config'))).status).toBe(401);
  });
});

describe('a node that cannot start', () => {
  it('has a code for programs', async () => {
    const dir = tempDir();
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const start = (settings: object) => startNode({ settings: testSettings(dir, settings) });
    await expect(start({ http: { port } })).rejects.toMatchObject({ code: 'PORT_UNAVAILABLE' });
    await expect(start({ http: { port: 'x' } })).rejects.toMatchObject({ code: 'SETTINGS_INVALID' });
    await expect(start({ auth: { tokenFile: join(dir, 'none') } })).rejects.toMatchObject({ code: 'SETTING_UNUSABLE' });
    await expect(createNode({ url: 'x' })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await expect(createNode({ prot: 1 } as object)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});
