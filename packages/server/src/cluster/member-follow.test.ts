import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { freePorts } from '../testing/free-ports.ts';
import { startTestNode } from '../testing/test-node.ts';

const line = (text: string) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: ${text}\n`;

/** Two nodes: `asked` is followed by clients, and follows `member` with the cluster's token. */
async function startPair() {
  const dir = tempDir();
  const [cluster, client] = [createToken('cluster'), createToken('client', ['viewer'])];
  const [tokenFile, memberTokens, askedTokens] = [join(dir, 'token'), join(dir, 'member'), join(dir, 'asked')];
  writeFileSync(tokenFile, cluster.token);
  writeFileSync(memberTokens, cluster.line);
  writeFileSync(askedTokens, `${client.line}\n${cluster.line}\n`);
  const [askedPort = 0, memberPort = 0] = await freePorts(2);
  const members = [`asked=http://127.0.0.1:${askedPort}`, `member=http://127.0.0.1:${memberPort}`];
  const start = (nodeId: string, port: number, auth: { tokenFile: string }) =>
    startTestNode({
      files: { 'a.log': line(`first of ${nodeId}`) },
      settings: { http: { port }, auth, cluster: { nodeId, members, tokenFile } },
    });
  const member = await start('member', memberPort, { tokenFile: memberTokens });
  const asked = await start('asked', askedPort, { tokenFile: askedTokens });
  return { asked, member, tokenFile, memberTokens, askedTokens, cluster, client };
}

/** What has come, and how it ended. */
async function follow(port: number, path: string, token: string) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const following = { text: '', ended: '' };
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: leaving.signal });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) following.text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  read().then(
    () => {
      following.ended = 'ended';
    },
    () => {
      following.ended = 'cut';
    },
  );
  await eventually(() => expect(following.text).toContain('first of member'));
  return following;
}

it('a follow through a member whose token is withdrawn ends, is reported, and continues with a new token', async () => {
  const { asked, member, tokenFile, memberTokens, client } = await startPair();
  const all = await follow(asked.port, '/api/v1/log/follow?nodes=*&back=2', client.token);
  const next = createToken('cluster');
  writeFileSync(memberTokens, next.line);
  await member.running.reload();
  await eventually(() => expect(all.text).toMatch(/"node":"member","report":\{"id":"member","outcome":"auth"/));
  appendFileSync(join(member.logDir, 'a.log'), line('not for those without a token'));
  appendFileSync(join(asked.logDir, 'a.log'), line('of the others'));
  await eventually(() => expect(all.text).toContain('of the others'));
  expect(all.text).not.toContain('not for those without a token');
  expect(all.ended).toBe('');
  writeFileSync(tokenFile, next.token);
  await asked.running.reload();
  // Nothing is lost: it continues after the last record that came.
  await eventually(() => expect(all.text).toContain('not for those without a token'));
});

it('a client whose own token is withdrawn loses its follow through a member', async () => {
  const { asked, member, askedTokens, client, cluster } = await startPair();
  const all = await follow(asked.port, '/api/v1/log/follow?nodes=*&back=2', client.token);
  const one = await follow(asked.port, '/api/v1/log/follow?nodes=member&back=1', client.token);
  writeFileSync(askedTokens, cluster.line);
  await asked.running.reload();
  await eventually(() => expect([all.ended, one.ended]).toEqual(['cut', 'cut']));
  appendFileSync(join(member.logDir, 'a.log'), line('too late'));
  expect(all.text + one.text).not.toContain('too late');
});
