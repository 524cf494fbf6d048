import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createZone } from '@porthole/logs';
import { expect, it, onTestFinished } from 'vitest';
import { fanOut } from '../fan-out/fan-out.ts';
import { createPeers } from '../fan-out/peers.ts';
import { member } from '../state/testing/fake-deps.ts';
import { fakeNode } from '../state/testing/fake-node.ts';
import { fakeMasking } from '../testing/fake-masking.ts';
import { SharedBudget } from './response-budget.ts';

const MIB = 1024 ** 2;
const LARGE = JSON.stringify(Array.from({ length: 5000 }, (_, n) => ({ name: `${n}-${'x'.repeat(190)}`, size: 1 })));

const NODE = { hostIp: '127.0.0.1', hostName: 'a', grpcPort: 0, httpPort: 0, version: '1', onlineTime: 1 };
const DESCRIPTION = JSON.stringify({
  node: NODE,
  observes: 'service',
  clockMs: 1,
  timeZone: 'UTC',
  utcOffsetMinutes: 0,
  uptimeMs: 1,
  versions: { porthole: '1', node: '1' },
  capabilities: [],
  problems: [],
  role: 'node',
});

async function startServer(respond: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/api/v1/node') response.end(DESCRIPTION);
    else respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function peersAt(urls: readonly string[], responses: SharedBudget) {
  const members = urls.map((url, n) => member(`m${n}`, { url }));
  const peers = createPeers({
    membership: { members },
    self: fakeNode(),
    selfId: 'asking',
    masking: fakeMasking(),
    timeoutMs: 20_000,
    zone: createZone('UTC'),
    responses,
  });
  onTestFinished(() => peers.close());
  return peers;
}

it('the responses of all members together hold no more than one budget, until they are merged', async () => {
  const large = await startServer((response) => response.end(LARGE));
  const small = await startServer((response) => response.end('[{"name":"a.log","size":1}]'));
  const responses = new SharedBudget(3 * MIB);
  const peers = peersAt([...Array.from({ length: 9 }, () => large), small], responses);
  const answers = await fanOut(peers.all(), ({ state }, options) => state.listLogs(options), {
    timeoutMs: 20_000,
    maxParallel: 4,
    countOf: (logs) => logs.length,
    responses,
  });
  const outcomes = answers.map(({ report }) => report.outcome);
  // 1 MB each, of which 256 KiB are not counted. Four at a time may each have half of theirs when the budget is spent.
  expect(outcomes.filter((outcome) => outcome === 'ok').length).toBeGreaterThanOrEqual(2);
  expect(outcomes.filter((outcome) => outcome === 'ok').length).toBeLessThanOrEqual(5);
  expect(answers.at(-1)?.report).toMatchObject({ outcome: 'ok', count: 1 });
  const refused = answers.find(({ report }) => report.outcome !== 'ok')?.report;
  expect(refused?.detail).toContain(`exceeds the ${3 * MIB} bytes that all responses together may hold`);
  expect(responses.heldBytes).toBe(0);
});

it('a response that does not end holds what came of it, and nothing once it is given up', async () => {
  const endless = await startServer((response) => void response.write(LARGE.slice(0, -1)));
  const responses = new SharedBudget(MIB);
  const peers = peersAt([endless, endless, endless], responses);
  const controller = new AbortController();
  const asking = peers.all().map(({ state }) => state.listLogs({ signal: controller.signal }));
  // One of them is waited for, the others are refused.
  const failures = asking.map((one) => one.catch((error: unknown) => error));
  const first = await Promise.race(failures);
  expect(first).toMatchObject({ code: 'BAD_ANSWER' });
  expect(responses.heldBytes).toBeGreaterThan(0);
  expect(responses.heldBytes).toBeLessThanOrEqual(MIB);
  controller.abort();
  await Promise.all(failures);
  expect(responses.heldBytes).toBe(0);
});
