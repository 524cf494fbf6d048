import { execFileSync, spawnSync } from 'node:child_process';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';
import { BINARY, Program } from './testing/program.ts';

/** A network of its own for this process of tests; documentation addresses, which nobody has. */
const NETWORKS = [
  { id: 'left', space: `porthole-l-${process.pid}`, link: `phl${process.pid % 1e6}`, ip: '192.0.2.1' },
  { id: 'right', space: `porthole-r-${process.pid}`, link: `phr${process.pid % 1e6}`, ip: '192.0.2.2' },
] as const;

type TestNetwork = (typeof NETWORKS)[number];

const [LEFT, RIGHT] = NETWORKS;

const inside = ({ space }: TestNetwork) => ['ip', 'netns', 'exec', space];

/** Namespaces need rights that not every machine gives. */
it.runIf(canMakeNetworks())(
  'a cable between two nodes is cut and mended: each says who is missing, then nothing is',
  async () => {
    connectNetworks();
    const [left, right] = await Promise.all(NETWORKS.map(startNode));
    if (!left || !right) throw new Error('not started');
    left.write('before');
    for (const network of NETWORKS)
      await eventually(() => expect(statesBy(network)).toEqual({ left: 'up', right: 'up' }));
    const [ip = '', ...words] = [...inside(LEFT), process.execPath, BINARY, 'logs', '--all', '-f', '--url', left.url];
    const followed = new Program(words, { cwd: left.cwd, command: ip });
    await eventually(() => expectFollowed(followed, right, 'with a cable'));

    setLink(RIGHT, 'down');
    for (const network of NETWORKS) {
      const other = network === LEFT ? 'right' : 'left';
      await eventually(() => expect(statesBy(network)).toEqual({ [network.id]: 'up', [other]: 'unreachable' }));
    }
    right.write('written while it was cut off');
    await eventually(() => expectFollowed(followed, left, 'without a cable'));

    setLink(RIGHT, 'up');
    for (const network of NETWORKS)
      await eventually(() => expect(statesBy(network)).toEqual({ left: 'up', right: 'up' }));
    await eventually(() => expect(followed.stdout).toContain('written while it was cut off'));

    // No packet arrives, and nothing says so: the follow does.
    const known = followed.stderr.length;
    for (const [from, to] of [NETWORKS, NETWORKS.toReversed()] as const) loseAll(from, to, 'replace');
    right.write('into a black hole');
    await eventually(() => expect(followed.stderr.slice(known)).toMatch(/right.*sent no byte for 5000 ms/));
    expect(followed.stdout).not.toContain('into a black hole');
    await eventually(() => expectFollowed(followed, left, 'beside a black hole'));
    for (const [from, to] of [NETWORKS, NETWORKS.toReversed()] as const) loseAll(from, to, 'del');
    await eventually(() => expect(followed.stdout).toContain('into a black hole'));
  },
);

function canMakeNetworks(): boolean {
  const name = `porthole-try-${process.pid}`;
  const may =
    spawnSync('ip', ['netns', 'add', name]).status === 0 && spawnSync('ip', ['netns', 'del', name]).status === 0;
  if (!may) console.warn('this process may not make networks: tests that need one are skipped');
  return may;
}

function ip(...args: string[]): void {
  // programs: ip
  execFileSync('ip', args, { stdio: 'pipe' });
}

function connectNetworks(): void {
  for (const { space } of NETWORKS) {
    ip('netns', 'add', space);
    onTestFinished(() => ip('netns', 'del', space));
  }
  ip('link', 'add', LEFT.link, 'netns', LEFT.space, 'type', 'veth', 'peer', 'name', RIGHT.link, 'netns', RIGHT.space);
  for (const network of NETWORKS) {
    ip('-n', network.space, 'addr', 'add', `${network.ip}/24`, 'dev', network.link);
    ip('-n', network.space, 'link', 'set', 'lo', 'up');
    setLink(network, 'up');
  }
}

function setLink({ space, link }: TestNetwork, state: 'up' | 'down'): void {
  ip('-n', space, 'link', 'set', link, state);
}

/** Packets to the other side go to a machine that does not exist; or no longer. */
function loseAll({ space, link }: TestNetwork, to: TestNetwork, how: 'replace' | 'del'): void {
  const machine = how === 'del' ? [] : ['lladdr', '02:00:00:00:00:01', 'nud', 'permanent'];
  ip('-n', space, 'neigh', how, to.ip, 'dev', link, ...machine);
}

function startNode(network: TestNetwork): Promise<ClusterProcess> {
  const members = NETWORKS.map(({ id, ip: address }) => `${id}=http://${address}:7300`).join(',');
  const flags = [
    '--http-host',
    network.ip,
    '--http-port',
    '7300',
    '--auth-allow-anonymous',
    '--cluster-members',
    members,
  ];
  return ClusterProcess.start(network.id, { flags, through: [...inside(network), process.execPath, BINARY] });
}

/** Asked from within its network, by the program itself. */
function statesBy(network: TestNetwork): Record<string, string> {
  const [command = '', ...words] = inside(network);
  const args = [...words, process.execPath, BINARY, 'nodes', '-o', 'json', '--url', `http://${network.ip}:7300`];
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
  const nodes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; state: string });
  return Object.fromEntries(nodes.map(({ id, state }) => [id, state]));
}

async function expectFollowed(followed: Program, node: ClusterProcess, text: string): Promise<void> {
  node.write(text);
  await eventually(() => expect(followed.stdout).toContain(text), { withinMs: 1000 });
}
