import { readdirSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startOddServer } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const MIB = 1024 ** 2;

/** The member has sent more than a hundred MiB by then. */
const LONG = { withinMs: 60_000 };
const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };

const END = `${JSON.stringify({
  ...{ type: 'end', reason: 'exhausted', records: 0, scannedBytes: 1, skippedBytes: 0, scannedFiles: 1 },
  ...{ coveredFromMs: null, coveredToMs: null, problems: [], cursor: null, elapsedMs: 0 },
})}\n`;

/** More than a member sends of one record at a time. */
const PART = 'x'.repeat(256 * 1024);

/** A member whose follow is one line that never ends, and never waits for who reads it. */
function startEndlessMember() {
  const description = () => JSON.stringify({ node: NODE, clockMs: Date.now(), capabilities: [] });
  return startOddServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0];
    if (path === '/api/v1/node') return response.setHeader('content-type', 'application/json').end(description());
    if (path === '/api/v1/log/search') return response.setHeader('content-type', 'application/x-ndjson').end(END);
    if (path !== '/api/v1/log/follow') return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let offset = 0;
    const send = () => {
      for (let isTaken = true; isTaken && !response.destroyed; offset += PART.length) {
        const place = {
          file: 'a.log',
          offset,
          bytes: PART.length,
          cursor: `0123456789abcdef.sg.${offset}.0.0.YS5sb2c`,
        };
        const continued = offset > 0 && { continued: true };
        const record = { type: 'record', ...place, ...continued, message: 'm', raw: PART, timeMs: Date.now() };
        isTaken = response.write(`event: record\ndata: ${JSON.stringify({ ...record, unfinished: true })}\n\n`);
      }
    };
    response.on('drain', send);
    send();
  });
}

function bytesBelow(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

it('a member that sends a line without an end is cut off, an event says so, and its recording stays within its limit', async () => {
  const member = await startEndlessMember();
  const { port, dir } = await startTestNode({
    settings: { cluster: { nodeId: 'self', members: [`m=${member.url}`], recorders: 1, recordBytes: MIB } },
  });
  const recorded = join(dir, 'recorded', 'm');
  await eventually(() => expect(bytesBelow(recorded)).toBeGreaterThan(MIB / 8));
  await eventually(async () => {
    expect(bytesBelow(recorded)).toBeLessThanOrEqual(MIB);
    const { body } = await sendRequest(port, '/api/v1/events?kind=recorder-stopped');
    expect(body.toString()).toContain('m is not recorded for 10 minutes: it sends a line of a.log that does not end');
  }, LONG);
  expect(bytesBelow(recorded)).toBeLessThanOrEqual(MIB);
  const { checks } = await requestJson<{ checks: object[] }>(port, '/health/ready');
  expect(checks).toContainEqual({ name: 'recordings', ok: true, detail: 'written' });
});
