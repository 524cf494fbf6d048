import { symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { codeOf, parseViewRequest } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const CANARY = 'canary-5d1f-must-never-be-seen';

/** What a name out of the directory is made of, decoded and encoded, once and twice, well-formed and not. */
const PARTS = [
  '..',
  '.',
  '/',
  '\\',
  '../',
  '..\\',
  '....//',
  '..;/',
  './/',
  '~',
  '%2e%2e',
  '%2f',
  '%5c',
  '%252e',
  '%252f',
  '%c0%ae',
  '%c0%af',
  '%e0%80%af',
  '%u002e',
  '%u2215',
  '%00',
  '\0',
  '\n',
  '\r\n',
  '\u2024',
  '\uff0e',
  '\u2215',
  '\uff0f',
  '\u202e',
  '\ud800',
  '\ufffd',
  'canary',
  'canary.txt',
  'leaves',
  'a.log',
  'logs',
  'own',
  'etc/passwd',
  'proc/self/environ',
  'dev/zero',
  'file://',
  'C:',
  '$HOME',
  '|id',
  '`id`',
  '*',
  '?',
  '#',
  ' ',
  '+',
  '"',
  "'",
  '<script>',
  '-rf',
  'x'.repeat(260),
  'é'.repeat(130),
] as const;

/** A small generator with a fixed seed: each run tries the same names. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function createNames(seed: number, parts: readonly string[]): () => string {
  const random = createRandom(seed);
  return () => Array.from({ length: 1 + random(5) }, () => parts[random(parts.length)] ?? '').join('');
}

async function startWithCanary(): Promise<TestNode> {
  const node = await startTestNode({ files: { 'a.log': 'harmless\n' } });
  writeFileSync(join(node.dir, 'canary.txt'), CANARY);
  writeFileSync(join(node.dir, 'canary'), CANARY);
  symlinkSync('../canary.txt', join(node.logDir, 'leaves'));
  return node;
}

async function workInParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const worker = async () => {
    for (const index of indexes) await work(index);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

// Five times as many go to the directory itself, in `packages/logs/src/file/safe-name.test.ts`; here it is the way there.
it('thousands of hostile names read nothing outside the directory', async () => {
  const { running } = await startWithCanary();
  const nextName = createNames(1, PARTS);
  const outcomes = new Map<string, number>();
  await workInParallel(runs(4000), async () => {
    const file = nextName();
    const outcome = await view(running.state, new URLSearchParams({ file, size: '100' }));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });
  expect([...outcomes.keys()].sort()).toEqual(['FILE_NAME_INVALID', 'LOG_FILE_NOT_FOUND', 'harmless\n']);
});

/** The text, or the code of the refusal. */
async function view(state: TestNode['running']['state'], query: URLSearchParams): Promise<string> {
  try {
    const { chunks, close } = await state.viewLog(parseViewRequest(query));
    let text = '';
    for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
    await close();
    return text;
  } catch (error) {
    return codeOf(error);
  }
}

it('hostile queries over a keep-alive connection show nothing outside the directory', async () => {
  const { port } = await startWithCanary();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const tricks = PARTS.flatMap((part) => [
    encodeURIComponent(Buffer.from(part).toString()),
    part.replace(/[^\x21-\x7e]|[#&]/g, ''),
  ]);
  const nextName = createNames(2, [...tricks, '%', '%2', '%zz', '%ff', '%80', ';', '&file=', '&size=', '[]', '\xff']);
  const statuses = new Set<number>();
  await workInParallel(runs(1000), async (index) => {
    const route = index % 2 === 0 ? 'view' : 'raw';
    const { status, body } = await sendRequest(port, `/api/v1/log/${route}?file=${nextName()}`, { agent });
    statuses.add(status);
    if (body.includes(CANARY)) throw new Error('the canary was seen');
  });
  agent.destroy();
  expect([...statuses].sort()).toEqual([200, 400, 404]);
});
