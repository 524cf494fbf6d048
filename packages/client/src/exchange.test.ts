import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { byteByByte } from './testing/byte-by-byte.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient, testClock } from './testing/test-client.ts';

const LIMITS = { timeoutMs: 300, stallMs: 300, retries: 0 };

/** Time that passes only when a test says so: whatever the machine does meanwhile, the client waits. */
function stopTime(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

describe('a node that is slow', () => {
  it('never responds: the timeout ends it, and the connection', async () => {
    const pass = stopTime();
    const odd = await startOddServer(() => {});
    const failing = catchFailure(testClient({ url: odd.url, timeoutMs: 1500, retries: 2 }).config());
    await eventually(() => expect(odd.requests).toHaveLength(1));
    pass(1500);
    const error = await failing;
    expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', status: undefined });
    expect(String(error)).toContain('did not respond within 1500 ms');
    expect(odd.requests).toHaveLength(1);
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('sends a head but never the rest of a short response: the same timeout ends it', async () => {
    const pass = stopTime();
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, JSON_HEADERS);
      // Each byte comes in good time; all of them never do.
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    });
    let hasHead = false;
    const noting: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      hasHead = true;
      return response;
    };
    const failing = catchFailure(testClient({ url: odd.url, ...LIMITS, fetch: noting }).listLogs());
    await eventually(() => expect(hasHead).toBe(true));
    pass(LIMITS.timeoutMs);
    expect(await failing).toMatchObject({ code: 'DEADLINE_EXCEEDED', status: 200 });
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('sends a stream slowly: as long as bytes arrive, it may take longer than that', async () => {
    const pass = stopTime();
    let sent: ServerResponse | undefined;
    const odd = await startOddServer((_request, response) => {
      sent = response.writeHead(200);
      response.write('x');
    });
    const { chunks } = await testClient({ url: odd.url, ...LIMITS }).viewLog({ file: 'a', sizeBytes: 100 });
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of chunks) bytes += chunk.length;
    })();
    for (let expected = 1; expected <= 10; expected++) {
      await eventually(() => expect(bytes).toBe(expected));
      pass(LIMITS.stallMs - 100);
      sent?.write('x');
    }
    sent?.end();
    await reading;
    expect(bytes).toBe(11);
  });

  it('stalls in the middle of a stream: lost', async () => {
    const pass = stopTime();
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
    });
    const { chunks, sizeBytes } = await testClient({ url: odd.url, ...LIMITS }).viewLog({ file: 'a', sizeBytes: 100 });
    expect(sizeBytes).toBe(100);
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of chunks) bytes += chunk.length;
    })();
    const failing = catchFailure(reading);
    await eventually(() => expect(bytes).toBe(4));
    pass(LIMITS.stallMs);
    expect(await failing).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('no byte for 300 ms'),
    });
    await eventually(() => expect(odd.aborted).toBe(1));
  });
});

describe('a response that is cut off', () => {
  it('within JSON: retried, then reported', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, { ...JSON_HEADERS, 'content-length': '100' }).write('[{"na', () => response.destroy());
    });
    const error = await catchFailure(testClient({ url: odd.url, retries: 2 }).listLogs());
    expect(error).toMatchObject({ code: 'UNREACHABLE', status: 200 });
    expect(odd.requests).toHaveLength(3);
  });

  it('within JSON, once: the next attempt succeeds', async () => {
    const odd = await startOddServer((_request, response, number) => {
      response.writeHead(200, JSON_HEADERS);
      if (number === 1) response.write('[', () => response.destroy());
      else response.end('[]');
    });
    expect(await testClient({ url: odd.url }).listLogs()).toEqual([]);
  });

  it('within the bytes of a file: it does not look complete', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    const { chunks } = await testClient({ url: odd.url }).viewLog({ file: 'a', sizeBytes: 100 });
    expect(await catchFailure(chunks)).toMatchObject({ code: 'UNREACHABLE' });
    expect(odd.requests).toHaveLength(1);
  });

  it('a body that fetch lets end early is compared with its length', async () => {
    const own: typeof fetch = async () => new Response('half', { headers: { 'content-length': '100' } });
    const { chunks } = await testClient({ url: 'http://nowhere', fetch: own }).viewLog({ file: 'a', sizeBytes: 100 });
    expect(await catchFailure(chunks)).toMatchObject({ message: 'the response ended after 4 of 100 bytes' });
  });

  it('because nothing listens there', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const clock = testClock();
    const error = await catchFailure(testClient({ url: `http://127.0.0.1:${port}` }, clock).config());
    expect(error).toMatchObject({ code: 'UNREACHABLE', status: undefined, cause: expect.any(TypeError) });
    expect(String(error)).toContain('ECONNREFUSED');
    expect(clock.waits).toEqual([200, 400, 800]);
  });
});

describe('an invalid response', () => {
  it.each([
    ['garbage', 'hello', 'listLogs'],
    ['an object for a list', '{}', 'listLogs'],
    ['entries without names', '[{"size":1}]', 'listLogs'],
    ['a list for a configuration', '[]', 'config'],
    ['null for a configuration', 'null', 'config'],
    ['a configuration without its node', '{"config":"a"}', 'config'],
    ['nothing', '', 'describe'],
    ['settings that are none', '{"settings":{}}', 'settings'],
    ['null for details', 'null', 'logFiles'],
  ] as const)('%s', async (_name, body, operation) => {
    const odd = await startOddServer(respondWith(200, body, JSON_HEADERS));
    const error = await catchFailure(testClient({ url: odd.url })[operation]());
    expect(error).toMatchObject({ code: 'BAD_ANSWER', status: 200 });
    expect(odd.requests).toHaveLength(1);
  });

  it('the format of one file that is damaged is absent', async () => {
    const learned = { facts: [null], samples: [], unfit: [], example: '' };
    const body = JSON.stringify({ files: [{ name: 'a.log', size: 1, node: 'n', learned }], members: [] });
    const odd = await startOddServer(respondWith(200, body, JSON_HEADERS));
    const files = await testClient({ url: odd.url }).logFiles({ src: ['=a.log'] });
    expect(files).toEqual({ files: [{ node: 'n', name: 'a.log', size: 1 }], members: [] });
    expect(odd.requests).toEqual(['GET /api/v1/log/files?src=%3Da.log']);
  });

  it('an endless JSON response is not collected forever', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, JSON_HEADERS);
      const pour = () => {
        while (response.write('[1,2,3]'.repeat(1000)));
      };
      response.on('drain', pour);
      pour();
    });
    const error = await catchFailure(testClient({ url: odd.url, maxItemBytes: 100_000 }).listLogs());
    expect(error).toMatchObject({ code: 'BAD_ANSWER', message: expect.stringContaining('maxItemBytes (100000)') });
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('a redirect is reported, not followed: the token is sent nowhere else', async () => {
    const elsewhere = await startOddServer(respondWith(200, '[]', JSON_HEADERS));
    const odd = await startOddServer(respondWith(302, '', { location: `${elsewhere.url}/login` }));
    const error = await catchFailure(testClient({ url: odd.url, token: 'hush' }).listLogs());
    expect(error).toMatchObject({ code: 'BAD_ANSWER', status: 302, message: expect.stringContaining('/login') });
    expect(elsewhere.requests).toEqual([]);
  });

  it('characters split between two chunks stay whole', async () => {
    const list = [{ name: 'zürich-日本.log', size: 1 }];
    const fetch = byteByByte(JSON.stringify(list), JSON_HEADERS);
    expect(await testClient({ url: 'http://node', fetch }).listLogs()).toEqual(list);
  });
});

describe('an error response', () => {
  it.each([
    [400, '{"code":"PARAMETER_INVALID","detail":"no such level"}', 'PARAMETER_INVALID', 'no such level'],
    [404, '{"code":"LOG_FILE_NOT_FOUND","detail":"no log file"}', 'LOG_FILE_NOT_FOUND', 'no log file'],
    [400, '{"code":"OF_A_LATER_VERSION","detail":"new"}', 'BAD_ANSWER', 'OF_A_LATER_VERSION: new'],
    [401, 'who are you?', 'UNAUTHENTICATED', 'who are you?'],
    [403, '<html>no</html>', 'UNAUTHENTICATED', 'the node responded with 403'],
    [404, 'gone', 'NOT_SUPPORTED', 'the node has no /api/v1/config: it responded with 404'],
    [500, '"failed to open"', 'INTERNAL', 'failed to open'],
    [500, '{"message":"boom"}', 'INTERNAL', 'boom'],
    [418, '', 'BAD_REQUEST', 'the node responded with 418'],
    [599, 'null', 'INTERNAL', 'the node responded with 599'],
  ])('%i %s is %s', async (status, body, code, message) => {
    const odd = await startOddServer(respondWith(status, body));
    expect(await catchFailure(testClient({ url: odd.url }).config())).toMatchObject({ code, message, status });
    expect(odd.requests).toHaveLength(1);
  });

  it('a long body is shown in part, and an endless one is not read to its end', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(500);
      const pour = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', pour);
      pour();
    });
    const error = await catchFailure(testClient({ url: odd.url }).config());
    expect(error).toMatchObject({ code: 'INTERNAL', message: `${'x'.repeat(300)}...` });
    await eventually(() => expect(odd.aborted).toBe(1));
  });
});
