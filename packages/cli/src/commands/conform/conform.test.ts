import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Case, CORE_CASES, FRAMING_CASE, type Verdict } from './core-cases.ts';
import { LateError, makeLines, NodeUnderTest, TestFiles } from './node-under-test.ts';
import { OPEN_POINTS, PROFILES } from './open-points.ts';
import { ROBUST_CASES } from './robust-cases.ts';
import { type SmallNodeOptions, startSmallNode } from './testing/small-node.ts';

type Fault = Omit<SmallNodeOptions, 'dir'>;

const CASES = [...CORE_CASES, ...ROBUST_CASES, FRAMING_CASE];

async function startNode(fault: Fault, { isWritable = false } = {}): Promise<NodeUnderTest> {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-conform-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'a.log'), makeLines(3000, 'a'));
  writeFileSync(join(dir, 'b.log'), makeLines(10, 'b'));
  const url = await startSmallNode({ ...fault, dir });
  const target = { url, token: undefined, tls: {}, signal: new AbortController().signal };
  return new NodeUnderTest(target, isWritable ? await TestFiles.open(dir) : undefined);
}

async function check(id: string, node: NodeUnderTest): Promise<Verdict> {
  const found: Case | undefined = CASES.find((each) => each.id === id);
  if (!found) throw new Error(`no case ${id}`);
  const verdict = await found.check(node);
  await node.files?.clear();
  return verdict;
}

/** Changes an object that the node responds with. */
function patch(path: string, edit: (value: never) => unknown): Fault {
  return { change: (value, at) => (at.endsWith(path) ? edit(value as never) : value) };
}

const node = (fields: object): Fault =>
  patch('/config', (value: { config: string; node: object }) => ({ ...value, node: { ...value.node, ...fields } }));

const entries = (edit: (list: { name: string; size: number }[]) => unknown): Fault => patch('/list', edit);

/** Responds with this to one route. */
function answer(path: string, status: number, body: string, headers: Record<string, string> = {}): Fault {
  return {
    respond: (_request, response, { pathname }) => {
      if (!pathname.endsWith(path)) return false;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      return true;
    },
  };
}

/** For each case, nodes that must fail it. */
const FAULTS: readonly [string, string, Fault][] = [
  ['config-response', 'responds with 500', answer('/config', 500, '{}')],
  ['config-response', 'responds with HTML', answer('/config', 200, '<!doctype html>')],
  ['config-response', 'has an object as config', patch('/config', (value: object) => ({ ...value, config: {} }))],
  ['config-response', 'has no node', patch('/config', () => ({ config: '' }))],
  ['config-toml', 'has YAML', patch('/config', (value: object) => ({ ...value, config: 'a: 1\nb:\n  - 2\n' }))],
  ['config-node', 'has a port as text', node({ httpPort: '2' })],
  ['config-node', 'has a fraction as time', node({ onlineTime: 1.5 })],
  ['config-node', 'has no host name', node({ hostName: undefined })],
  ['config-node', 'has null as gRPC port', node({ grpcPort: null })],
  ['config-node', 'has a port of six digits', node({ httpPort: 100_000 })],
  ['list-response', 'responds with 404', answer('/list', 404, '[]')],
  ['list-response', 'wraps the list', entries((list) => ({ files: list }))],
  ['list-response', 'has sizes as text', entries((list) => list.map(({ name }) => ({ name, size: '1' })))],
  ['list-response', 'has a negative size', entries((list) => list.map(({ name }) => ({ name, size: -1 })))],
  ['list-response', 'lists names alone', entries((list) => list.map(({ name }) => name))],
  ['list-names', 'lists a file twice', entries((list) => [...list, ...list])],
  ['list-names', 'lists a directory above', entries((list) => [...list, { name: '..', size: 1 }])],
  ['list-names', 'lists paths', entries((list) => list.map(({ name, size }) => ({ name: `/var/log/${name}`, size })))],
  ['view-listed', 'lists what cannot be viewed', entries((list) => [...list, { name: 'gone.log', size: 1 }])],
  ['view-size', 'always returns the whole file', answer('/view', 200, 'one line of ten bytes\n'.repeat(5000))],
  ['view-size', 'returns one byte more', { changeView: (body, _file, size) => Buffer.alloc(size + 1, `${body}\n`) }],
  [
    'view-end',
    'returns the start of the file',
    { changeView: (_body, _file, size) => Buffer.from(makeLines(3000, 'a').slice(0, size)) },
  ],
  [
    'view-end',
    'leaves out what is not in a block',
    { changeView: (body) => body.subarray(0, body.length - (body.length % 512)) },
  ],
  [
    'view-unknown',
    'has an empty view of anything',
    {
      respond: (_request, response, { searchParams }) =>
        !['a.log', 'b.log', null].includes(searchParams.get('file')) && Boolean(response.end()),
    },
  ],
  [
    'view-outside',
    'reads any file',
    {
      respond: (_request, response, { searchParams }) =>
        (searchParams.get('file') ?? '').includes('/') && Boolean(response.end('root:x\n')),
    },
  ],
  [
    'view-outside',
    'reads directories',
    {
      respond: (_request, response, { searchParams }) =>
        searchParams.get('file') === '..' && Boolean(response.end('a.log\n')),
    },
  ],
  [
    'get-only',
    'takes POST for GET',
    {
      respond: (request) => {
        request.method = 'GET';
        return false;
      },
    },
  ],
  [
    'get-only',
    'accepts POST of one route',
    {
      respond: (request, response, { pathname }) =>
        request.method === 'POST' && pathname.endsWith('/view') && Boolean(response.writeHead(204).end()),
    },
  ],
];

const isLarge = (file: string) => /(?:growth|rotation|removal|truncation)\.log$/.test(file);

const ROBUST_FAULTS: readonly [string, string, Fault][] = [
  [
    'view-end',
    'leaves out the last line of every file',
    { changeView: (body) => body.subarray(0, body.lastIndexOf('\n', -2) + 1) },
  ],
  [
    'growth',
    'has the size of the list',
    { changeView: (body, file) => (isLarge(file) ? body.subarray(0, -1000) : body) },
  ],
  ['rotation', 'opens the file for each chunk', { reopens: true }],
  ['removal', 'opens the file for each chunk', { reopens: true }],
  ['truncation', 'ends where the file ends', { endsShort: true }],
  [
    'odd-names',
    'decodes names twice',
    {
      respond: (request, _response, url) => {
        const file = url.searchParams.get('file') ?? '';
        if (file.includes('%41')) url.searchParams.set('file', file.replace('%41', 'A'));
        request.url = url.href;
        return false;
      },
    },
  ],
  ['odd-names', 'lists only names in ASCII', entries((list) => list.filter(({ name }) => /^[\w.-]+$/.test(name)))],
  [
    'not-files',
    'views broken links as empty files',
    {
      respond: (_request, response, { searchParams }) =>
        (searchParams.get('file') ?? '').endsWith('broken.log') && Boolean(response.end()),
    },
  ],
  [
    'not-files',
    'lists nothing if there is a directory',
    entries((list) => (list.some(({ name }) => name.endsWith('beside.log')) ? [] : list)),
  ],
  [
    'empty-file',
    'does not know empty files',
    {
      respond: (_request, response, { searchParams }) =>
        (searchParams.get('file') ?? '').endsWith('empty.log') && Boolean(response.writeHead(404).end()),
    },
  ],
  ['fresh', 'keeps what it has read', { changeView: cached() }],
];

function cached(): NonNullable<Fault['changeView']> {
  const bodies = new Map<string, Buffer>();
  return (body, file) => {
    const kept = bodies.get(file) ?? body;
    bodies.set(file, kept);
    return kept;
  };
}

/** Sends bytes as they are, as the whole response. */
function raw(text: string): Fault {
  return {
    respond: (request, _response, { pathname }) => {
      if (!pathname.endsWith('/list')) return false;
      request.socket.end(text);
      return true;
    },
  };
}

const FRAMING_FAULTS: readonly [string, Fault][] = [
  ['announces more than it sends', raw('HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n[]')],
  ['sends more than it announces', raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[] and more')],
  ['has no last chunk', raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n[]\r\n')],
  ['announces nothing', raw('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n[]')],
  ['does not speak HTTP', raw('hello\n')],
];

describe('a node that does everything right', () => {
  it.each(CASES)('passes $id', async ({ id }) => {
    const isWritable = ROBUST_CASES.some((each) => each.id === id);
    expect(await check(id, await startNode({}, { isWritable }))).toEqual({});
  });

  it('passes all with a writable directory, which is as before afterwards', async () => {
    const whole = await startNode({}, { isWritable: true });
    const { dir } = whole.files as TestFiles;
    for (const { id } of [...CORE_CASES, FRAMING_CASE]) expect(await check(id, whole), id).toEqual({});
    for (const { measure } of OPEN_POINTS) await measure(whole);
    await whole.files?.clear();
    expect(readdirSync(dir)).toEqual(['a.log', 'b.log']);
    expect(readFileSync(join(dir, 'a.log'), 'utf8')).toBe(makeLines(3000, 'a'));
  });
});

describe('a node with a fault fails its case', () => {
  it.each(FAULTS)('%s: %s', async (id, _fault, fault) => {
    expect(await check(id, await startNode(fault))).toEqual({ problem: expect.any(String) });
  });

  it.each(ROBUST_FAULTS)('with a writable directory, %s: %s', async (id, _fault, fault) => {
    expect(await check(id, await startNode(fault, { isWritable: true }))).toEqual({ problem: expect.any(String) });
  });

  it.each(FRAMING_FAULTS)('framing: it %s', async (_fault, fault) => {
    const bad = await startNode(fault);
    await bad.list();
    expect(await check('framing', bad)).toEqual({ problem: expect.stringContaining('GET /api/v1/log/list: ') });
  });

  it('every case has one', () => {
    const tried = new Set([...FAULTS, ...ROBUST_FAULTS].map(([id]) => id));
    expect(CASES.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual(['framing']);
  });
});

/** The open points and what each profile has, as a table of Markdown. */
function profileTable(): string {
  const names = Object.keys(PROFILES);
  const rows = OPEN_POINTS.map(({ id, title }) => [
    `\`${id}\``,
    title,
    ...names.map((name) => PROFILES[name]?.[id] ?? '-'),
  ]);
  const lines = [['point', 'about', ...names], ['---', '---', ...names.map(() => '---')], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`.replaceAll(' --- ', '---')).join('');
}

it('docs/conformance.md has every case, and the table of points (UPDATE_DOCS=1 writes it)', () => {
  const path = join(import.meta.dirname, '../../../../../docs/conformance.md');
  const page = readFileSync(path, 'utf8');
  for (const { id } of CASES) expect(page).toContain(`\`${id}\``);
  const written = page.replace(/(<!-- profiles -->\n)(?:\|.*\n)*/, (_all, mark: string) => mark + profileTable());
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, written);
  else expect(page).toBe(written);
});

it('profiles name points that are measured', () => {
  const ids = OPEN_POINTS.map(({ id }) => id);
  for (const profile of Object.values(PROFILES)) expect(ids).toEqual(expect.arrayContaining(Object.keys(profile)));
});

it('a size that counts lines is as good as one of bytes', async () => {
  const inLines: Fault = {
    respond: (_request, response, { pathname, searchParams }) => {
      const isFile = ['a.log', 'b.log'].includes(searchParams.get('file') ?? '');
      if (!pathname.endsWith('/view') || !isFile) return false;
      const lines = makeLines(3000, 'a').match(/.*\n/g) ?? [];
      response.end(lines.slice(-Number(searchParams.get('size'))).join(''));
      return true;
    },
  };
  const lines = await startNode(inLines);
  expect(await check('view-size', lines)).toEqual({});
  expect(await OPEN_POINTS.find(({ id }) => id === 'size-unit')?.measure(lines)).toEqual({ value: 'lines' });
});

describe('a node that does not come to an end', () => {
  const hangs = (path: string): Fault => ({
    respond: (_request, response, { pathname }) => {
      if (!pathname.endsWith(path)) return false;
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
      response.writeHead(200, { 'content-type': 'application/json' });
      return true;
    },
  });

  it('fails the check that waits for it, whose requests end', async () => {
    const slow = await startNode(hangs('/view'));
    const found = slow.inTime(AbortSignal.timeout(300), () => check('view-listed', slow));
    await expect(found).rejects.toThrow(LateError);
    const { status } = await slow.send('/api/v1/config');
    expect(status).toBe(200);
  });
});
