import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { openRequest, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { CredentialsEnded, type OpenSession, SessionRevalidation } from './access.ts';
import { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from './testing/jwt-maker.ts';
import { createToken } from './tokens.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: text\n';
const FOLLOW = '/api/v1/log/follow?src=a.log&back=1';

async function start() {
  const [ann, bob, signer] = [createToken('ann', ['viewer']), createToken('bob'), createSigner('key-1')];
  const files = tempDir();
  const [tokenFile, jwksFile] = [join(files, 'tokens'), join(files, 'keys.json')];
  writeFileSync(tokenFile, `${ann.line}\n${bob.line}\n`);
  writeFileSync(jwksFile, JSON.stringify(toKeySet(signer)));
  const jwt = { jwksFile, jwtIssuer: ISSUER, jwtAudience: AUDIENCE, jwtRoles: ['ops=viewer'], jwtClockToleranceMs: 0 };
  const node = await startTestNode({
    files: { 'a.log': LINE },
    settings: { auth: { tokenFile, ...jwt }, node: { timeZone: 'UTC' } },
  });
  return { ...node, tokenFile, ann, bob, signer, grpcPort: node.running.node.grpcPort };
}

/** A follow over HTTP: what has come, and whether it was cut. */
async function followHttp(port: number, token: string) {
  const response = await openRequest(port, FOLLOW, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => void response.destroy());
  const following = { records: 0, cut: false };
  response.on('data', (part: Buffer) => {
    following.records += part.toString().split('event: record').length - 1;
  });
  response.once('error', () => {
    following.cut = true;
  });
  await eventually(() => expect(following.records).toBe(1));
  return following;
}

/** The same over gRPC: with which code it ended. */
async function followGrpc(grpcPort: number, token: string) {
  const following: { records: number; code: string | undefined } = { records: 0, code: undefined };
  const read = async () => {
    const messages = connect(grpcPort, { token }).stream('FollowLogs', { family: 'a.log', back: 1 } as never);
    for await (const message of messages) following.records += message?.items?.length ?? 0;
  };
  read().catch((error: unknown) => {
    following.code = codeOf(error);
  });
  await eventually(() => expect(following.records).toBe(1));
  return following;
}

async function metric(port: number, token: string, name: string): Promise<string | undefined> {
  const { body } = await sendRequest(port, '/metrics', { headers: { authorization: `Bearer ${token}` } });
  return body
    .toString()
    .split('\n')
    .find((line) => line.startsWith(name));
}

describe('a follow', () => {
  it('ends when its token is revoked; those of others continue', async () => {
    const { port, grpcPort, ann, bob, tokenFile, running, logDir, dir } = await start();
    const [http, grpc] = [await followHttp(port, ann.token), await followGrpc(grpcPort, ann.token)];
    const [otherHttp, otherGrpc] = [await followHttp(port, bob.token), await followGrpc(grpcPort, bob.token)];
    writeFileSync(tokenFile, bob.line);
    await running.reload();
    await eventually(() => expect([http.cut, grpc.code]).toEqual([true, 'UNAUTHENTICATED']));
    appendFileSync(join(logDir, 'a.log'), LINE);
    await eventually(() => expect([otherHttp.records, otherGrpc.records]).toEqual([2, 2]));
    expect([http.records, grpc.records, otherHttp.cut, otherGrpc.code]).toEqual([1, 1, false, undefined]);
    // A client that reconnects learns why.
    const headers = { authorization: `Bearer ${ann.token}` };
    expect(await requestProblem(port, FOLLOW, { headers })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    const cuts = 'porthole_http_cut_answers_total{reason="credentials"}';
    expect(await metric(port, bob.token, cuts)).toBe(`${cuts} 1`);
    await eventually(() =>
      expect(readFileSync(join(dir, 'own/access.log'), 'utf8')).toMatch(
        /refused\t\{"who":"ann",.*"operation":"logFollow",.*"status":200,"code":"UNAUTHENTICATED"/,
      ),
    );
  });

  it('of events ends when its token is revoked', async () => {
    const { port, ann, bob, tokenFile, running } = await start();
    const headers = { authorization: `Bearer ${ann.token}` };
    const response = await openRequest(port, '/api/v1/events?follow=true', { headers });
    onTestFinished(() => void response.destroy());
    let isCut = false;
    response.resume().once('error', () => {
      isCut = true;
    });
    writeFileSync(tokenFile, bob.line);
    await running.reload();
    await eventually(() => expect(isCut).toBe(true));
  });

  it('ends when its token has lost the role', async () => {
    const { port, grpcPort, ann, tokenFile, running } = await start();
    const [http, grpc] = [await followHttp(port, ann.token), await followGrpc(grpcPort, ann.token)];
    writeFileSync(tokenFile, ann.line.replace('roles=viewer', 'roles=config'));
    await running.reload();
    await eventually(() => expect([http.cut, grpc.code]).toEqual([true, 'FORBIDDEN']));
  });

  it('continues when the file is reloaded and still has its token', async () => {
    const { port, grpcPort, ann, bob, tokenFile, running, logDir } = await start();
    const [http, grpc] = [await followHttp(port, ann.token), await followGrpc(grpcPort, ann.token)];
    const gone = await followHttp(port, bob.token);
    writeFileSync(tokenFile, `# new\n${ann.line}\n`);
    await running.reload();
    // By then all have been looked at.
    await eventually(() => expect(gone.cut).toBe(true));
    appendFileSync(join(logDir, 'a.log'), LINE);
    await eventually(() => expect([http.records, grpc.records]).toEqual([2, 2]));
    expect([http.cut, grpc.code]).toEqual([false, undefined]);
  });

  it('ends with the JWT it was begun with', async () => {
    const { port, grpcPort, signer, bob } = await start();
    const exp = Math.floor((Date.now() + scaled(3000)) / 1000);
    const token = await signJwt(signer, { exp });
    const lasting = await followHttp(port, await signJwt(signer));
    const [http, grpc] = [await followHttp(port, token), await followGrpc(grpcPort, token)];
    await eventually(() => expect([http.cut, grpc.code]).toEqual([true, 'UNAUTHENTICATED']));
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
    expect(lasting.cut).toBe(false);
    expect(await metric(port, bob.token, 'porthole_open_streams')).toBe('porthole_open_streams 1');
  });
});

/** Sessions that are checked as the test says, with a clock of the test. */
function watch(revalidate: (name: string) => Promise<CredentialsEnded | undefined>) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const errors: unknown[] = [];
  const ended: Record<string, string> = {};
  const sessions = new SessionRevalidation(
    ({ credentials }) => revalidate(credentials.address),
    (error) => errors.push(error),
  );
  const open = (name: string) => {
    const session: OpenSession = {
      credentials: { authorization: undefined, socket: undefined, address: name },
      wanted: 'viewer',
      end: ({ code }) => {
        ended[name] = code;
      },
    };
    return sessions.add(session);
  };
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) await vi.advanceTimersByTimeAsync(1000);
  };
  return { open, pass, ended, errors };
}

describe('a check of a session', () => {
  const unknown = () => Promise.resolve(new CredentialsEnded('AUTH_UNAVAILABLE', 'not known'));
  const hanging = () => new Promise<undefined>(() => {});
  const broken = () => Promise.reject(new Error('no store'));

  it.each([
    ['fails', broken, 5],
    ['does not end', hanging, 0],
    ['does not know', unknown, 0],
  ])('that %s ends it after a few seconds, and is reported at once', async (_, revalidate, reported) => {
    const { open, pass, ended, errors } = watch(revalidate);
    open('ann');
    await pass(1);
    expect(errors.length).toBe(Math.min(reported, 1));
    await pass(4);
    expect([ended, errors.length]).toEqual([{}, reported]);
    await pass(1);
    expect(ended).toEqual({ ann: 'AUTH_UNAVAILABLE' });
  });

  it('that takes long or fails keeps no other session open', async () => {
    const revoked = new CredentialsEnded('UNAUTHENTICATED', 'revoked');
    const checks: Record<string, () => Promise<CredentialsEnded | undefined>> = {
      ...{ slow: hanging, broken },
      ...{ revoked: async () => revoked, good: async () => undefined },
    };
    const { open, pass, ended } = watch((name) => checks[name]?.() ?? broken());
    for (const name of Object.keys(checks)) open(name);
    await pass(1);
    expect(ended).toEqual({ revoked: 'UNAUTHENTICATED' });
    await pass(9);
    expect(ended).toEqual({ revoked: 'UNAUTHENTICATED', slow: 'AUTH_UNAVAILABLE', broken: 'AUTH_UNAVAILABLE' });
  });

  it('that fails now and then ends nothing, and nothing is checked once all sessions have ended', async () => {
    let checked = 0;
    const { open, pass, ended } = watch(() => (++checked % 5 === 0 ? Promise.resolve(undefined) : broken()));
    const close = open('ann');
    await pass(20);
    expect([ended, checked]).toEqual([{}, 20]);
    close();
    await pass(3);
    expect(checked).toBe(20);
  });
});
