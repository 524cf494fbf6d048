import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SilentMembers } from './silent-members.ts';

/** A server that can stop answering, before or after the head, and answers what it got meanwhile when it goes on. */
async function startMember() {
  const held: (() => void)[] = [];
  const state = { isStopped: false, afterHead: false, isScanning: false, requests: [] as string[] };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    state.requests.push(request.url ?? '');
    const isProbe = request.url === '/health/live';
    const sendHead = () => response.writeHead(isProbe ? 404 : 200).flushHeaders();
    if (state.isStopped && !(isProbe && state.isScanning)) {
      const { afterHead } = state;
      if (afterHead) sendHead();
      held.push(() => {
        if (!afterHead) sendHead();
        response.end('{}');
      });
    } else {
      sendHead();
      response.end('{}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const goOn = () => {
    state.isStopped = false;
    for (const answer of held.splice(0)) answer();
  };
  const stop = (how: { afterHead?: boolean; isScanning?: boolean } = {}) => {
    Object.assign(state, { isStopped: true, ...how });
  };
  return { url, state, goOn, stop };
}

const WAIT_MS = 250;

const request = (timeoutMs: number) =>
  ({
    method: 'GET',
    headers: {},
    redirect: 'manual',
    cache: 'no-store',
    signal: AbortSignal.timeout(timeoutMs),
  }) as const;

function watch(url: string, silent = new SilentMembers({ waitMs: WAIT_MS, probeMs: 60_000, pauseMs: 5 })) {
  const watched = silent.watch(url, fetch);
  onTestFinished(() => watched.close());
  const ask = (timeoutMs = WAIT_MS * 2) =>
    watched
      .fetch(`${url}/api`, request(timeoutMs))
      .then(async ({ status, body }) => {
        await body?.getReader().read();
        return String(status);
      })
      .catch((error: Error & { code?: string }) => (error.code === 'DEADLINE_EXCEEDED' ? error.message : error.name));
  return { silent, watched, ask };
}

describe('a member that does not respond', () => {
  it('is waited for twice; then requests fail at once, and it is back as soon as it responds', async () => {
    const member = await startMember();
    const { silent, ask } = watch(member.url);
    expect(await ask(60_000)).toBe('200');
    member.stop();
    expect([await ask(), await ask()]).toEqual(['TimeoutError', 'TimeoutError']);
    const asked = member.state.requests.filter((path) => path === '/api').length;
    for (let times = 0; times < 50; times++) expect(await ask()).toMatch(/^no response for \d+ s; it is asked in the/);
    expect(member.state.requests.filter((path) => path === '/api')).toHaveLength(asked);
    expect(silent.count).toBe(1);
    await eventually(() => expect(member.state.requests).toContain('/health/live'));
    member.goOn();
    await eventually(() => expect(silent.count).toBe(0));
    expect(await ask(60_000)).toBe('200');
  });

  it('is missed when it sends the head of a response and nothing else, and whatever it is asked', async () => {
    const member = await startMember();
    const { silent, ask } = watch(member.url);
    expect(await ask(60_000)).toBe('200');
    member.stop({ afterHead: true });
    expect(await ask()).toBe('TimeoutError');
    await eventually(() => expect(silent.count).toBe(1));
    expect(await ask(60_000)).toMatch(/^no response for \d+ s; it is asked in the/);
    member.goOn();
    await eventually(() => expect(silent.count).toBe(0));
    expect(await ask(60_000)).toBe('200');
  });

  it('is not silent while it scans: it answers what takes no time', async () => {
    const member = await startMember();
    const { silent, ask } = watch(member.url);
    member.stop({ afterHead: true, isScanning: true });
    const probes = () => member.state.requests.filter((path) => path === '/health/live').length;
    for (let times = 1; times <= 3; times++) {
      expect(await ask()).toBe('TimeoutError');
      await eventually(() => expect(probes()).toBe(times));
    }
    expect(silent.count).toBe(0);
  });

  it('one missed request, or several at the same time, do not count as two', async () => {
    const member = await startMember();
    const { silent, ask } = watch(member.url);
    member.stop();
    await Promise.all([ask(), ask(), ask()]);
    expect(silent.count).toBe(0);
    member.goOn();
    expect(await ask(60_000)).toBe('200');
    member.stop();
    await ask();
    expect(silent.count).toBe(0);
  });

  it('requests that the client gave up early do not count', async () => {
    const member = await startMember();
    const { silent, ask } = watch(member.url);
    member.stop();
    for (let times = 0; times < 5; times++) await ask(5);
    expect(silent.count).toBe(0);
  });

  it('is asked normally again once it refuses connections: that takes no time', async () => {
    const silent = new SilentMembers({ waitMs: WAIT_MS, probeMs: 60_000, pauseMs: 5 });
    const state = { isStopped: true };
    const send = (async (_input, init) => {
      if (!state.isStopped) throw new TypeError('fetch failed');
      await new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
      return new Response();
    }) as typeof fetch;
    const watched = silent.watch('http://m', send);
    const ask = () => watched.fetch('http://m', request(WAIT_MS * 2)).catch(String);
    await ask();
    await ask();
    expect(silent.count).toBe(1);
    state.isStopped = false;
    watched.close();
    expect(silent.count).toBe(0);
    expect(await silent.watch('http://m', send).fetch('http://m', request(WAIT_MS)).catch(String)).toContain(
      'fetch failed',
    );
  });

  it('few of many are asked in the background at a time', async () => {
    let [running, most] = [0, 0];
    const send = (async (input, init) => {
      const isProbe = String(input).endsWith('/health/live');
      if (isProbe) most = Math.max(most, ++running);
      await new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
      return new Response();
    }) as typeof fetch;
    const silent = new SilentMembers({ waitMs: WAIT_MS, probeMs: 60_000, pauseMs: 5, maxProbes: 4 });
    const watched = Array.from({ length: 40 }, (_, at) => silent.watch(`http://m${at}`, send));
    for (let times = 0; times < 2; times++)
      await Promise.all(watched.map(({ fetch: ask }) => ask('x', request(WAIT_MS * 2)).catch(String)));
    expect(silent.count).toBe(40);
    expect(most).toBe(4);
    for (const each of watched) each.close();
    expect(silent.count).toBe(0);
  });
});
