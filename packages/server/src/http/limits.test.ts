import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import {
  exchange,
  openRequest,
  openSocket,
  readToEnd,
  requestJson,
  requestProblem,
  sendRequest,
} from '../testing/send-request.ts';
import { stopClock } from '../testing/stop-clock.ts';
import { countConnections, startTestNode } from '../testing/test-node.ts';
import { createRateLimit } from '../transport/request-policy.ts';

const BIG = Buffer.alloc(64 * 1024 * 1024, 'a line of a log file\n');

describe('each limit is reported with the setting that changes it', () => {
  it('more streams than http.max-streams are refused, and accepted again once one has ended', async () => {
    const { port } = await startTestNode({
      files: { 'a.log': BIG },
      settings: { http: { maxStreams: 2, maxStreamsPerClient: 2 } },
    });
    const held = await Promise.all([1, 2].map(() => openRequest(port, '/api/v1/log/raw?file=a.log')));
    const { status, code, detail, headers } = await requestProblem(port, '/api/v1/log/view?file=a.log&size=10');
    expect({ status, code, retry: headers['retry-after'] }).toEqual({
      status: 503,
      code: 'TOO_MANY_STREAMS',
      retry: '1',
    });
    expect(detail).toContain('http.max-streams');
    expect((await sendRequest(port, '/api/v1/log/list')).status).toBe(200);
    held[0]?.destroy();
    await eventually(async () =>
      expect((await sendRequest(port, '/api/v1/log/view?file=a.log&size=10')).status).toBe(200),
    );
    held[1]?.destroy();
  });

  it('more streams than http.max-streams-per-client are refused over both transports, and others are served', async () => {
    const settings = { http: { maxStreams: 8 } };
    const { port, running } = await startTestNode({ files: { 'a.log': 'text\n' }, settings });
    const grpc = connect(running.node.grpcPort);
    const follow = grpc.stream('FollowLogs', { cursor: '', raw: false, fields: [] });
    await follow.next();
    const held = await openRequest(port, '/api/v1/log/follow');
    const { status, code, detail } = await requestProblem(port, '/api/v1/log/view?file=a.log');
    expect({ status, code }).toEqual({ status: 503, code: 'TOO_MANY_STREAMS' });
    expect(detail).toContain('http.max-streams-per-client');
    await expect(grpc.stream('ViewLog', { file: 'a.log' }).next()).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' });
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log', { localAddress: '127.0.0.9' })).status).toBe(200);
    expect((await sendRequest(port, '/health/live')).status).toBe(200);
    held.destroy();
    await follow.return(undefined);
    await eventually(async () => expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).status).toBe(200));
  });

  it('requests beyond http.max-requests-per-second are refused', async () => {
    const { port } = await startTestNode({ settings: { http: { maxRequestsPerSecond: 3 } } });
    stopClock();
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await sendRequest(port, '/health/live')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const { status, detail, headers } = await requestProblem(port, '/none');
    expect({ status, retry: headers['retry-after'] }).toEqual({ status: 429, retry: '1' });
    expect(detail).toContain('http.max-requests-per-second');
  });

  it('a URL longer than http.max-url-bytes is refused', async () => {
    const { port } = await startTestNode({ settings: { http: { maxUrlBytes: 256 } } });
    const path = '/health/live?';
    expect((await sendRequest(port, path.padEnd(256, 'x'))).status).toBe(200);
    const { status, code, detail } = await requestProblem(port, path.padEnd(257, 'x'));
    expect({ status, code }).toEqual({ status: 414, code: 'URL_TOO_LONG' });
    expect(detail).toContain('http.max-url-bytes');
  });

  it('headers larger than http.max-header-bytes are refused', async () => {
    const { port } = await startTestNode({ settings: { http: { maxHeaderBytes: 2048, maxUrlBytes: 1024 } } });
    const { status, code, detail } = await requestProblem(port, '/health/live', {
      headers: { 'x-long': 'x'.repeat(3000) },
    });
    expect({ status, code }).toEqual({ status: 431, code: 'HEADERS_TOO_LARGE' });
    expect(detail).toContain('http.max-header-bytes');
  });

  it('a response that does not start within http.answer-timeout is given up', async () => {
    let sent = 0;
    const config = () => (sent++ === 0 ? 'a = 1' : new Promise<string>(() => {}));
    const { port } = await startTestNode({ config, settings: { http: { answerTimeoutMs: 50 } } });
    const { status, code, detail } = await requestProblem(port, '/api/v1/config');
    expect({ status, code }).toEqual({ status: 504, code: 'DEADLINE_EXCEEDED' });
    expect(detail).toContain('http.answer-timeout');
    expect(await requestJson(port, '/health/live')).toEqual({ status: 'ok' });
  });
});

describe('the rate limit', () => {
  it('counts an IPv6 address with its whole /64, and one address alike however it is written', () => {
    const check = createRateLimit(1, () => 0);
    check('2001:db8:1:2::1');
    expect(() => check('2001:db8:1:2:ffff::9')).toThrow('http.max-requests-per-second');
    check('2001:db8:1:3::1');
    check('::ffff:10.0.0.1');
    expect(() => check('10.0.0.1')).toThrow('http.max-requests-per-second');
  });

  it('gives each client its own allowance, refilled by the second', () => {
    let timeMs = 0;
    const check = createRateLimit(2, () => timeMs);
    const allowed = (client: string) => {
      try {
        check(client);
        return true;
      } catch {
        return false;
      }
    };
    expect(['a', 'a', 'a', 'b'].map(allowed)).toEqual([true, true, false, true]);
    timeMs += 500;
    expect(['a', 'a'].map(allowed)).toEqual([true, false]);
    timeMs -= 10_000; // a clock set back gives nothing and takes nothing
    expect(allowed('a')).toBe(false);
    timeMs += 60_000; // no more than one second's worth is saved up
    expect(['a', 'a', 'a'].map(allowed)).toEqual([true, true, false]);
  });

  it('of 0 means no limit', () => {
    const check = createRateLimit(0);
    for (let i = 0; i < 1000; i++) expect(() => check('a')).not.toThrow();
  });

  it('remembers a bounded number of clients', () => {
    const check = createRateLimit(1, () => 0);
    check('first');
    for (let i = 0; i < 10_001; i++) check(`client ${i}`);
    expect(() => check('first')).not.toThrow(); // forgotten in favour of the others
    expect(() => check('client 10000')).toThrow('http.max-requests-per-second');
  });
});

describe('what is not HTTP', () => {
  it.each([
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
  ])('is refused as a problem, and the connection closed: %j', async (bytes) => {
    const { port } = await startTestNode();
    const response = await exchange(port, bytes);
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*connection: close.*"code":"BAD_REQUEST"/s);
  });

  it('is not kept open by a client that never closes its side', async () => {
    const { port } = await startTestNode();
    const socket = openSocket(port); // half open: it does not answer the end of the node
    socket.write('nonsense\r\n\r\n');
    await readToEnd(socket);
    await eventually(() => expect(countConnections(port)).toBe(0));
  });

  it('never ends up within the response before it', async () => {
    const { port } = await startTestNode({ files: { 'a.log': BIG } });
    const socket = openSocket(port);
    socket.write('GET /api/v1/log/raw?file=a.log HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    socket.write('nonsense\r\n\r\n');
    const response = await readToEnd(socket);
    expect(response).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(response.includes('BAD_REQUEST')).toBe(false);
  });

  it('a request with a body is served and its body ignored', async () => {
    const { port } = await startTestNode();
    const live = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n';
    const response = await exchange(port, `${live}Content-Length: 5\r\n\r\nhello${live}Connection: close\r\n\r\n`);
    expect(response.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });
});
