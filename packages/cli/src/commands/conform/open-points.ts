import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { measureSizes } from './core-cases.ts';
import type { Received } from './exchange.ts';
import { isObject, makeLines, type NodeUnderTest, parseJson, quote, ROUTES, WHOLE } from './node-under-test.ts';

/** What a node does where the interface leaves it open; or why that cannot be seen here. */
export type Measured = { value: string } | { skipped: string };

export interface OpenPoint {
  id: string;
  title: string;
  measure(node: NodeUnderTest): Promise<Measured>;
}

/** Larger than what any node is expected to return by default. */
const LARGE_LINES = 60_000;

/** Longer than the line buffers of common libraries, 64 KiB. */
const LONG_LINE_BYTES = 200_000;

const NEEDS_DIRECTORY: Measured = { skipped: 'needs --log-dir' };

/** Each is measured, never wrong in itself. A profile says what is expected of some. */
export const OPEN_POINTS: readonly OpenPoint[] = [
  { id: 'size-unit', title: 'unit of size', measure: measureUnit },
  { id: 'first-line', title: 'first line of a view', measure: measureFirstLine },
  { id: 'default-size', title: 'view without size', measure: measureDefaultSize },
  { id: 'size-zero', title: 'size=0', measure: (node) => measureSize(node, '0') },
  { id: 'size-negative', title: 'size=-1', measure: (node) => measureSize(node, '-1') },
  { id: 'size-text', title: 'size=x', measure: (node) => measureSize(node, 'x') },
  { id: 'size-empty', title: 'size without a value', measure: (node) => measureSize(node, '') },
  { id: 'no-file', title: 'view without file', measure: async (node) => describeStatus(await node.send(ROUTES.view)) },
  {
    id: 'unknown-file',
    title: 'status for an unknown file',
    measure: async (node) => describeStatus(await viewUnknown(node)),
  },
  { id: 'error-form', title: 'body of an error', measure: measureErrorForm },
  { id: 'head', title: 'HEAD', measure: measureHead },
  { id: 'unknown-parameters', title: 'unknown parameters', measure: measureUnknownParameters },
  { id: 'content-type', title: 'content type of a view', measure: measureContentType },
  { id: 'empty-directory', title: 'list of an empty directory', measure: measureEmpty },
  { id: 'order', title: 'order of the list', measure: measureOrder },
  { id: 'listed-files', title: 'files that are listed', measure: measureListed },
  { id: 'compressed-files', title: 'view of a .gz file', measure: measureCompressed },
  { id: 'links-outside', title: 'links out of the directory', measure: measureLinks },
  { id: 'long-lines', title: 'lines of 200,000 bytes', measure: measureLongLines },
  { id: 'bytes', title: 'CRLF, NUL and a missing last newline', measure: measureBytes },
  { id: 'grpc-port', title: 'grpcPort', measure: measureGrpcPort },
  { id: 'more-fields', title: 'fields beyond the interface', measure: measureMoreFields },
];

async function measureUnit(node: NodeUnderTest): Promise<Measured> {
  if (node.files) await node.show(node.files, 'unit.log', makeLines(2000, 'unit'));
  const listed = await node.list();
  const { tooManyBytes, tooManyLines } = await measureSizes(node, listed.sort((a, b) => b.size - a.size).slice(0, 3));
  if (tooManyBytes === undefined && tooManyLines === undefined && !listed.some(({ size }) => size > 0))
    return { skipped: 'no file has content' };
  return { value: tooManyBytes === undefined ? 'bytes' : 'lines' };
}

/** Views that begin within a line, at the start of one, and at the start of the file. */
async function measureFirstLine(node: NodeUnderTest): Promise<Measured> {
  const file = await steadyFile(node);
  if (file === undefined) return { skipped: 'needs --log-dir, or a file of three lines that does not grow' };
  const { name, size, lines } = file;
  const [third = '', second = '', last = ''] = lines.slice(-3).map((line) => `${line}\n`);
  const bytes = (text: string) => Buffer.byteLength(text, 'latin1');
  const seen = async (text: string) =>
    (await node.view(name, bytes(text))).body.toString('latin1').replace(/[^\n]$/, '$&\n');
  const cut = third.slice(Math.ceil(third.length / 2)) + second + last;
  const atCut = await seen(cut);
  if (atCut === cut) return { value: 'kept, even if cut' };
  if (atCut !== second + last) return { value: `something else: ${quote(atCut.slice(0, 40))}` };
  if ((await seen(second + last)) !== second + last) return { value: 'always dropped' };
  return { value: file.viewed < size ? 'dropped if cut, and that of the file' : 'dropped if cut' };
}

interface SteadyFile {
  name: string;
  size: number;
  /** Bytes of the whole view. */
  viewed: number;
  /** Its last lines. */
  lines: string[];
}

/** Our own file, or one of the node's that has the same size before and after it was viewed. */
async function steadyFile(node: NodeUnderTest): Promise<SteadyFile | undefined> {
  if (node.files) await node.show(node.files, 'lines.log', makeLines(50, 'lines'));
  const own = node.files?.name('lines.log');
  for (const { name, size } of await node.list()) {
    if (own === undefined ? size === 0 || size > 1024 ** 2 || name.endsWith('.gz') : name !== own) continue;
    const { status, body } = await node.view(name, WHOLE);
    const lines = body.toString('latin1').replace(/\n$/, '').split('\n');
    const isSteady = (await node.list()).some((entry) => entry.name === name && entry.size === size);
    if (status === 200 && isSteady && lines.length >= 3 && lines.slice(-3).every((line) => line.length > 1))
      return { name, size, viewed: body.length, lines: lines.slice(-3) };
  }
  return undefined;
}

async function measureDefaultSize(node: NodeUnderTest): Promise<Measured> {
  const text = makeLines(LARGE_LINES, 'size');
  if (node.files) await node.show(node.files, 'size.log', text);
  const [largest] = (await node.list()).sort((a, b) => b.size - a.size);
  const own = node.files?.name('size.log');
  const name = own ?? (largest !== undefined && largest.size > 2 * 1024 ** 2 ? largest.name : undefined);
  if (name === undefined) return { skipped: 'needs --log-dir, or a file of more than 2 MiB' };
  const { status, body } = await node.send(ROUTES.view, { query: { file: name } });
  if (status !== 200) return { value: `status ${status}` };
  if (own !== undefined && body.length === text.length) return { value: 'the whole file' };
  // What is less than a line short of a round number had its first line dropped.
  const firstLine = body.indexOf(0x0a) + 1;
  const round = Math.ceil(body.length / 1024) * 1024;
  return { value: `${round - body.length <= firstLine ? round : body.length} bytes` };
}

async function measureSize(node: NodeUnderTest, size: string): Promise<Measured> {
  const file = (await node.list()).find((entry) => entry.size > 0);
  if (file === undefined) return { skipped: 'no file has content' };
  const response = await node.send(ROUTES.view, { query: { file: file.name, size } });
  if (response.status !== 200) return describeStatus(response);
  return { value: response.body.length === 0 ? '200 without content' : '200 with content' };
}

function describeStatus({ status }: Received): Measured {
  return { value: String(status) };
}

function viewUnknown(node: NodeUnderTest): Promise<Received> {
  return node.view('porthole-conform-no-such-file.log', 100);
}

async function measureErrorForm(node: NodeUnderTest): Promise<Measured> {
  const { headers, body } = await viewUnknown(node);
  const type = mediaType(headers['content-type']);
  if (type === 'application/problem+json') return { value: type };
  const value = parseJson(body);
  if (body.length === 0) return { value: 'empty' };
  return { value: value === undefined ? 'text' : isObject(value) ? 'JSON object' : `JSON ${typeof value}` };
}

function mediaType(header: string | undefined): string {
  return (header ?? 'none').split(';')[0]?.trim().toLowerCase() ?? '';
}

async function measureHead(node: NodeUnderTest): Promise<Measured> {
  const response = await node.send(ROUTES.list, { method: 'HEAD' });
  return response.status === 200 ? { value: 'like GET, without a body' } : describeStatus(response);
}

/** Proxies in front of a node add their own. */
async function measureUnknownParameters(node: NodeUnderTest): Promise<Measured> {
  const { status } = await node.send(ROUTES.list, { query: { target: 'node:9000', path: ROUTES.list } });
  return { value: status === 200 ? 'ignored' : `status ${status}` };
}

/** Text that looks like HTML shows whether the type is guessed from the content. */
async function measureContentType(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) {
    const [file] = await node.list();
    if (file === undefined) return { skipped: 'no files are listed' };
    return { value: mediaType((await node.view(file.name, 4096)).headers['content-type']) };
  }
  const text = '<!DOCTYPE html>\n'.repeat(3);
  await node.show(node.files, 'page.log', text);
  const type = mediaType((await node.view(node.files.name('page.log'), WHOLE)).headers['content-type']);
  return { value: type === 'text/html' ? 'guessed from the content' : type };
}

/** Other files are never removed, so that it must have been empty. */
async function measureEmpty(node: NodeUnderTest): Promise<Measured> {
  if (node.emptyList === undefined) return { skipped: 'the log directory is not empty' };
  return { value: node.emptyList };
}

async function measureOrder(node: NodeUnderTest): Promise<Measured> {
  for (const label of ['B.log', 'a.log', 'é.log']) if (node.files) await node.show(node.files, label, 'one\n');
  const names = (await node.list()).map(({ name }) => name);
  if (names.length < 2) return { skipped: 'fewer than two files are listed' };
  const isSame = (sorted: readonly string[]) => sorted.every((name, index) => name === names[index]);
  return { value: isSame(names.toSorted()) ? 'by name' : 'not by name' };
}

async function measureListed(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) return NEEDS_DIRECTORY;
  const labels = ['plain.txt', 'none', 'old.log.1'];
  for (const label of labels) await node.files.write(label, 'one\ntwo\n');
  await node.show(node.files, 'after.log', 'one\n');
  const names = (await node.list()).map(({ name }) => name);
  const { files } = node;
  const listed = labels.filter((label) => names.includes(files.name(label)));
  return {
    value: listed.length === labels.length ? 'all' : listed.length === 0 ? 'only .log' : `also ${listed.join(', ')}`,
  };
}

async function measureCompressed(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) return NEEDS_DIRECTORY;
  const text = makeLines(20, 'gz');
  const packed = gzipSync(text);
  const name = await node.files.write('old.log.gz', packed);
  if (!(await node.isListed(name, 0))) return { value: 'not listed' };
  const { status, body } = await node.view(name, WHOLE);
  if (status !== 200) return { value: `status ${status}` };
  if (body.length > 0 && text.endsWith(body.toString('latin1'))) return { value: 'the text' };
  return { value: body.equals(packed) ? 'the compressed bytes' : 'something else' };
}

async function measureLinks(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) return NEEDS_DIRECTORY;
  const outside = join(tmpdir(), `porthole-conform-${randomBytes(8).toString('hex')}`);
  await writeFile(outside, 'outside\n'.repeat(4), { flag: 'wx' });
  try {
    const name = await node.files.link('link.log', outside);
    const { status, body } = await node.view(name, WHOLE);
    return { value: status === 200 && body.includes('outside') ? 'followed' : 'not followed' };
  } finally {
    await rm(outside);
  }
}

async function measureLongLines(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) return NEEDS_DIRECTORY;
  const text = `${makeLines(5, 'long')}${'x'.repeat(LONG_LINE_BYTES)}\n${makeLines(5, 'long')}`;
  await node.show(node.files, 'long.log', text);
  const { status, body, failure } = await node.view(node.files.name('long.log'), WHOLE);
  if (failure !== undefined || status !== 200)
    return { value: failure === undefined ? `status ${status}` : 'an error' };
  const seen = body.toString('latin1');
  if (text.endsWith(seen) && seen.length > LONG_LINE_BYTES) return { value: 'whole' };
  return { value: text.includes(seen) ? 'end the view without an error' : 'changed' };
}

async function measureBytes(node: NodeUnderTest): Promise<Measured> {
  if (!node.files) return NEEDS_DIRECTORY;
  const bytes = Buffer.from(`${makeLines(3, 'bytes')}one\r\ntwo \0 \xff three\r\nlast`, 'latin1');
  await node.show(node.files, 'bytes.log', bytes);
  const { body } = await node.view(node.files.name('bytes.log'), WHOLE);
  const tail = bytes.subarray(-20);
  return { value: body.subarray(-20).equals(tail) ? 'unchanged' : 'changed' };
}

async function measureGrpcPort(node: NodeUnderTest): Promise<Measured> {
  return { value: (await describedNode(node)).grpcPort === undefined ? 'absent' : 'present' };
}

async function measureMoreFields(node: NodeUnderTest): Promise<Measured> {
  const known = ['hostIp', 'hostName', 'grpcPort', 'httpPort', 'version', 'onlineTime'];
  const own = Object.keys(await describedNode(node)).filter((name) => !known.includes(name));
  const entry: object = (await node.list())[0] ?? {};
  const more = [...own, ...Object.keys(entry).filter((name) => name !== 'name' && name !== 'size')];
  return { value: more.length === 0 ? 'none' : more.map(quote).join(', ').slice(0, 200) };
}

async function describedNode(node: NodeUnderTest): Promise<Record<string, unknown>> {
  const value = parseJson((await node.send(ROUTES.config)).body);
  return isObject(value) && isObject(value.node) ? value.node : {};
}

/** What is expected of the points of a known implementation; on those that are absent it says nothing. */
export const PROFILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  porthole: {
    'size-unit': 'bytes',
    'first-line': 'dropped if cut',
    'default-size': '1048576 bytes',
    'size-zero': '400',
    'size-negative': '400',
    'size-text': '400',
    'size-empty': '200 with content',
    'no-file': '400',
    'unknown-file': '404',
    'error-form': 'application/problem+json',
    head: 'like GET, without a body',
    'unknown-parameters': 'ignored',
    'content-type': 'text/plain',
    'empty-directory': '[]',
    order: 'by name',
    'listed-files': 'all',
    'compressed-files': 'the text',
    'links-outside': 'not followed',
    'long-lines': 'whole',
    bytes: 'unchanged',
    'grpc-port': 'present',
    'more-fields': 'none',
  },
  'lindb-0.4': {
    'size-unit': 'bytes',
    'first-line': 'always dropped',
    'default-size': '1048576 bytes',
    'size-zero': '200 without content',
    'size-negative': '200 without content',
    'size-text': '500',
    'size-empty': '200 without content',
    'no-file': '500',
    'unknown-file': '500',
    'error-form': 'JSON string',
    'unknown-parameters': 'ignored',
    'empty-directory': 'null',
    order: 'by name',
    'listed-files': 'only .log',
    'compressed-files': 'not listed',
    'links-outside': 'followed',
    'long-lines': 'end the view without an error',
    bytes: 'changed',
  },
};
