import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS, type Route, searchItems } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { readZip } from '../bundle/testing/read-zip.ts';
import { connectNode } from '../grpc/testing/connect.ts';
import { freePorts } from '../testing/free-ports.ts';
import { openRequest, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const SECRET = 'Tr0ub4dor/&3 x';

/** The forms in which it is planted, written out: what is looked for must not come from what is tested. */
const FORMS = [
  SECRET,
  'Tr0ub4dor%2F%263%20x',
  'Tr0ub4dor%2f%263%20x',
  'Tr0ub4dor%2F%263+x',
  'Tr0ub4dor%252F%25263%2520x',
  'Tr0ub4dor\\/&3 x',
  'Tr0ub4dor/\\u00263 x',
  'Tr0ub4dor/\\\\u00263 x',
  // The middle of what base64 gives with no, one and two bytes before it.
  'VHIwdWI0ZG9yLyYzIH',
  'RyMHViNGRvci8mMyB4',
  'UcjB1YjRkb3IvJjMge',
];
const BASE64 = ['', 'u', 'us'].map((before) => Buffer.from(`${before}${SECRET} and more`).toString('base64'));

/** No pieces of it either: half a secret is half the work. */
const PIECES = ['Tr0ub4', 'VHIwdWI0', 'RyMHViNGRv', 'UcjB1YjRk', 'b4dor%2'];

function plantedLog(): string {
  const texts = [...FORMS, ...BASE64];
  const lines = Array.from({ length: 200 }, (_, index) => {
    const time = `2026-11-15 10:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}.000`;
    const level = ['INFO', 'WARN', 'ERROR'][index % 3];
    const text = texts[index % texts.length] ?? '';
    return `${time}\t${level}\t[Login ${SECRET}]\tauth/${text}.go:7\tlogin with ${text}\t{"password":"${text}"}\n  at ${text}\n`;
  });
  return lines.join('');
}

async function startPlanted(): Promise<TestNode> {
  const [port = 0] = await freePorts(1);
  const configFile = join(tempDir(), 'service.toml');
  writeFileSync(configFile, `[db]\npassword = ${JSON.stringify(SECRET)}\n# password = "${SECRET}"\n`);
  const text = plantedLog();
  const json = JSON.stringify({ time: '2026-11-15T10:00:00Z', level: 'error', msg: SECRET, token: SECRET });
  return startTestNode({
    settings: {
      http: { port },
      service: { configFile },
      node: { timeZone: 'UTC' },
      cluster: {
        nodeId: 'n1',
        members: [`n1=http://127.0.0.1:${port}`],
        // A busy machine must not leave the records out.
        memberTimeoutMs: 60_000,
        firstBatchTimeoutMs: 60_000,
      },
    },
    files: {
      'a.log': text,
      'a.log.1': text.replaceAll('11-15', '11-14'),
      'a.log.2.gz': gzipSync(text.replaceAll('11-15', '11-13')),
      'b.json.log': `${json}\n`,
      'half.log': `2026-11-15 10:00:00.000\tINFO\t${SECRET.slice(0, 9)}`,
    },
  });
}

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  logView: ['file=a.log&size=1000000', 'file=a.log.2.gz&size=1000000', 'file=half.log', 'file=a.log&size=33'],
  logFiles: ['', 'src=%3Da.log', 'src=%3Da.log.2.gz', 'src=%3Dhalf.log'],
  logRaw: ['file=a.log', 'file=b.json.log', 'file=half.log'],
  logSearch: [
    'limit=1000&raw=true',
    'src=%3Da.log.2.gz&before=3&after=3&limit=20',
    'q=login&order=oldest',
    'regex=login.with',
  ],
  logFollow: ['back=50&raw=true', 'src=%3Da.log&back=5'],
  logHistogram: ['buckets=10'],
  logDigest: ['limit=1000'],
  logFields: ['limit=1000'],
  logTop: ['by=message&limit=1000'],
  logAround: ['time=2026-11-15T10:01:00Z'],
  bundle: ['since=2026-11-01'],
};

/** Of this node, and of all nodes. Where a page or an asset is asked for by a name that stands in the path, by one. */
function routeUrls(id: string, { path, parameters }: Route): string[] {
  const at = path.replace('{id}', 'n1').replace('{name}', 'porthole.svg');
  const ofNodes = parameters.some(({ name }) => name === 'nodes') && !at.includes('n1') ? ['', '&nodes=*'] : [''];
  return (QUERIES[id] ?? ['']).flatMap((query) => ofNodes.map((nodes) => `${at}?${query}${nodes}`));
}

const NODE_ROUTES = ROUTE_IDS.map((id) => [id, getRoute(id)] as const);
const MEMBER_ROUTES = MEMBER_ROUTE_IDS.map((id) => [id, getMemberRoute(id)] as const);

function expectClean(text: string, where: string): void {
  for (const form of [...FORMS, ...PIECES]) expect(text.includes(form), `${form} in ${where}`).toBe(false);
}

/** The answer as far as it says something; one without end up to its first masked secret. */
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

describe('a secret of the configuration that is all over the logs', () => {
  it('is in no response of any route, of this node or of a member through it', async () => {
    const { port } = await startPlanted();
    const masked: string[] = [];
    for (const [id, route] of [...NODE_ROUTES, ...MEMBER_ROUTES]) {
      for (const url of routeUrls(id, route)) {
        const text = await readText(port, url);
        expectClean(text, url);
        if (text.includes('*****')) masked.push(id);
      }
    }
    // What is empty, or refused, holds no secret either.
    const revealing = [
      'logFiles',
      'logView',
      'logRaw',
      'logSearch',
      'logFollow',
      'logDigest',
      'logTop',
      'logSearch',
      'logFollow',
    ];
    expect(masked).toEqual(expect.arrayContaining([...revealing, 'logAround', 'logDigest', 'bundle']));
  });

  it('is not given in small pieces, nor packed', async () => {
    const { port } = await startPlanted();
    const whole = (await sendRequest(port, '/api/v1/log/raw?file=a.log')).body;
    const first = plantedLog().indexOf(SECRET);
    for (let at = first - 2; at < first + SECRET.length + 2; at++) {
      const range = { headers: { range: `bytes=${at}-${at}` } };
      const { status, body } = await sendRequest(port, '/api/v1/log/raw?file=a.log', range);
      expect(status).toBe(206);
      expect(body.toString()).toBe(whole.subarray(at, at + 1).toString());
    }
    const packed = await sendRequest(port, '/api/v1/log/raw?file=a.log.2.gz');
    expect(packed.status).toBe(403);
    expect(JSON.parse(packed.body.toString())).toMatchObject({ code: 'RAW_HAS_SECRETS' });
  });

  it('is in no response over gRPC', async () => {
    const { running } = await startPlanted();
    const node = connectNode(running.node.grpcPort);
    const read = async (chunks: AsyncIterable<Uint8Array>) => {
      let text = '';
      for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
      return text;
    };
    for (const file of ['a.log', 'a.log.2.gz', 'half.log']) {
      const response = await node.viewLog({ file, sizeBytes: 1_000_000 });
      const text = await read(response.chunks);
      await response.close();
      expect(text).toContain('*****');
      expectClean(text, `view of ${file}`);
    }
    const log = await node.openLog({ file: 'a.log' });
    expectClean(await read(log.read(0, log.sizeBytes)), 'raw');
    await log.close();
    const query = { order: 'newest', limit: 40, before: 1, after: 1, raw: true } as const;
    for await (const items of searchItems(node, query)) expectClean(JSON.stringify(items), 'search');
    expectClean(JSON.stringify(await node.logDigest({ limit: 100 })), 'digest');
    expectClean(JSON.stringify([await node.config(), await node.settings(), await node.logFiles()]), 'state');
  });

  it('is not found by any search', async () => {
    const { port } = await startPlanted();
    for (const text of [SECRET, SECRET.slice(0, 6), 'ub4dor', 'VHIwdWI0']) {
      const { body } = await sendRequest(port, `/api/v1/log/search?q=${encodeURIComponent(text)}`);
      expect(body.toString()).not.toContain('"type":"record"');
    }
  });
});
