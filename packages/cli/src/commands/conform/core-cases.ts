import {
  isCount,
  isEntry,
  isObject,
  type LogEntry,
  makeLines,
  type NodeUnderTest,
  parseJson,
  quote,
  ROUTES,
  WHOLE,
} from './node-under-test.ts';

/** What is wrong, or why it cannot be checked here; neither: it holds. */
export interface Verdict {
  problem?: string;
  skipped?: string;
}

export interface Case {
  id: string;
  title: string;
  check(node: NodeUnderTest): Promise<Verdict>;
}

/** Of a directory with more files, these many are viewed: a run should take seconds. */
const MAX_VIEWED = 200;
const MAX_MEASURED = 20;

const SIZES = [1, 100, 4096, 65_536];

/** What the interface says, and every node has to do. */
export const CORE_CASES: readonly Case[] = [
  { id: 'config-response', title: 'GET /api/v1/config is a JSON object of config and node', check: checkConfig },
  { id: 'config-toml', title: 'config is TOML', check: checkToml },
  { id: 'config-node', title: 'node has its fields, each of its type', check: checkNode },
  { id: 'list-response', title: 'GET /api/v1/log/list is a JSON array of name and size', check: checkList },
  { id: 'list-names', title: 'names are listed once and are plain file names', check: checkNames },
  { id: 'view-listed', title: 'every listed name can be viewed', check: checkViews },
  { id: 'view-size', title: 'a view is never more than size', check: checkSizes },
  { id: 'view-end', title: 'a view ends where the file ends', check: checkEnd },
  { id: 'view-unknown', title: 'a name that is not listed is an error', check: checkUnknown },
  { id: 'view-outside', title: 'a path out of the log directory is an error', check: checkOutside },
  { id: 'get-only', title: 'POST is refused by all three routes', check: checkMethods },
];

/** Runs after all others, because it is about all responses. */
export const FRAMING_CASE: Case = {
  id: 'framing',
  title: 'every response is complete and has its announced length',
  check: async ({ badFrames }) => (badFrames.length === 0 ? {} : { problem: badFrames.slice(0, 5).join('; ') }),
};

const HOLDS: Verdict = {};

async function checkConfig(node: NodeUnderTest): Promise<Verdict> {
  const { status, body } = await node.send(ROUTES.config);
  if (status !== 200) return { problem: `status ${status}` };
  const value = parseJson(body);
  if (!isObject(value)) return { problem: `not a JSON object: ${quote(body.toString('utf8'))}` };
  if (typeof value.config !== 'string') return { problem: `config is ${quote(value.config)}, not a string` };
  return isObject(value.node) ? HOLDS : { problem: `node is ${quote(value.node)}, not an object` };
}

async function checkToml(node: NodeUnderTest): Promise<Verdict> {
  const value = parseJson((await node.send(ROUTES.config)).body);
  if (!isObject(value) || typeof value.config !== 'string') return { problem: 'there is no config' };
  const { flattenToml, TomlError } = await import('@porthole/server/config');
  try {
    flattenToml(value.config);
    return HOLDS;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { problem: error.message };
  }
}

/** Whether grpcPort may be absent, where there is no gRPC server, the interface leaves open. */
const NODE_FIELDS: Readonly<Record<string, { type: string; isOfType: (value: unknown) => boolean }>> = {
  hostIp: { type: 'a string', isOfType: isText },
  hostName: { type: 'a string', isOfType: isText },
  grpcPort: { type: 'a port', isOfType: (value) => value === undefined || isPort(value) },
  httpPort: { type: 'a port', isOfType: isPort },
  version: { type: 'a string', isOfType: isText },
  onlineTime: { type: 'a whole number', isOfType: Number.isInteger },
};

async function checkNode(node: NodeUnderTest): Promise<Verdict> {
  const value = parseJson((await node.send(ROUTES.config)).body);
  const described = isObject(value) && isObject(value.node) ? value.node : {};
  const wrong = Object.entries(NODE_FIELDS).flatMap(([name, { type, isOfType }]) =>
    isOfType(described[name]) ? [] : [`${name} is ${quote(described[name])}, not ${type}`],
  );
  return wrong.length === 0 ? HOLDS : { problem: wrong.join('; ') };
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isPort(value: unknown): boolean {
  return isCount(value) && value <= 65_535;
}

/** `null` in place of an empty array is measured, not refused: it is how the interface began. */
async function checkList(node: NodeUnderTest): Promise<Verdict> {
  const { status, body } = await node.send(ROUTES.list);
  if (status !== 200) return { problem: `status ${status}` };
  const value = parseJson(body);
  if (value === null) return HOLDS;
  if (!Array.isArray(value)) return { problem: `not a JSON array: ${quote(body.toString('utf8'))}` };
  const wrong = value.find((entry) => !isEntry(entry));
  return wrong === undefined ? HOLDS : { problem: `an entry is ${quote(wrong)}` };
}

async function checkNames(node: NodeUnderTest): Promise<Verdict> {
  const names = (await node.list()).map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { problem: `${quote(twice)} is listed twice` };
  const odd = names.find((name) => name === '' || name === '.' || name === '..' || name.startsWith('/'));
  return odd === undefined ? HOLDS : { problem: `${quote(odd)} is not the name of a file` };
}

async function checkViews(node: NodeUnderTest): Promise<Verdict> {
  const listed = await node.list();
  if (listed.length === 0) return { skipped: 'no files are listed' };
  for (const { name } of listed.slice(0, MAX_VIEWED)) {
    const { status, failure } = await node.view(name, 4096);
    if (status === 200 && failure === undefined) continue;
    // Files come and go.
    if ((await node.list()).some((entry) => entry.name === name))
      return { problem: `${quote(name)}: ${failure ?? `status ${status}`}` };
  }
  return HOLDS;
}

/** The interface does not say what size counts: bytes or lines, but always the same of the two. */
async function checkSizes(node: NodeUnderTest): Promise<Verdict> {
  const listed = await largest(node);
  if (listed.length === 0) return { skipped: 'no files are listed' };
  const { tooManyBytes, tooManyLines } = await measureSizes(node, listed);
  return tooManyBytes !== undefined && tooManyLines !== undefined ? { problem: tooManyBytes } : HOLDS;
}

/** Where a view has more bytes, and where more lines than its size. */
export async function measureSizes(
  node: NodeUnderTest,
  listed: readonly LogEntry[],
): Promise<{ tooManyBytes?: string; tooManyLines?: string }> {
  const found: { tooManyBytes?: string; tooManyLines?: string } = {};
  for (const { name } of listed) {
    for (const size of SIZES) {
      const { body } = await node.view(name, size);
      const lines = body.toString('latin1').replace(/\n$/, '').split('\n').length;
      const where = `${quote(name)} with size ${size} has`;
      if (body.length > size) found.tooManyBytes ??= `${where} ${body.length} bytes`;
      if (body.length > 0 && lines > size) found.tooManyLines ??= `${where} ${lines} lines`;
    }
  }
  return found;
}

/**
 * A small view must be the end of a large one that is requested after it, but for what the file has grown by. With a file of
 * our own, its last line must be the last of the view.
 */
async function checkEnd(node: NodeUnderTest): Promise<Verdict> {
  const { files } = node;
  if (files) {
    const text = makeLines(500, 'end');
    const name = await files.write('end.log', text);
    if (!(await node.isListed(name))) return { problem: `${quote(name)} is in the log directory but not listed` };
    const { body } = await node.view(name, WHOLE);
    if (body.length === 0 || !text.endsWith(body.toString('utf8')))
      return { problem: `a view of 500 lines ends with ${quote(body.subarray(-80).toString('utf8'))}` };
  }
  let compared = 0;
  for (const { name, size } of await largest(node)) {
    const smallSize = Math.min(4096, Math.floor(size / 2));
    if (smallSize === 0) continue;
    const small = await node.view(name, smallSize);
    const large = await node.view(name, smallSize * 16);
    if (small.body.length === 0 || small.status !== 200 || large.status !== 200) continue;
    const grownBy = ((await node.list()).find((entry) => entry.name === name)?.size ?? -1) - size;
    // It was rotated, or has grown by more than the large view has.
    if (grownBy < 0 || grownBy > smallSize * 8) continue;
    const at = large.body.lastIndexOf(small.body);
    if (at === -1) return { problem: `${quote(name)}: a view of ${smallSize} is not in one of ${smallSize * 16}` };
    const behind = large.body.length - at - small.body.length;
    if (behind > grownBy)
      return { problem: `${quote(name)}: behind the end of a view of ${smallSize}, a larger one has ${behind} bytes` };
    compared++;
  }
  return compared > 0 || files ? HOLDS : { skipped: 'no file has two lines' };
}

async function largest(node: NodeUnderTest): Promise<LogEntry[]> {
  return (await node.list()).sort((a, b) => b.size - a.size).slice(0, MAX_MEASURED);
}

async function checkUnknown(node: NodeUnderTest): Promise<Verdict> {
  return refusesNames(node, ['porthole-conform-no-such-file.log']);
}

/** Where a node is likely to have files that are no logs. */
async function checkOutside(node: NodeUnderTest): Promise<Verdict> {
  const up = '../'.repeat(12);
  return refusesNames(node, ['/etc/passwd', `${up}etc/passwd`, `${up}etc/hostname`, '..', '.']);
}

async function refusesNames(node: NodeUnderTest, names: readonly string[]): Promise<Verdict> {
  for (const file of names) {
    const { status } = await node.view(file, 100);
    if (status < 400) return { problem: `file=${file}: status ${status}` };
  }
  return HOLDS;
}

/** Without a body, and no other method: one that is wrongly accepted should do no harm. */
async function checkMethods(node: NodeUnderTest): Promise<Verdict> {
  const [first] = await node.list();
  // With all that GET would need: an error should be about the method.
  const query = first ? { file: first.name, size: '100' } : {};
  for (const path of Object.values(ROUTES)) {
    const { status } = await node.send(path, { method: 'POST', query, headers: { 'content-length': '0' } });
    if (status < 400) return { problem: `POST ${path}: status ${status}` };
  }
  return HOLDS;
}
