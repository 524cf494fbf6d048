import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ClusterLogFiles, getRoute, ROUTE_IDS } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkLogDir } from './doctor/check-log-files.ts';
import type { CheckContext } from './doctor/check-result.ts';
import { connect } from './grpc/testing/connect.ts';
import { ownDirs, ownPaths } from './own-dirs.ts';
import { loadSettings } from './settings/load-settings.ts';
import type { PartialSettings } from './settings/settings.ts';
import { openRequest, sendRequest } from './testing/send-request.ts';
import { startWithSharedThreads, testSettings } from './testing/test-node.ts';

const line = (text: string) => `2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: ${text}\n`;

/** Where the own log is, and which links lead to it, below a directory with the logs in `logs`. */
const LAYOUTS = {
  'next to the logs, in a directory of its own': { logging: 'logs/porthole', log: { recursive: true } },
  'with all that the node keeps, in a directory among the logs': {
    logging: 'logs/data/log',
    log: { recursive: true },
  },
  'in a directory that links may lead to': { logging: 'data/log', log: { roots: ['data'] } },
  'in a directory that links may lead to, and directories below': {
    logging: 'data/log',
    log: { recursive: true, roots: ['data'] },
  },
} as const;

type Layout = keyof typeof LAYOUTS;

function place(dir: string, layout: Layout): PartialSettings {
  const { logging, log } = LAYOUTS[layout];
  const roots = 'roots' in log ? log.roots.map((root) => join(dir, root)) : [];
  return testSettings(dir, { logging: { dir: join(dir, logging), access: 'all' }, log: { ...log, roots } });
}

async function start(settings: PartialSettings) {
  const running = await startWithSharedThreads({ settings });
  onTestFinished(() => running.stop());
  return running;
}

/** `hush` is in what the node has written for itself. */
async function startNode(layout: Layout) {
  const dir = tempDir();
  const logDir = join(dir, 'logs');
  const own = join(dir, LAYOUTS[layout].logging);
  const kept = Object.values(ownDirs({ logging: { dir: own }, cluster: { recordDir: '' } } as never));
  for (const path of [join(logDir, 'nginx'), own, ...kept]) mkdirSync(path, { recursive: true });
  writeFileSync(join(logDir, 'app.log'), line('shown'));
  writeFileSync(join(logDir, 'nginx', 'access.log'), line('shown of a service'));
  for (const name of ['access.log', 'porthole.log.1']) writeFileSync(join(own, name), line('hush'));
  writeFileSync(join(own, 'access.log.1.gz'), gzipSync(line('hush')));
  for (const path of kept) writeFileSync(join(path, 'kept.log'), line('hush'));
  symlinkSync(join(own, 'access.log'), join(logDir, 'innocent.log'));
  symlinkSync(join(own, 'access.log.1.gz'), join(logDir, 'innocent.log.1.gz'));
  symlinkSync(own, join(logDir, 'harmless'));
  symlinkSync(dirname(own), join(logDir, 'above'));
  for (const [index, path] of kept.entries()) symlinkSync(path, join(logDir, `kept-${index}`));
  const settings = place(dir, layout);
  const running = await start(settings);
  return { running, port: running.node.httpPort, logDir, own, settings, kept };
}

const NAMES = [
  'innocent.log',
  'innocent.log.1.gz',
  ...['porthole', 'data/log', 'harmless', 'above/log', 'above/porthole', 'above/data/log'].flatMap((dir) =>
    ['access.log', 'access.log.1.gz', 'porthole.log', 'porthole.log.1'].map((name) => `${dir}/${name}`),
  ),
  ...['', 'data/', 'above/', 'above/data/'].flatMap((dir) =>
    ['index', 'recorded', 'archive', 'journal'].map((name) => `${dir}${name}/kept.log`),
  ),
  ...[0, 1, 2, 3].map((index) => `kept-${index}/kept.log`),
];

describe.each(Object.keys(LAYOUTS) as Layout[])('an own log %s', (layout) => {
  it('is shown by no route, nor is anything else that the node keeps', async () => {
    const { port, logDir } = await startNode(layout);
    const routes = ROUTE_IDS.map(getRoute).filter(({ path }) => path.includes('/log/') && !path.endsWith('/follow'));
    const parameters = 'limit=100&time=2026-11-15T05:00:00Z&by=message';
    for (const { path } of routes) {
      const { body } = await sendRequest(port, `${path}?${parameters}`);
      expect(`${path}: ${body}`).not.toMatch(/hush|innocent|harmless|kept|porthole\.log/);
    }
    for (const name of NAMES) {
      for (const path of ['log/view', 'log/raw', 'log/search', 'log/histogram', 'log/follow']) {
        const target = `/api/v1/${path}?file=${encodeURIComponent(name)}`;
        const { statusCode: status = 0 } = (await openRequest(port, target)).resume();
        expect([400, 404], `${target} ${status}`).toContain(status);
      }
    }
    const { body } = await sendRequest(port, '/api/v1/log/search?text=shown');
    expect(body.toString()).toContain('shown');
    const isRecursive = 'recursive' in LAYOUTS[layout].log;
    expect(body.toString().includes('shown of a service')).toBe(isRecursive);
    const followed = await openRequest(port, '/api/v1/log/follow?lines=100');
    let text = '';
    for await (const part of followed) {
      text += part;
      appendFileSync(join(logDir, 'app.log'), line('shown again'));
      if (text.includes('shown again')) break;
    }
    followed.destroy();
    expect(text).not.toContain('hush');
  });

  it('is not shown over gRPC, nor in a bundle', async () => {
    const { running, port, own } = await startNode(layout);
    const connection = connect(running.node.grpcPort);
    const names = (await connection.call('DescribeLogs', { src: [] })).logs.map(({ name }) => name);
    expect(names).toEqual('recursive' in LAYOUTS[layout].log ? ['app.log', 'nginx/access.log'] : ['app.log']);
    await expect(connection.call('StatLog', { file: 'innocent.log' })).rejects.toMatchObject({
      code: 'LOG_FILE_NOT_FOUND',
    });
    const { body } = await sendRequest(port, '/api/v1/bundle');
    expect(body.toString('latin1')).not.toMatch(/innocent|harmless|access\.log\.1|kept\.log/);
    // It is written nevertheless.
    await eventually(() => expect(readFileSync(join(own, 'access.log'), 'utf8')).toContain('"operation":"bundle"'));
  });

  it('is named by the doctor', async () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'logs'));
    const { settings } = await loadSettings({ options: place(dir, layout) });
    const outcomes = await checkLogDir({ settings, system: { userName: 'me' } } as CheckContext);
    expect(outcomes).toMatchObject([
      { state: 'ok' },
      { state: 'warning', detail: expect.stringContaining(join(dir, LAYOUTS[layout].logging)) },
    ]);
  });
});

it('a node that shows its own log shows all of it but the access log', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'own'));
  for (const name of ['access.log', 'access.log.1']) writeFileSync(join(dir, 'own', name), line('hush'));
  writeFileSync(join(dir, 'own', 'access.log.2.gz'), gzipSync(line('hush')));
  symlinkSync('access.log', join(dir, 'own', 'innocent.log'));
  const settings = testSettings(dir, { service: { logDir: '' }, log: { recursive: true } });
  const running = await start(settings);
  const { body } = await sendRequest(running.node.httpPort, '/api/v1/log/files');
  expect((JSON.parse(body.toString()) as ClusterLogFiles).files.map(({ name }) => name)).toEqual(['porthole.log']);
  const found = await sendRequest(running.node.httpPort, '/api/v1/log/search?src==porthole.log');
  expect(found.body.toString()).toContain('the node is starting');
  const { settings: loaded } = await loadSettings({ options: settings });
  const outcomes = await checkLogDir({ settings: loaded, system: { userName: 'me' } } as CheckContext);
  expect(outcomes).toMatchObject([{ state: 'ok' }]);
});

it('logs in a directory below that of the own log are shown', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'own', 'service', 'web'), { recursive: true });
  writeFileSync(join(dir, 'own', 'service', 'app.log'), line('shown'));
  writeFileSync(join(dir, 'own', 'service', 'web', 'app.log'), line('shown'));
  const settings = testSettings(dir, { service: { logDir: join(dir, 'own', 'service') }, log: { recursive: true } });
  const running = await start(settings);
  const { body } = await sendRequest(running.node.httpPort, '/api/v1/log/files');
  const names = (JSON.parse(body.toString()) as ClusterLogFiles).files.map(({ name }) => name);
  expect(names).toEqual(['app.log', 'web/app.log']);
});

it('copies of the logs of members are among what is hidden', async () => {
  const { settings } = await loadSettings({ options: testSettings(tempDir()) });
  const { prefixes } = await ownPaths(settings, '/var/log');
  // Those of a node, and those of the program for a node that it was given.
  for (const copies of [join(ownDirs(settings).recorded, 'lindb', 'copy'), join(tmpdir(), 'porthole-tails-XXXXXX')])
    expect(prefixes.some((prefix) => copies.startsWith(prefix))).toBe(true);
});

it('nodes whose own logs are next to each other keep events of their own', async () => {
  const dirs = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const { settings } = await loadSettings({ options: { logging: { dir: `/data/${name}` } } });
      return ownDirs(settings).events;
    }),
  );
  expect(dirs).toEqual(['/data/events/a', '/data/events/b']);
});

it('nodes whose own logs are next to each other share no positions, events, history or views', () => {
  const [a, b] = ['a', 'b'].map((name) =>
    ownDirs({ logging: { dir: `/x/${name}` }, cluster: { recordDir: '' } } as never),
  );
  const shared = Object.keys(a ?? {}).filter((name) => a?.[name as keyof typeof a] === b?.[name as keyof typeof a]);
  expect(shared).toEqual(['index', 'recorded', 'journal']);
});
