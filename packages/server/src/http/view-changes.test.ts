import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { openRequest, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

/** More than all socket buffers of a loopback connection hold, so that the node is still reading when the test acts. */
const BIG = 32 * 1024 * 1024;

const LINE = `${'0123456789abcdef'.repeat(4).slice(0, 63)}\n`;

const BIG_TEXT = Buffer.alloc(BIG, LINE);

/** Asks for the whole big file, reads nothing of it yet, and does something to the file meanwhile. */
async function whileReading(
  route: 'view' | 'raw',
  change: (file: string, node: TestNode) => void,
): Promise<IncomingMessage> {
  const node = await startTestNode({ files: { 'a.log': BIG_TEXT } });
  const response = await openRequest(node.port, `/api/v1/log/${route}?file=a.log&size=${BIG}`);
  expect(response.headers['content-length']).toBe(String(BIG));
  change(join(node.logDir, 'a.log'), node);
  return response;
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function rotate(file: string): void {
  renameSync(file, `${file}.1`);
  writeFileSync(file, 'new\n');
}

function compress(file: string): void {
  writeFileSync(`${file}.gz`, gzipSync('x'));
  rmSync(file);
}

describe.each(['view', 'raw'] as const)('a file that changes while %s is sending it', (route) => {
  it.each([
    ['grows', (file: string) => appendFileSync(file, 'more\n'.repeat(1000))],
    ['is rotated and written anew', rotate],
    ['is compressed', compress],
  ])('and %s is sent as it was', async (_how, change) => {
    const body = await readAll(await whileReading(route, change));
    expect(body.equals(BIG_TEXT)).toBe(true);
  });

  it('and is truncated ends as an error, never as a clean end', async () => {
    let node: TestNode | undefined;
    const response = await whileReading(route, (file, started) => {
      node = started;
      truncateSync(file, 1024);
    });
    await expect(readAll(response)).rejects.toThrow('aborted');
    expect(response.complete).toBe(false);
    const { port = 0 } = node ?? {};
    await eventually(async () => {
      expect((await sendRequest(port, '/metrics')).body.toString()).toContain(
        'porthole_http_cut_answers_total{reason="source"} 1',
      );
    });
  });
});

describe('a file between two requests', () => {
  it('that was replaced under its name is the new one at once', async () => {
    const { port, logDir } = await startTestNode({ files: { 'a.log': 'old\n' } });
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString()).toBe('old\n');
    writeFileSync(join(logDir, 'fresh'), 'new\n');
    renameSync(join(logDir, 'fresh'), join(logDir, 'a.log'));
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString()).toBe('new\n');
  });

  it('that grew or shrank has its current size', async () => {
    const { port, logDir } = await startTestNode({ files: { 'a.log': 'one\n' } });
    const file = join(logDir, 'a.log');
    await sendRequest(port, '/api/v1/log/view?file=a.log');
    appendFileSync(file, 'two\n');
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString()).toBe('one\ntwo\n');
    truncateSync(file, 4);
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString()).toBe('one\n');
  });
});
