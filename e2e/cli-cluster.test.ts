import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import {
  clusterNode,
  clusterRecord,
  type FakeClusterNode,
  NODE_TIME,
  OK,
  REFUSED,
  startClusterNode,
} from './testing/cluster-node.ts';
import { startLindbNode } from './testing/lindb-node.ts';
import { Program, runCommand, runToEnd } from './testing/program.ts';
import { runOnTerminal } from './testing/pseudo-terminal.ts';

const ENV = { TZ: 'UTC' };

const WARNING = 'porthole: warning: storage-1: no connection: connect ECONNREFUSED 10.8.0.31:7300\n';

const NODES = {
  cluster: 'test',
  membership: { kind: 'static', state: 'ok', detail: null, asOfMs: NODE_TIME },
  nodes: [
    clusterNode('broker-1', { isSelf: true }),
    clusterNode('broker-2', { clock: { offsetMs: 120.4, uncertaintyMs: 1.2 }, recentErrors: 14 }),
    clusterNode('storage-1', {
      state: 'unreachable',
      report: REFUSED,
      clock: null,
      lastRecordMs: null,
      recentErrors: null,
      lastSeenMs: NODE_TIME - 600_000,
    }),
  ],
};

async function runCli({ url }: Pick<FakeClusterNode, 'url'>, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand([...args, '--url', url], tempDir(), ENV);
  return { code, stdout, stderr };
}

describe('porthole nodes', () => {
  it('shows every node, and marks, reports and counts those that do not respond', async () => {
    const node = await startClusterNode({ responses: { '/nodes': NODES } });
    expect(await runCli(node, 'nodes')).toEqual({
      code: 3,
      stdout: [
        '  NODE        ROLE     ADDRESS         VERSION  UP SINCE                  CLOCK  LAST RECORD  ERRORS  STATE',
        '  broker-1 *  broker   broker-1:7300   0.1.0    2026-11-15 10:00:00     0 ±2 ms      3 s ago       0  up',
        '  broker-2    broker   broker-2:7300   0.1.0    2026-11-15 09:59:59  +120 ±2 ms      3 s ago      14  up',
        '! storage-1   storage  storage-1:7300  0.1.0    2026-11-15 10:00:00           -            -       -  unreachable, seen 10 m ago',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
  });

  it('shows how far each node is behind in shipping to the archive, once one ships', async () => {
    const lags = [
      { lagMs: 0, lagBytes: 0, lostBytes: 0 },
      { lagMs: 150_000, lagBytes: 4096, lostBytes: 0 },
    ];
    const nodes = [...lags.map((archive, n) => clusterNode(`broker-${n}`, { archive })), clusterNode('broker-2')];
    const node = await startClusterNode({ responses: { '/nodes': { ...NODES, nodes } } });
    const { stdout } = await runCli(node, 'nodes');
    expect(stdout.split('\n').map((row) => row.replace(/.*(?=ARCHIVE)|.*ago +/, ''))).toEqual([
      'ARCHIVE  ERRORS  STATE',
      'complete       0  up',
      '2 m behind       0  up',
      '-       0  up',
      '',
    ]);
  });

  it('shows labels, selects by them, and groups by one', async () => {
    const labels = {
      'broker-1': { rack: '7', zone: 'eu-1' },
      'broker-2': { zone: 'us-1' },
      'broker-3': { zone: 'eu-1' },
    };
    const nodes = [
      ...Object.entries(labels).map(([id, own]) => clusterNode(id, { labels: own })),
      clusterNode('broker-4'),
    ];
    const node = await startClusterNode({ responses: { '/nodes': { ...NODES, nodes } } });
    const { stdout } = await runCli(node, 'nodes', '--by', 'zone');
    expect(
      stdout.split('\n').map((row) =>
        row
          .split('  ')
          .filter((cell) => cell !== '')
          .slice(0, 4)
          .map((cell) => cell.trim()),
      ),
    ).toEqual([
      ['ZONE', 'NODE', 'ROLE', 'LABELS'],
      ['eu-1', 'broker-1', 'broker', 'rack=7 zone=eu-1'],
      ['broker-3', 'broker', 'zone=eu-1', 'broker-3:7300'],
      ['us-1', 'broker-2', 'broker', 'zone=us-1'],
      ['-', 'broker-4', 'broker', '-'],
      [],
    ]);
    const selected = await runCli(node, 'nodes', '-o', 'names', '--label', 'zone=eu-*');
    expect(selected.stdout).toBe('broker-1\nbroker-3\n');
    expect(await runCli(node, 'nodes', '--label', 'zone')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('invalid --label "zone": expected NAME=VALUE'),
    });
  });

  it('-o names and json are for programs', async () => {
    const node = await startClusterNode({
      responses: { '/nodes': { ...NODES, nodes: NODES.nodes.slice(0, 2) } },
    });
    expect(await runCli(node, 'nodes', '-o', 'names')).toEqual({ code: 0, stdout: 'broker-1\nbroker-2\n', stderr: '' });
    const { stdout } = await runCli(node, 'nodes', '-o', 'json');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(NODES.nodes.slice(0, 2));
  });

  it('warns that the registry is unavailable', async () => {
    const membership = { kind: 'etcd', state: 'stale', detail: 'no connection', asOfMs: NODE_TIME };
    const node = await startClusterNode({ responses: { '/nodes': { ...NODES, nodes: [], membership } } });
    expect((await runCli(node, 'nodes')).stderr).toBe(
      'porthole: warning: the list of nodes is an earlier one: the registry (etcd) does not respond (no connection); shown as of 2026-11-15T12:00:00.000Z\n',
    );
  });

  it('needs more of a node than the contract, and says so', async () => {
    const url = await startLindbNode({});
    for (const words of [['nodes'], ['events'], ['config', 'diff'], ['config', 'history']]) {
      const { code, stdout, stderr } = await runCli({ url }, ...words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(
        /^porthole: .*\. It may only have the routes of the contract; name another node with --url\n$/,
      );
    }
  });
});

function memberConfig(id: string, port: number, report: Partial<MemberReport> = {}) {
  const config = { node: NODES.nodes[0]?.node, config: `[http]\nport = ${port}\n` };
  return { id, role: 'broker', config, report: { ...OK, id, ...report } };
}

const MEMBER_CONFIGS = {
  configs: [
    memberConfig('broker-1', 1),
    memberConfig('broker-2', 2),
    memberConfig('broker-3', 1, { outcome: 'gone', detail: 'no longer registered', asOfMs: NODE_TIME }),
    { ...memberConfig('storage-1', 0, REFUSED), config: null },
  ],
};

const RECORDS = [
  clusterRecord('broker-2', 2, 'second', { isUnsure: true }),
  clusterRecord('broker-1', 2, 'also second', { file: 'b.log' }),
  clusterRecord('broker-1', 1, 'first'),
];

describe('porthole logs of a cluster', () => {
  it('--all queries all nodes, and reports with exit code 3 which are missing', async () => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS }, members: [REFUSED] });
    expect(await runCli(node, 'logs', '--all', '--prefix')).toEqual({
      code: 3,
      stdout: [
        'broker-1:a.log:2026-11-15 11:00:01.000\tINFO\ta.go:1\t[A]: first',
        'broker-1:b.log:2026-11-15 11:00:02.000\tINFO\ta.go:1\t[A]: also second',
        'broker-2:a.log:2026-11-15 11:00:02.000\tINFO\ta.go:1\t[A]: second',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect(node.requests).toEqual(['/node', '/log/search?nodes=*&order=newest&limit=200&before=0&after=0&raw=true']);
  });

  it('names the copies that were not read; nothing is missing', async () => {
    const duplicates = [{ node: 'broker-2', file: 'a.log.1.gz', sameAs: 'a.log.1' }];
    const node = await startClusterNode({ responses: { '/log/search': RECORDS }, duplicates });
    const { code, stderr } = await runCli(node, 'logs', '--all');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'porthole: warning: broker-2:a.log.1.gz not read: same text as a.log.1\n',
    });
  });

  it.each([
    ['logs', '--all', '-n', '2'],
    ['logs', '--all', '-n', '1', '-o', 'json'],
    ['logs', 'search', 'o', '--all', '-n', '2'],
    ['logs', 'search', 'o', '--all', '--oldest', '-n', '1'],
  ])('a dead member is reported with exit code 3 also when the limit is reached: %s %s %s %s %s', async (...args) => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS }, members: [REFUSED] });
    const { code, stderr } = await runCli(node, ...args);
    expect({ code, stderr }).toEqual({ code: 3, stderr: WARNING });
  });

  it('a record whose member is gone before its bytes are read is printed as received, and the others too', async () => {
    const invalid = clusterRecord('broker-2', 3, 'not valid UTF-8: \ufffd');
    const { raw: _raw, ...kept } = clusterRecord('broker-2', 4, 'without its line');
    const node = await startClusterNode({ responses: { '/log/search': [kept, invalid, ...RECORDS] } });
    expect(await runCli(node, 'logs', '--all')).toEqual({
      code: 3,
      stdout: [
        'broker-1:a.log:2026-11-15 11:00:01.000\tINFO\ta.go:1\t[A]: first',
        'broker-1:b.log:2026-11-15 11:00:02.000\tINFO\ta.go:1\t[A]: also second',
        'broker-2:a.log:2026-11-15 11:00:02.000\tINFO\ta.go:1\t[A]: second',
        'broker-2:a.log:2026-11-15 11:00:03.000\tINFO\ta.go:1\t[A]: not valid UTF-8: \ufffd',
        'broker-2:a.log:without its line',
        '',
      ].join('\n'),
      stderr:
        'porthole: warning: broker-2:a.log: 2 records are printed as received, not byte for byte: the node has no /api/v1/nodes/broker-2/log/raw: there is no such route\n',
    });
  });

  it('pretty output shows the node in front, and ~ where the order is not sure', async () => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS.toReversed() } });
    expect(await runCli(node, 'logs', 'search', 'o', '--all', '--oldest', '-o', 'pretty')).toEqual({
      code: 0,
      stdout: [
        'broker-1:a.log 2026-11-15 11:00:01.000  INFO  first',
        'broker-1:b.log 2026-11-15 11:00:02.000  INFO  also second',
        'broker-2:a.log 2026-11-15 11:00:02.000~ INFO  second',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('turned around, the mark stays between the same two records', async () => {
    const marked = [RECORDS[0], { ...RECORDS[1], isUnsure: true }, RECORDS[2]].map((record, index) =>
      index === 0 ? { ...record, isUnsure: undefined } : record,
    );
    const node = await startClusterNode({ responses: { '/log/search': marked } });
    const { stdout } = await runCli(node, 'logs', '--all', '-o', 'pretty');
    expect(stdout.split('\n').map((line) => line.slice(38, 40))).toEqual(['  ', '  ', '~ ', '']);
  });

  it('json is the record as the node returned it', async () => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS } });
    const { stdout } = await runCli(node, 'logs', 'search', '', '--all', '-o', 'json');
    expect(stdout).toBe(RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''));
  });

  it('logfmt includes the node', async () => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS.slice(0, 1) } });
    const { stdout } = await runCli(node, 'logs', '--all', '-o', 'logfmt');
    expect(stdout).toBe('time=2026-11-15T11:00:02.000Z level=info node=broker-2 file=a.log msg=second\n');
  });

  it.each([
    [['broker-2:'], 'nodes=broker-2'],
    [['broker-2:a.log'], 'nodes=broker-2', 'src==a.log&'],
    [['broker-*:'], 'nodes=broker-*'],
    [['*-?:a.log'], 'nodes=*-?', 'src==a.log&'],
    [['10.8.0.9:2891'], 'nodes=10.8.0.9:2891'],
    [['10.8.0.9:2891:a.log'], 'nodes=10.8.0.9:2891', 'src==a.log&'],
    [['--all', 'a.log'], 'nodes=*', 'src==a.log&'],
    [['--role', 'storage'], 'role=storage'],
  ])('%j asks the nodes it names', async (words, members, file = '') => {
    const nodes = { ...NODES, nodes: [...NODES.nodes, clusterNode('10.8.0.9:2891')] };
    const node = await startClusterNode({ responses: { '/nodes': nodes, '/log/search': RECORDS } });
    expect(await runCli(node, 'logs', ...words, '-n', '1')).toMatchObject({ code: 0, stderr: '' });
    const query = `${members}&${file}order=newest&limit=1&before=0&after=0&raw=true`;
    expect(node.requests.at(-1)).toBe(`/log/search?${query}`);
  });

  it.each([
    [['brokre-1:a.log'], 'the cluster has no node "brokre-1"; did you mean broker-1?'],
    [['xyz:'], 'the cluster has no node "xyz"; known nodes: broker-1, broker-2, storage-1'],
    [
      ['broker-1:*.log'],
      'invalid log name in "broker-1:*.log": * and ? only work in node names; name one log, or none for all',
    ],
    [['--all', '--cursor', 'c1'], '--cursor works with a single node only; use --since'],
  ])('%j is rejected with the reason', async (words, message) => {
    const node = await startClusterNode({ responses: { '/nodes': NODES, '/log/list': [] } });
    expect(await runCli(node, 'logs', ...words)).toEqual({ code: 2, stdout: '', stderr: `porthole: ${message}\n` });
  });

  it('a node that only implements the contract is a cluster of one', async () => {
    const url = await startLindbNode({
      'a.log': '2026-11-15 11:00:00.000\tINFO\ta.go:1\t[A]: x\n2026-11-15 11:00:01.000\tINFO\ta.go:1\t[A]: y\n',
    });
    const { host } = new URL(url);
    const last = `${host}:a.log:2026-11-15 11:00:01.000\tINFO\ta.go:1\t[A]: y\n`;
    expect((await runCli({ url }, 'logs', '--all', '-n', '1', '--log-zone', 'UTC')).stdout).toBe(last);
    expect(await runCli({ url }, 'logs', 'ls', '--all', '-o', 'names')).toMatchObject({
      code: 0,
      stdout: `${host}:a.log\n`,
    });
    const around = await runCli({ url }, 'logs', 'around', '-t', '2026-11-15T11:00:01Z', '--log-zone', 'UTC');
    expect(around.stdout).toContain(' y a.go:1\n');
  });

  it('each node has its own colour on a terminal', async () => {
    const node = await startClusterNode({ responses: { '/log/search': RECORDS } });
    const args = ['logs', '--all', '--url', node.url];
    const { output } = await runOnTerminal(args, { cwd: tempDir(), columns: 120 });
    const escapeCharacter = String.fromCharCode(27);
    const color = (label: string) => output.split(label)[0]?.split(escapeCharacter).at(-1);
    expect(color('broker-1:a.log')).toMatch(/^\[\d+m$/);
    expect(color('broker-1:a.log')).toBe(color('broker-1:b.log'));
    expect(color('broker-1:a.log')).not.toBe(color('broker-2:a.log'));
  });

  it('--follow follows all nodes and reports those that leave and return', async () => {
    const [late, , first] = RECORDS;
    const node = await startClusterNode({
      follow: [
        ...(first ? [first] : []),
        { type: 'member', node: 'storage-1', report: REFUSED },
        { type: 'rotated', node: 'broker-1', family: 'a.log', from: 'a.log.1', to: 'a.log' },
        { type: 'member', node: 'storage-1', report: { ...OK, id: 'storage-1' } },
        ...(late ? [late] : []),
      ],
    });
    const program = new Program(['logs', '--all', '-f', '-o', 'pretty', '--url', node.url], {
      cwd: tempDir(),
      env: ENV,
    });
    await eventually(() => expect(program.stdout).toContain('second'));
    program.kill('SIGINT');
    expect(await program.end()).toMatchObject({
      code: 130,
      stdout:
        'broker-1:a.log 2026-11-15 11:00:01.000  INFO  first\nbroker-2:a.log 2026-11-15 11:00:02.000~ INFO  second\n',
      stderr: [
        'porthole: storage-1: no connection: connect ECONNREFUSED 10.8.0.31:7300; retrying',
        'porthole: broker-1: a.log was rotated to a.log.1',
        'porthole: following storage-1',
        '',
      ].join('\n'),
    });
    expect(node.requests.at(-1)).toBe('/log/follow?nodes=*&back=200');
  });

  it('digest counts by node, and the histogram counts all', async () => {
    const group = { level: 'ERROR', source: 'a.go:1', shape: null, count: 9, firstMs: NODE_TIME, lastMs: NODE_TIME };
    const digest = {
      groups: [{ ...group, isNew: false, sample: RECORDS[0], nodes: { 'broker-1': 2, 'broker-2': 6, 'storage-1': 1 } }],
      totalGroups: 1,
      ungrouped: 0,
      members: [REFUSED],
    };
    const histogram = {
      bucketMs: 60_000,
      untimed: 0,
      buckets: [{ startMs: NODE_TIME, counts: { INFO: 3 }, nodes: { 'broker-1': 3 } }],
      members: [],
    };
    const node = await startClusterNode({
      responses: { '/log/digest': digest, '/log/histogram': histogram },
    });
    expect(await runCli(node, 'logs', 'digest', '--all')).toEqual({
      code: 3,
      stdout: [
        'COUNT  NODES                      LEVEL  WHERE   FIRST                LAST                 NEWEST',
        '    9  broker-2 6, broker-1 2 +1  ERROR  a.go:1  2026-11-15 12:00:00  2026-11-15 12:00:00  second',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect(await runCli(node, 'logs', 'histogram', '--all', '-o', 'json')).toEqual({
      code: 0,
      stdout: `${JSON.stringify(histogram)}\n`,
      stderr: '',
    });
    expect((await runCli(node, 'logs', 'histogram', '--all', '-o', 'tsv')).stdout).toBe(
      'time\tfatal\terror\twarn\tinfo\tdebug\ttrace\tnone\n2026-11-15T12:00:00.000Z\t0\t0\t0\t3\t0\t0\t0\n',
    );
  });

  it('ls lists the files of all nodes, with names that other commands accept', async () => {
    const file = { size: 2048, family: 'a.log', state: 'live', compressed: false, format: 'contract', problem: null };
    const times = { modifiedMs: null, firstTimeMs: null, lastTimeMs: NODE_TIME };
    const files = ['broker-1', 'broker-2'].map((id) => ({ name: 'a.log', node: id, ...file, ...times }));
    const responses = { '/log/files': { files, members: [REFUSED] }, '/nodes': NODES };
    const node = await startClusterNode({ responses });
    expect(await runCli(node, 'logs', 'ls', '--all')).toEqual({
      code: 3,
      stdout: [
        'NODE      NAME      SIZE  STATE  FORMAT    FIRST  LAST',
        'broker-1  a.log  2.0 KiB  live   contract  -      2026-11-15 12:00:00',
        'broker-2  a.log  2.0 KiB  live   contract  -      2026-11-15 12:00:00',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect((await runCli(node, 'logs', 'ls', 'broker-*:', '-o', 'names')).stdout).toBe(
      'broker-1:a.log\nbroker-2:a.log\n',
    );
    expect(node.requests).toContain('/log/files?nodes=broker-*');
  });

  it('download fetches a file of one member', async () => {
    const text = 'one\ntwo\n';
    const node = await startClusterNode({ responses: { '/nodes': NODES }, files: { 'broker-2/a.log': text } });
    const cwd = tempDir();
    const outcome = await runToEnd(['logs', 'download', 'broker-2:a.log', '--url', node.url], cwd);
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr: 'porthole: a.log: 8 B\n' });
    expect(readFileSync(join(cwd, 'a.log'), 'utf8')).toBe(text);
  });

  it.each([
    ['broker-1:', 'broker-1: names no file; "porthole logs ls broker-1:" lists them'],
    ['broker-*:a.log', 'broker-* matches 2 nodes (broker-1, broker-2); name one'],
  ])('download %s is rejected', async (word, message) => {
    const node = await startClusterNode({ responses: { '/nodes': NODES } });
    expect(await runCli(node, 'logs', 'download', word)).toMatchObject({ code: 2, stderr: `porthole: ${message}\n` });
  });
});

describe('porthole logs around', () => {
  const around = [...RECORDS].reverse();

  it('shows what all nodes logged around a record, which is marked', async () => {
    const node = await startClusterNode({ responses: { '/log/around': around }, members: [REFUSED] });
    expect(await runCli(node, 'logs', 'around', '--at', 'broker-1:c1', '--around', '2s', 'broker-*')).toEqual({
      code: 3,
      stdout: [
        'broker-1:a.log 2026-11-15 11:00:01.000> INFO  first',
        'broker-1:b.log 2026-11-15 11:00:02.000  INFO  also second',
        'broker-2:a.log 2026-11-15 11:00:02.000~ INFO  second',
        '',
      ].join('\n'),
      stderr: WARNING,
    });
    expect(node.requests.at(-1)).toBe(
      '/log/around?node=broker-1&cursor=c1&before=2000&after=2000&limit=100&nodes=broker-*',
    );
  });

  it('shows what all nodes logged around a time of the queried node', async () => {
    const node = await startClusterNode({ responses: { '/log/around': [] } });
    expect(await runCli(node, 'logs', 'around', '-t', '11:00:02', '-n', '3')).toEqual({
      code: 1,
      stdout: '',
      stderr: '',
    });
    const timeMs = Date.parse('2026-11-15T11:00:02Z');
    expect(node.requests.at(-1)).toBe(`/log/around?time=${timeMs}&before=5000&after=5000&limit=3&nodes=*`);
  });

  it.each([
    [[], 'expected either --at NODE:CURSOR or --time'],
    [['--at', 'a:b', '--time', '1m'], 'expected either --at NODE:CURSOR or --time'],
    [['--at', 'c1'], 'invalid --at "c1": expected NODE:CURSOR, as shown by -o json'],
  ])('rejects %j', async (words, message) => {
    const node = await startClusterNode({});
    expect(await runCli(node, 'logs', 'around', ...words)).toMatchObject({ code: 2, stderr: `porthole: ${message}\n` });
  });
});

describe('porthole config of a cluster', () => {
  const value = (text: string | null, nodes: string[], given = {}) => ({
    value: text,
    nodes,
    isMajority: false,
    isSameMeaning: false,
    ...given,
  });
  const most = { isMajority: true, isSameMeaning: true };
  const drifted = {
    key: 'query.slow',
    secret: false,
    isExpected: false,
    values: [value('30s', ['broker-1', 'broker-3'], most), value('10s', ['broker-2']), value(null, ['broker-4'])],
  };
  const spelled = {
    key: 'query.idle',
    secret: false,
    isExpected: false,
    values: [value('5s', ['broker-1', 'broker-2'], most), value('5000ms', ['broker-3'], { isSameMeaning: true })],
  };
  const expected = {
    key: 'http.port',
    secret: false,
    isExpected: true,
    values: [value('1', ['broker-1']), value('2', ['broker-2'])],
  };
  const diff = (differences: object[], members: object[] = []) => ({
    roles: [
      {
        role: 'broker',
        nodes: ['broker-1', 'broker-2'],
        comparedKeys: 24,
        notCompared: ['user.password'],
        differences,
      },
    ],
    members,
  });
  const NOTES = [
    'porthole: broker: 2 nodes, 24 keys compared',
    'porthole:   1 key differs as expected; show with --expected',
    'porthole:   not compared (secret): user.password',
    '',
  ].join('\n');

  it('diff reports the nodes that differ from the majority', async () => {
    const node = await startClusterNode({ responses: { '/config/diff': diff([drifted, spelled, expected]) } });
    expect(await runCli(node, 'config', 'diff')).toEqual({
      code: 1,
      stdout: [
        'ROLE    KEY         MAJORITY  DIFFERS                NODES',
        'broker  query.slow  "30s"     "10s"                  broker-2',
        '                              (missing)              broker-4',
        'broker  query.idle  "5s"      "5000ms" (equivalent)  broker-3',
        '',
      ].join('\n'),
      stderr: NOTES,
    });
    const { stdout } = await runCli(node, 'config', 'diff', '--expected');
    expect(stdout).toContain('broker  http.port   (no majority)  "1"                    broker-1\n');
  });

  it('diff ignores values that are equivalent or expected to differ', async () => {
    const node = await startClusterNode({ responses: { '/config/diff': diff([spelled, expected]) } });
    expect(await runCli(node, 'config', 'diff')).toMatchObject({ code: 0, stderr: NOTES });
  });

  it.each([
    [[drifted], 1],
    [[], 3],
  ])('diff with a node missing and %j ends with %i', async (differences, code) => {
    const node = await startClusterNode({ responses: { '/config/diff': diff(differences, [REFUSED]) } });
    const outcome = await runCli(node, 'config', 'diff');
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(WARNING);
  });

  it('diff -o json prints the whole response, -o unified and a single name are rejected', async () => {
    const response = diff([drifted]);
    const node = await startClusterNode({ responses: { '/config/diff': response } });
    expect(JSON.parse((await runCli(node, 'config', 'diff', '-o', 'json', '--role', 'broker')).stdout)).toEqual({
      equal: false,
      ...response,
    });
    expect(node.requests).toEqual(['/config/diff?role=broker']);
    expect((await runCli(node, 'config', 'diff', '-o', 'unified')).stderr).toBe(
      'porthole: -o unified needs two configurations; use -o table or -o json for the cluster\n',
    );
    expect((await runCli(node, 'config', 'diff', 'a.toml')).stderr).toBe(
      'porthole: expected two configurations, or none to compare the whole cluster; got only a.toml\n',
    );
  });

  it('diff on a narrow terminal prints values below their key, untruncated', async () => {
    const node = await startClusterNode({ responses: { '/config/diff': diff([drifted]) } });
    const args = ['config', 'diff', '--color', 'never', '--url', node.url];
    const { output } = await runOnTerminal(args, { cwd: tempDir(), columns: 40 });
    expect(output).toContain(
      'broker query.slow\n    "30s"  broker-1, broker-3\n  ! "10s"  broker-2\n  ! (missing)  broker-4\n',
    );
  });

  it('get and diff take members by NODE:', async () => {
    const node = await startClusterNode({ responses: { '/config/settings': MEMBER_CONFIGS } });
    expect(await runCli(node, 'config', 'get', 'broker-2:', 'http.port', '-o', 'flat')).toEqual({
      code: 0,
      stdout: 'http.port = 2\n',
      stderr: '',
    });
    expect((await runCli(node, 'config', 'diff', 'broker-1:', 'broker-2:')).stdout).toBe(
      'key        broker-1:  broker-2:\nhttp.port  1          2\n',
    );
  });

  it('get and diff use what is known of a member that is gone, warn about its age and exit with 3', async () => {
    const node = await startClusterNode({ responses: { '/config/settings': MEMBER_CONFIGS } });
    const warning =
      'porthole: warning: broker-3: registration expired: no longer registered; shown as of 2026-11-15T12:00:00.000Z\n';
    expect(await runCli(node, 'config', 'get', 'broker-3:', 'http.port', '-o', 'flat')).toEqual({
      code: 3,
      stdout: 'http.port = 1\n',
      stderr: warning,
    });
    expect(await runCli(node, 'config', 'diff', 'broker-1:', 'broker-3:')).toEqual({
      code: 3,
      stdout: '',
      stderr: warning,
    });
    expect(await runCli(node, 'config', 'get', 'storage-1:')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'porthole: storage-1: no connection: connect ECONNREFUSED 10.8.0.31:7300\n',
    });
  });
});
