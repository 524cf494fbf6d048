import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createClient } from '@porthole/client';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts, startTestNode } from '@porthole/server/testing';
import { expect, test } from 'vitest';
import {
  createEtcd,
  createMariadb,
  createNginx,
  createPostgres,
  createRedis,
  type RealServer,
  SECRET,
} from './testing/real-servers.ts';

/** Two nodes: one beside the server, the other beside a copy of its file with one value changed. */
async function startSidecars({ start, ...server }: RealServer) {
  const { configFile, configFiles, configCommand, logDir, changed } = server;
  const text = readFileSync(configFile, 'utf8');
  expect(text).toContain(changed.from);
  const copy = join(tempDir(), basename(configFile));
  writeFileSync(copy, text.replace(changed.from, changed.to));
  await start();
  const ports = await freePorts(2);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  const services = [
    { configFile, configFiles, configCommand, logDir },
    { configFile: copy, configFiles },
  ];
  for (const [index, service] of services.entries())
    await startTestNode({
      settings: { http: { port: ports[index] ?? 0 }, cluster: { nodeId: `n${index + 1}`, members }, service },
    });
  return createClient({ url: `http://127.0.0.1:${ports[0]}` });
}

/** `differing` are the keys whose values in the files the server does not run with. */
async function examine(server: RealServer, differing: readonly string[] = []) {
  const client = await startSidecars(server);

  // Its configuration: TOML, its own text, and the settings with their places.
  const { config } = await client.config();
  expect(config).toMatch(/^\S+ = /m);
  const source = (await client.config({ format: 'source' })).config;
  expect(source).toContain(server.changed.from);
  expect(config + source).toContain('******');
  const own = async () => (await client.settings()).configs[0]?.settings;
  const { settings = [], format, problems } = (await own()) ?? {};
  expect({ format, problems }).toEqual({ format: server.format, problems: undefined });
  const changed = settings.find(({ key }) => key === server.changed.key);
  expect(changed).toMatchObject({ source: 'file', file: server.configFile, line: expect.any(Number) });
  expect(config + source + JSON.stringify(settings)).not.toContain(SECRET);

  // The difference to the other member, and through it.
  const { roles } = await client.configDiff();
  expect(roles[0]?.differences.map(({ key }) => key)).toContain(server.changed.key);
  expect((await client.node('n2').config({ format: 'source' })).config).toContain(server.changed.to);

  // Its logs, with levels.
  const expectRecord = (minLevel: 'WARN' | 'ERROR', text: RegExp) =>
    eventually(async () => {
      const found = [];
      for await (const { message } of client.records({ minLevel })) found.push(message);
      expect(found.join('\n')).toMatch(text);
    });
  const { level, text } = await server.provoke();
  await expectRecord(level, text);

  // What it runs with, and that it is gone.
  const readRunning = async () => (await own())?.running;
  const hasCommand = server.configCommand.length > 0;
  if (hasCommand)
    await eventually(async () => {
      expect((await readRunning())?.differences.map(({ key }) => key)).toEqual(differing);
    });
  const logged = server.crash();
  if (logged) await expectRecord('ERROR', logged);
  if (!hasCommand) return;
  await eventually(async () => {
    expect(await readRunning()).toMatchObject({ state: 'failed', detail: expect.stringContaining('config-command') });
  });
  await eventually(async () => expect((await client.describe()).problems).toMatchObject([{ check: 'configuration' }]));
}

test('PostgreSQL', async () => {
  const [port = 0] = await freePorts(1);
  // ALTER SYSTEM has set it, and the server was not reloaded.
  await examine(createPostgres(port), ['work_mem']);
});

test('MariaDB', async () => {
  const [port = 0] = await freePorts(1);
  await examine(createMariadb(port));
});

test('Redis', async () => {
  const [port = 0] = await freePorts(1);
  await examine(createRedis(port));
});

test('nginx', async () => {
  const [port = 0] = await freePorts(1);
  await examine(createNginx(port));
});

test('etcd', async () => {
  const [port = 0, peerPort = 0] = await freePorts(2);
  await examine(createEtcd(port, peerPort));
});
