import type { NodeState } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openToAll, QUIET_ACCESS_LOG } from '../auth/testing/open-to-all.ts';
import { startTestNode } from '../testing/test-node.ts';
import { GrpcNode } from './testing/grpc-node.ts';
import { type ServeStateOptions, serveState } from './testing/serve-state.ts';

const BUG = new TypeError('a bug');

function bug(): never {
  throw BUG;
}

async function* chunks(...texts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

/** A view of `sizeBytes`. */
function view(sizeBytes: number, ...texts: (string | Error)[]): Pick<NodeState, 'viewLog'> {
  return { viewLog: async () => ({ sizeBytes, chunks: chunks(...texts), close: async () => {} }) };
}

/** A node with some operations of the test's choice, served over gRPC. */
async function serve(replaced: Partial<NodeState>, options?: ServeStateOptions) {
  const { running } = await startTestNode({ files: { 'a.log': 'four' } });
  const state = new Proxy(running.state, {
    get: (target, name: keyof NodeState) => replaced[name] ?? target[name].bind(target),
  });
  const served = await serveState(state, options);
  const node = new GrpcNode(served.port);
  onTestFinished(() => node.close());
  return { ...served, node };
}

async function readView(node: GrpcNode): Promise<string> {
  const { chunks: parts } = await node.viewLog({ file: 'a.log', sizeBytes: 100 });
  let text = '';
  for await (const part of parts) text += Buffer.from(part).toString();
  return text;
}

describe('a fault of a call ends that call with INTERNAL, and the node goes on', () => {
  it.each<[string, Partial<NodeState>]>([
    ['thrown by the node', { viewLog: bug }],
    ['in a promise', { viewLog: () => Promise.reject(BUG) }],
    ['too few bytes', view(10, 'four', '')],
    ['too many bytes', view(5, 'four', 'more')],
    ['a failure of the source', view(10, 'four', BUG)],
  ])('%s', async (_name, replaced) => {
    const { node, faults, errors } = await serve(replaced);
    await expect(readView(node)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(faults).toEqual(['grpc']);
    expect(errors).toMatchObject([
      ['request', expect.stringContaining('failed'), { id: expect.stringMatching(/-1$/) }],
    ]);
    expect(await node.listLogs()).toHaveLength(1);
  });

  it('when it is authorized', async () => {
    const access = Object.assign(openToAll(), { authenticate: bug });
    const { node, faults, errors } = await serve({}, { policy: { access } });
    await expect(node.listLogs()).rejects.toMatchObject({ code: 'INTERNAL' });
    expect([faults, errors.length]).toEqual([['grpc'], 1]);
    await expect(node.listLogs()).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

it('empty chunks of a view are left out', async () => {
  const { node, faults } = await serve(view(8, '', 'four', '', 'more', ''));
  expect(await readView(node)).toBe('fourmore');
  expect(faults).toEqual([]);
});

it('a fault in an event after the call is counted and logged with the id of the call', async () => {
  const { node, faults, errors } = await serve({}, { policy: { accessLog: { ...QUIET_ACCESS_LOG, note: bug } } });
  expect(await node.listLogs()).toHaveLength(1);
  await eventually(() => expect(faults).toEqual(['grpc']));
  expect(errors).toMatchObject([
    ['request', 'an unexpected error while the request was handled', { id: expect.stringMatching(/-1$/) }],
  ]);
  expect(await node.listLogs()).toHaveLength(1);
});
