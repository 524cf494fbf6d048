import { appendFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';

const TEXT = '0123456789'.repeat(10);
const RAW = '/api/v1/log/raw?file=a.log';

const FILES = { 'a.log': TEXT, empty: '' };
const node = shareTestNode({ files: FILES });
const clustered = shareTestNode({ files: FILES, settings: { cluster: { nodeId: 'n1' } } });

describe('a raw file', () => {
  it('is sent whole, as an attachment that is not to be stored', async () => {
    const { port } = node;
    const { status, headers, body } = await sendRequest(port, RAW);
    expect(status).toBe(200);
    expect(body.toString()).toBe(TEXT);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '100',
      'content-disposition': `attachment; filename="a.log"; filename*=UTF-8''a.log`,
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[0-9a-z-]+"$/),
      'last-modified': expect.stringMatching(/GMT$/),
    });
  });

  it.each([
    ['bytes=0-4', 'bytes 0-4/100', '01234'],
    ['bytes=95-', 'bytes 95-99/100', '56789'],
    ['bytes=-3', 'bytes 97-99/100', '789'],
    ['bytes=-1000', 'bytes 0-99/100', TEXT],
    ['bytes=98-1000', 'bytes 98-99/100', '89'],
  ])('gives the part %s', async (range, contentRange, text) => {
    const { port } = node;
    const { status, headers, body } = await sendRequest(port, RAW, { headers: { range } });
    expect({
      status,
      range: headers['content-range'],
      length: headers['content-length'],
      body: body.toString(),
    }).toEqual({
      status: 206,
      range: contentRange,
      length: String(text.length),
      body: text,
    });
  });

  it.each(['bytes=0-1,4-5', 'bytes=9-1', 'lines=1-2', 'bytes=x', 'bytes=-'])(
    'is whole for the range %s',
    async (range) => {
      const { port } = node;
      const { status, headers, body } = await sendRequest(port, RAW, { headers: { range } });
      expect({ status, range: headers['content-range'], body: body.toString() }).toEqual({
        status: 200,
        range: undefined,
        body: TEXT,
      });
    },
  );

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('has nothing at %s and reports its size', async (range) => {
    const { port } = node;
    const { status, code, headers } = await requestProblem(port, RAW, { headers: { range } });
    expect({ status, code }).toEqual({ status: 416, code: 'RANGE_NOT_SATISFIABLE' });
    expect(headers['content-range']).toBe('bytes */100');
    expect(headers['content-type']).toContain('application/problem+json');
  });

  it('that is empty has no part', async () => {
    const { port } = node;
    expect((await sendRequest(port, '/api/v1/log/raw?file=empty')).headers['content-length']).toBe('0');
    const { status, headers } = await requestProblem(port, '/api/v1/log/raw?file=empty', {
      headers: { range: 'bytes=0-' },
    });
    expect({ status, range: headers['content-range'] }).toEqual({ status: 416, range: 'bytes */0' });
  });

  it('takes no range with HEAD: ranges are defined for GET alone', async () => {
    const { port } = node;
    for (const range of ['bytes=0-4', 'bytes=100-']) {
      const { status, headers, body } = await sendRequest(port, RAW, { method: 'HEAD', headers: { range } });
      expect({ status, length: headers['content-length'], body: body.length }).toEqual({
        status: 200,
        length: '100',
        body: 0,
      });
    }
  });

  it('is not sent again to a client that has it', async () => {
    const { port } = node;
    const { headers } = await sendRequest(port, RAW);
    const { etag = '' } = headers;
    for (const condition of [{ 'if-none-match': etag }, { 'if-none-match': '*' }]) {
      for (const method of ['GET', 'HEAD']) {
        const again = await sendRequest(port, RAW, { method, headers: condition });
        expect(again.status).toBe(304);
        expect(again.headers).toMatchObject({ etag, 'cache-control': 'no-store' });
        expect(again.headers['content-length']).toBeUndefined();
      }
    }
  });

  it.each([
    '/log/raw?file=a.log',
    '/log/raw?file=a.log&text=true',
    '/nodes/n1/log/raw?file=a.log',
    '/log/view?file=a.log&size=10',
    '/log/search',
    '/log/search?nodes=*',
    '/log/download?nodes=*',
    '/bundle?since=1h',
  ])('what has log text is not to be stored by a browser or proxy: %s', async (path) => {
    const { port } = clustered;
    const { status, headers } = await sendRequest(port, `/api/v1${path}`);
    expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' });
  });

  it('is sent again once it has changed', async () => {
    const { port, logDir } = await startTestNode({ files: FILES });
    const { etag = '' } = (await sendRequest(port, RAW)).headers;
    appendFileSync(join(logDir, 'a.log'), 'more');
    const again = await sendRequest(port, RAW, { headers: { 'if-none-match': etag } });
    expect({ status: again.status, length: again.body.length }).toEqual({ status: 200, length: 104 });
    expect(again.headers.etag).not.toBe(etag);
  });

  it('is sent again when it was rewritten and its time set back', async () => {
    const { port, logDir } = await startTestNode({ files: FILES });
    const path = join(logDir, 'a.log');
    // Whole seconds: times with a fraction cannot be set to the nanosecond, and would differ.
    const setBack = () => utimesSync(path, 1_794_740_000, 1_794_740_000);
    setBack();
    const { mtimeNs, ino } = statSync(path, { bigint: true });
    const { etag = '', 'last-modified': modified = '' } = (await sendRequest(port, RAW)).headers;
    writeFileSync(path, TEXT.replaceAll('0', 'x'));
    setBack();
    expect(statSync(path, { bigint: true })).toMatchObject({ mtimeNs, ino });
    for (const headers of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const again = await sendRequest(port, RAW, { headers });
      expect({ status: again.status, body: again.body.toString() }).toEqual({
        status: 200,
        body: TEXT.replaceAll('0', 'x'),
      });
    }
  });

  it('is refused to a client that wants the old version', async () => {
    const { port } = node;
    const { etag = '' } = (await sendRequest(port, RAW)).headers;
    expect((await sendRequest(port, RAW, { headers: { 'if-match': etag } })).status).toBe(200);
    for (const headers of [{ 'if-match': '"old"' }, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' }]) {
      expect(await requestProblem(port, RAW, { headers })).toMatchObject({ status: 412, code: 'PRECONDITION_FAILED' });
    }
  });

  it('resumes a download only if it is still the same', async () => {
    const { port, logDir } = await startTestNode({ files: FILES });
    const { etag = '', 'last-modified': modified = '' } = (await sendRequest(port, RAW)).headers;
    const resume = (ifRange: string) =>
      sendRequest(port, RAW, { headers: { range: 'bytes=90-', 'if-range': ifRange } });
    expect((await resume(etag)).status).toBe(206);
    expect((await resume(`W/${etag}`)).status).toBe(200);
    expect((await resume(modified)).status).toBe(200);
    writeFileSync(join(logDir, 'a.log'), 'written anew');
    const stale = await resume(etag);
    expect({ status: stale.status, body: stale.body.toString() }).toEqual({ status: 200, body: 'written anew' });
  });

  it.each([
    ['say "hi".log', `filename="say _hi_.log"; filename*=UTF-8''say%20%22hi%22.log`],
    ['żółw.log', `filename="___w.log"; filename*=UTF-8''%C5%BC%C3%B3%C5%82w.log`],
    ['a\nSet-Cookie: x', `filename="a_Set-Cookie: x"; filename*=UTF-8''a%0ASet-Cookie%3A%20x`],
    ["100%'(*).log", `filename="100_'(*).log"; filename*=UTF-8''100%25%27%28%2a%29.log`],
    ['🦊', `filename="__"; filename*=UTF-8''%F0%9F%A6%8A`],
  ])('named %j keeps its name for the download', async (name, disposition) => {
    const { port } = await startTestNode({ files: { [name]: TEXT } });
    const { status, headers } = await sendRequest(port, `/api/v1/log/raw?file=${encodeURIComponent(name)}`);
    expect(status).toBe(200);
    expect(headers['content-disposition']).toBe(`attachment; ${disposition}`);
    expect(headers['set-cookie']).toBeUndefined();
  });
});
