import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '@porthole/client';
import { FakeLindb } from '@porthole/cluster/testing';
import { getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS, type Route } from '@porthole/contract';
import { ENCODERS, eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { readZip } from '../bundle/testing/read-zip.ts';
import { freePorts } from '../testing/free-ports.ts';
import { openRequest, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

/** By a rule of ours; by `config.secret-keys`; of this node, which the member does not know to be secret. */
const SECRETS = ['L1nd/B&pw=9+x', 'Zx81-spectrum', 'own/Hunter 2&3'];

const CONFIG = `[broker]\npassword = "${SECRETS[0]}"\npin = "${SECRETS[1]}"\nport = 9000\n`;

const FORMS = SECRETS.flatMap((secret) => ENCODERS.map(({ encode }) => encode(secret)));

function lindbLog(): string {
  const time = (index: number) =>
    new Date(Date.now() - 600_000 + index * 1000).toISOString().replace('T', ' ').slice(0, -1);
  const lines = FORMS.map(
    (form, index) =>
      `${time(index)}\tERROR\t[Auth]\tauth/${index % 5}.go:7\tlogin ${form}\t{"key":"${form.replaceAll('"', '')}"}\n`,
  );
  return [`${time(0)}\tINFO\tx.go:1\tthe first line of a view is dropped\n`, ...lines].join('');
}

async function startWithLindb() {
  const lindb = await FakeLindb.start({ 'lind.log': lindbLog() });
  lindb.config = CONFIG;
  const [port = 0] = await freePorts(1);
  const configFile = join(tempDir(), 'service.toml');
  writeFileSync(configFile, `[db]\npassword = ${JSON.stringify(SECRETS[2])}\n`);
  const recordDir = tempDir();
  const node = await startTestNode({
    settings: {
      http: { port },
      service: { configFile },
      node: { timeZone: 'UTC' },
      config: { secretKeys: ['pin'] },
      cluster: {
        nodeId: 'n1',
        members: [`n1=http://127.0.0.1:${port}`, `lindb=${lindb.url}`],
        // Records whose times are a guess are not kept.
        memberZones: ['lindb=UTC'],
        refreshMs: 200,
        recordDir,
      },
    },
    files: { 'a.log': `2026-11-15 10:00:00.000\tINFO\tx.go:1\tlogin ${SECRETS[2]}\n` },
  });
  return { ...node, lindb, recordDir };
}

it('a request for a member that comes while this node starts waits until the member can be asked', async () => {
  const lindb = await FakeLindb.start({ 'lind.log': lindbLog() });
  const [port = 0] = await freePorts(1);
  const members = [`n1=http://127.0.0.1:${port}`, `lindb=${lindb.url}`];
  /** The first response: requests are refused as long as the port is closed. */
  const ask = async (path: string): Promise<unknown> => {
    for (;;) {
      const response = await sendRequest(port, `/api/v1/nodes/lindb/${path}`).catch(() => setImmediate(undefined));
      if (response) return [path, response.status];
    }
  };
  const paths = ['log/list', 'log/view?file=lind.log', 'log/search', 'config'];
  const asking = Promise.all(paths.map(ask));
  await startTestNode({ settings: { http: { port }, cluster: { nodeId: 'n1', members, recordDir: tempDir() } } });
  expect(await asking).toEqual(paths.map((path) => [path, 200]));
});

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  logView: ['file=lind.log&size=1000000', 'file=lind.log&size=333'],
  logRaw: ['file=lind.log', 'file=lind.log&text=true'],
  logSearch: ['limit=1000&raw=true', 'q=login&order=oldest&before=2&after=2', 'regex=login.*'],
  logFollow: ['back=50&raw=true'],
  logHistogram: ['buckets=10', 'q=login'],
  logDigest: ['limit=1000'],
  logFields: ['limit=1000'],
  logTop: ['by=message&limit=1000'],
  logAround: [`time=${new Date(Date.now() - 590_000).toISOString()}`],
  bundle: ['since=2026-01-01', 'since=2026-01-01&nodes=*'],
};

/** Of this node, and of all nodes. */
function routeUrls(id: string, { path, parameters }: Route): string[] {
  const at = path.replace('{id}', 'lindb').replace('{name}', 'porthole.svg');
  const ofNodes = parameters.some(({ name }) => name === 'nodes') && !at.includes('lindb') ? ['', '&nodes=*'] : [''];
  return (QUERIES[id] ?? ['']).flatMap((query) => ofNodes.map((nodes) => `${at}?${query}${nodes}`));
}

async function readText(port: number, url: string): Promise<string> {
  if (!url.includes('/follow')) {
    const { body, headers } = await sendRequest(port, url);
    if (headers['content-type'] !== 'application/zip') return body.toString();
    return readZip(body)
      .map(({ name, content }) => `${name}\n${content.toString()}`)
      .join('\n');
  }
  const response: IncomingMessage = await openRequest(port, url);
  let text = '';
  for await (const part of response) {
    text += String(part);
    if (text.includes('*****')) break;
  }
  return text;
}

/** As it is, and as it is when the JSON around it is parsed. */
function expectClean(text: string, where: string): void {
  for (const form of FORMS) {
    for (const found of [form, JSON.stringify(form).slice(1, -1)]) {
      expect(text.includes(found), `${found} in ${where}`).toBe(false);
    }
  }
}

it('secrets of a member that masks nothing itself are in no response of any route, nor in what is recorded of it', async () => {
  const { port, lindb, recordDir } = await startWithLindb();
  const masked: string[] = [];
  const requestAll = async () => {
    const routes = [
      ...ROUTE_IDS.map((id) => [id, getRoute(id)] as const),
      ...MEMBER_ROUTE_IDS.map((id) => [`member ${id}`, getMemberRoute(id), id] as const),
    ];
    for (const [name, route, id = name] of routes) {
      if (route.method === 'DELETE') continue;
      for (const url of routeUrls(id, route)) {
        const text = await readText(port, url);
        expectClean(text, url);
        if (text.includes('*****')) masked.push(name);
      }
    }
  };
  await requestAll();
  expect(masked).toEqual(
    expect.arrayContaining([
      'member config',
      'member logView',
      'settings',
      'logSearch',
      'logFollow',
      'logDigest',
      'logTop',
      'logAround',
    ]),
  );
  const client = createClient({ url: `http://127.0.0.1:${port}` });
  const { config } = await client.node('lindb').config();
  expect(config).toContain('password = "*');
  expect(config).toContain('port = 9000');
  expectClean(config, 'the SDK');
  const found = await sendRequest(port, `/api/v1/log/search?nodes=lindb&q=${encodeURIComponent(SECRETS[0] ?? '')}`);
  expect(found.body.toString()).not.toContain('"type":"record"');

  const kept = () =>
    readdirSync(recordDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
      .join('\n');
  await eventually(() => expect(kept()).toContain('login'));
  expectClean(kept(), 'the recording on disk');
  lindb.stop();
  masked.length = 0;
  await requestAll();
  expect(masked).toEqual(expect.arrayContaining(['settings', 'logSearch']));
});

it('a configuration of a member that is not TOML is not shown, with the reason', async () => {
  const { port, lindb } = await startWithLindb();
  lindb.config = `password: ${SECRETS[0]}\n`;
  for (const path of ['config', 'log/view?file=lind.log']) {
    const { status, body } = await sendRequest(port, `/api/v1/nodes/lindb/${path}`);
    expect(status).toBe(502);
    expectClean(body.toString(), path);
    expect(body.toString()).toContain('not TOML');
  }
});

it('any window of its text, cut anywhere, shows no more than two bytes of a secret', async () => {
  const { port, lindb } = await startWithLindb();
  // One line, and a node that cuts within it, as LinDB does not.
  const secret = SECRETS[0] ?? '';
  const text = `${'x'.repeat(50)}\n${'y'.repeat(40)}${secret}${'z'.repeat(30)}`;
  lindb.files.set('lind.log', Buffer.from(text));
  lindb.viewAsIs = true;
  for (let size = 25; size < 60; size++) {
    const { body } = await sendRequest(port, `/api/v1/nodes/lindb/log/view?file=lind.log&size=${size}`);
    const shown = body.toString();
    for (let at = 0; at + 3 <= secret.length; at++) expect(shown).not.toContain(secret.slice(at, at + 3));
  }
});

it.each(['..%2Fx.log', 'sub%2Fin.log', 'a%5Cb', 'a%00b', '.', '..', 'n'.repeat(256)])(
  'a file of such a member is not asked for by the name %s',
  async (file) => {
    const { port, lindb } = await startWithLindb();
    const { status, body } = await sendRequest(port, `/api/v1/nodes/lindb/log/view?size=10&file=${file}`);
    expect({ status, code: JSON.parse(body.toString()).code }).toEqual({ status: 400, code: 'FILE_NAME_INVALID' });
    expect(lindb.requests.filter((asked) => asked.file !== null && asked.file !== 'lind.log')).toEqual([]);
  },
);
