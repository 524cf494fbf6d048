import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import { startTestEtcd } from '@porthole/cluster/testing';
import type { MemberOutcome } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import { eventually, scaled } from '@porthole/logs/testing';
import { share, tempDir } from '@porthole/records/testing';
import { freePorts, selfSigned, startTestNode } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import {
  type Behave,
  endLine,
  json,
  listen,
  recordLine,
  respond,
  startFakeMember,
  startLines,
  startTrap,
} from './testing/cluster-fake-member.ts';
import { ClusterProcess, renderRecord, searchCluster } from './testing/cluster-process.ts';
import { startLindbNode } from './testing/lindb-node.ts';
import { runToEnd } from './testing/program.ts';

/** Larger than any item a client takes. */
const HUGE_BYTES = 20 * 1024 ** 2;

/** Between two bytes: never long enough to be taken for silent. */
const DRIP_MS = 50;

/** An old time: what belongs there stands behind what the others say, newest first. */
const LONG_AGO_MS = Date.parse('2020-01-01T00:00:00Z');

interface Misbehaviour {
  behave: Behave;
  /** What is reported of it in a search; `late`: that it is slow, or was, which depends on when it was heard from. */
  search: MemberOutcome | 'late';
  /** What is reported when it is asked who it is. */
  state: MemberOutcome;
}

/** What members may do that are broken, or that lie. */
const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  'an endless stream of records': {
    behave: onSearch((response) => pour(response, recordLine('again', LONG_AGO_MS).repeat(1000))),
    search: 'ok',
    state: 'ok',
  },
  'an endless stream of nothing': {
    behave: onSearch((response) => pour(response, '\n'.repeat(10_000))),
    search: 'late',
    state: 'ok',
  },
  'a slow drip': { behave: onSearch(drip), search: 'late', state: 'ok' },
  'an answer that never begins': { behave: () => true, search: 'timeout', state: 'timeout' },
  'an answer that breaks off': {
    behave: onSearch((response) => {
      response.write(recordLine('half', LONG_AGO_MS));
      // Not in the same breath: an answer of which nothing was seen is none.
      setTimeout(() => response.destroy(), DRIP_MS);
    }),
    search: 'failed',
    state: 'ok',
  },
  garbage: {
    behave: (path, response) => {
      response.writeHead(200, { 'content-type': path === '/log/search' ? 'application/x-ndjson' : 'application/json' });
      response.end('\u0000\u0001 <no json> \n'.repeat(100));
      return true;
    },
    search: 'version',
    state: 'version',
  },
  'another kind of answer': {
    behave: (_path, response) => {
      json(response, 200, [null, { type: 'record' }, 42]);
      return true;
    },
    search: 'version',
    state: 'version',
  },
  'huge records': {
    behave: onSearch((response) => response.end(recordLine('x'.repeat(HUGE_BYTES), LONG_AGO_MS) + endLine(1))),
    search: 'version',
    state: 'ok',
  },
  'times that are none': {
    behave: onSearch((response) => {
      const times = [null, 'yesterday', {}, 1e300, -1e300].map((timeMs) => recordLine('when?', 0, { timeMs }));
      response.end(times.join('') + endLine(times.length));
    }),
    search: 'version',
    state: 'ok',
  },
  'errors of its own': {
    behave: (_path, response) => {
      json(response, 500, { code: 'INTERNAL', detail: 'it is broken' });
      return true;
    },
    search: 'failed',
    state: 'failed',
  },
};

function onSearch(act: (response: ServerResponse) => void): Behave {
  return (path, response) => {
    if (path !== '/log/search') return false;
    startLines(response);
    act(response);
    return true;
  };
}

/** The same again and again, as fast as it is taken. */
function pour(response: ServerResponse, text: string): void {
  const more = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', more);
  more();
}

function drip(response: ServerResponse): void {
  response.write('{"type":"record","message":"');
  const timer = setInterval(() => response.write('x'), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}

/** Timeouts of a member and of its first records. */
const SHORT = ['--cluster-member-timeout', '1s', '--cluster-first-batch-timeout', '500ms'];

/** Far above the deadlines: finds a member that is waited for, not a busy machine. */
const LONGEST_MS = scaled(10_000);

const memberList = (members: Readonly<Record<string, string>>) =>
  Object.entries(members).map(([id, address]) => `${id}=${address.includes('://') ? address : `http://${address}`}`);

const liarId = (name: string) => name.replaceAll(' ', '-');

/** A node with one good member, and one for each way to misbehave. */
const amongLiars = share(async () => {
  const liars = Object.entries(MISBEHAVIOURS).map(async ([name, { behave }]) => [
    liarId(name),
    await startFakeMember({ behave }),
  ]);
  return startHere({ good: await goodMember(), ...Object.fromEntries(await Promise.all(liars)) });
});

it.each(Object.entries(MISBEHAVIOURS))(
  'a member with %s costs its deadline at most, and never the answer',
  async (name, { search, state }) => {
    const liar = liarId(name);
    const asked = amongLiars();
    await eventually(async () => {
      const { outcomes, messages, end } = await asked.search({
        order: 'newest',
        limit: 20,
        nodes: ['asked', 'good', liar],
      });
      const expected = search === 'late' ? expect.stringMatching(/^(?:slow|timeout)$/) : search;
      expect(outcomes).toEqual({ asked: 'ok', good: 'ok', [liar]: expected });
      expect(messages).toEqual(expect.arrayContaining(['own', 'good 1', 'good 2']));
      for (const { elapsedMs } of end.members) expect(elapsedMs).toBeLessThan(LONGEST_MS);
    });
    await eventually(async () => {
      const { nodes } = await asked.nodes();
      const outcomes = Object.fromEntries(nodes.map(({ id, report }) => [id, report.outcome]));
      expect(outcomes).toMatchObject({ asked: 'ok', good: 'ok', [liar]: state });
    });
  },
);

it('an answer that stops at a time that is none goes on all the same', async () => {
  const asked = amongLiars();
  const liar = liarId('times that are none');
  const nodes = ['asked', 'good', liar];
  await eventually(async () => {
    const first = await asked.search({ order: 'newest', limit: 5, nodes });
    expect(first.outcomes).toEqual({ asked: 'ok', good: 'ok', [liar]: 'version' });
    const second = await asked.search({ order: 'newest', limit: 100, nodes, cursor: first.end.cursor ?? '' });
    expect([...first.messages, ...second.messages]).toEqual(expect.arrayContaining(['own', 'good 1', 'good 2']));
  });
});

it('members that cannot be reached are reported with the reason: refused, auth, tls, not supported', async () => {
  const [closed = 0] = await freePorts(1);
  const members = {
    closed: `127.0.0.1:${closed}`,
    good: await goodMember(),
    guarded: await guardedMember(),
    lindb: await startLindbNode({
      'a.log': '2026-11-15 12:00:00.000\tINFO\ta.go:1\tnever sent\n2026-11-15 12:00:01.000\tINFO\ta.go:1\tof lindb\n',
    }),
    old: await startFakeMember({ behave: isOld }),
    stranger: await strangerWithTls(),
  };
  const asked = await startNodeWithMembers(members, ['--cluster-token-file', 'token']);
  await eventually(async () => {
    const { outcomes, messages } = await asked.search();
    expect(messages).toEqual(expect.arrayContaining(['own', 'good 1', 'good 2', 'of lindb']));
    expect(outcomes).toEqual({
      asked: 'ok',
      closed: 'refused',
      good: 'ok',
      guarded: 'auth',
      lindb: 'ok',
      old: 'ok',
      stranger: 'tls',
    });
  });
  const { nodes } = await asked.nodes();
  expect(nodes.map(({ id, state, report }) => `${id} ${state} ${report.outcome}`)).toEqual([
    'asked up ok',
    'closed unreachable refused',
    'good up ok',
    'guarded unreachable auth',
    'lindb up ok',
    'old up ok',
    'stranger unreachable tls',
  ]);
  // What only speaks the contract takes part in what it can.
  const { configs } = JSON.parse((await asked.request('/api/v1/config/settings?nodes=lindb')).body);
  expect(configs[0].config.config).toContain('report-interval');
  const { files } = JSON.parse((await asked.request('/api/v1/log/files?nodes=lindb')).body);
  expect(files).toMatchObject([{ node: 'lindb', name: 'a.log', format: 'contract' }]);
});

it('a member that redirects is not followed anywhere', async () => {
  const trap = await startTrap();
  const liar = await startFakeMember({
    behave: (_path, response) => {
      response.writeHead(307, { location: `http://${trap.address}/api/v1/node` }).end();
      return true;
    },
  });
  const asked = await startNodeWithMembers({ good: await goodMember(), liar });
  await eventually(async () => {
    expect((await asked.search()).outcomes).toEqual({ asked: 'ok', good: 'ok', liar: 'version' });
  });
  for (const path of ['nodes', 'config/settings', 'config/diff', 'log/files', 'log/histogram', 'log/digest'])
    expect((await asked.request(pathOfAll(path))).status).toBe(200);
  expect((await asked.request('/api/v1/nodes/liar/log/list')).status).toBe(502);
  expect(trap.visits()).toBe(0);
});

it('of two nodes with one id, the one that the others do not know any more says so to everyone who asks it', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const first = await ClusterProcess.start('same', { flags });
  const second = await ClusterProcess.start('same', { flags });
  const said = `another node, at "${second.url}", is registered with the id of this one`;
  await eventually(async () => {
    const { code, stderr } = await first.cli('nodes');
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(`same: cluster: ${said}`) });
  });
  const settings = ['--http-port', new URL(first.url).port, '--log-dir', 'logs', '--grpc-enabled=false'];
  const doctor = await runToEnd(['doctor', ...settings], first.cwd);
  expect(doctor.stdout).toContain(`the running node reports: cluster: ${said}`);
});

it('two clusters in one etcd do not see each other', async () => {
  const etcd = await startTestEtcd();
  const start = (id: string, name: string) =>
    ClusterProcess.start(id, { flags: ['--cluster-etcd', etcd.url, '--cluster-name', name] });
  const [a1, a2, b1] = await Promise.all([start('a1', 'a'), start('a2', 'a'), start('b1', 'b')]);
  await eventually(async () => expect(await idsBy(a1)).toEqual(['a1', 'a2']));
  expect(await idsBy(a2)).toEqual(['a1', 'a2']);
  expect(await idsBy(b1)).toEqual(['b1']);
  expect((await b1.request('/api/v1/nodes/a1/log/list')).status).toBe(404);
});

it('the nodes that LinDB registered in its etcd are members, and nothing is written there', async () => {
  const etcd = await startTestEtcd();
  const url = new URL(await startLindbNode({ 'broker.log': 'first\nsecond\n' }));
  const broker = {
    hostIp: url.hostname,
    hostName: 'lindb-0',
    httpPort: Number(url.port),
    grpcPort: 9000,
    version: '1',
  };
  const [, live] = await Promise.all([
    etcd.put('/lindb-cluster/normal/live/nodes/1', JSON.stringify({ ...broker, onlineTime: 1 })),
    ClusterProcess.start('me', {
      flags: ['--cluster-etcd', etcd.url, '--cluster-lindb-namespace', '/lindb-cluster'],
    }),
  ]);
  const id = `broker-${url.host}`;
  await eventually(async () => expect(await idsBy(live)).toEqual([id, 'me']));
  const { membership, nodes } = await live.nodes();
  expect(membership).toMatchObject({ kind: 'lindb', state: 'ok' });
  expect(nodes[0]).toMatchObject({ id, role: 'broker', state: 'up', node: { hostName: 'lindb-root-0' } });
  const list = await live.request(`/api/v1/nodes/${id}/log/list`);
  expect(JSON.parse(list.body)).toEqual([{ name: 'broker.log', size: 13 }]);
  expect((await etcd.list('/')).map(({ key }) => key)).toEqual(['/lindb-cluster/normal/live/nodes/1']);
});

async function idsBy(node: ClusterProcess): Promise<string[]> {
  return (await node.nodes()).nodes.map(({ id }) => id);
}

async function startNodeWithMembers(members: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'token'), 'ph_not-the-right-one\n');
  const asked = await ClusterProcess.start('asked', {
    cwd,
    flags: [...SHORT, '--cluster-members', memberList(members).join(','), ...flags],
  });
  asked.write('own');
  return asked;
}

/** A node in this process: what a liar does to it is the same in one of its own, which takes ten times as long to start. */
async function startHere(members: Readonly<Record<string, string>>) {
  const { running } = await startTestNode({
    files: { 'service.log': renderRecord('own') },
    settings: {
      node: { timeZone: 'UTC' },
      cluster: {
        nodeId: 'asked',
        members: memberList(members),
        memberTimeoutMs: 1000,
        firstBatchTimeoutMs: 500,
        refreshMs: 200,
      },
    },
  });
  const client = createClient({ url: running.url, retries: 0 });
  return {
    search: (request: Parameters<typeof searchCluster>[1]) => searchCluster(client, request),
    nodes: () => client.nodes(),
  };
}

function goodMember(): Promise<string> {
  return startFakeMember({ messages: ['good 1', 'good 2'], timeMs: Date.now() });
}

/** A real one that asks for a token. */
async function guardedMember(): Promise<string> {
  const cwd = tempDir();
  const { stdout } = await runToEnd(['token', 'somebody'], cwd);
  writeFileSync(join(cwd, 'tokens'), stdout);
  return (await ClusterProcess.start('guarded', { cwd, flags: ['--auth-token-file', 'tokens'] })).url;
}

/** Its certificate is signed by nobody that is known. */
async function strangerWithTls(): Promise<string> {
  const { certFile, keyFile } = selfSigned(tempDir());
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  return `https://${await listen(createTlsServer(tls, (request, response) => respond({}, request, response)))}`;
}

/** Answers like a node of a time when there was only the contract, and other routes were unknown. */
function isOld(path: string, response: Parameters<typeof respond>[2]): boolean {
  if (path === '/config' || path === '/log/list') return false;
  response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
  return true;
}
