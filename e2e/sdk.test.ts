import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ClientOptions } from '@porthole/client';
import { eventually } from '@porthole/logs/testing';
import { startTestNode, tempDir } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..');
const TSX = join(root, 'node_modules', '.bin', 'tsx');
/** Packages resolve to their source, as in all tests. */
const SOURCE = ['--tsconfig', join(root, 'tsconfig.check.json')];

const LOG =
  '2026-11-15 10:00:00.000\tERROR\tflow/write.go:88\t[Broker] [Flow]: timeout of shard 3\n' +
  '2026-11-15 10:00:01.000\tINFO\tmain.go:1\t[Porthole] [Node]: the node is ready\n';

const serve = () =>
  startTestNode({ files: { 'porthole.log': LOG }, settings: { node: { timeZone: 'UTC', hostName: 'broker-0' } } });

it('the code of docs/sdk.md runs as it stands there', async () => {
  const { running } = await serve();
  const blocks = [...read('docs/sdk.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  expect(blocks).toHaveLength(6);
  const program = join(tempDir(), 'program.mts');
  writeFileSync(program, blocks.join('\n').replaceAll('http://127.0.0.1:7300', running.url));
  const { stdout } = await promisify(execFile)(TSX, [...SOURCE, program], { cwd: root });
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^broker-0 runs \d/);
  expect(lines).toContain(`porthole.log ${LOG.length}`);
  expect(stdout).toContain(LOG);
  expect(lines).toContain('exhausted 2');
  expect(lines).toContain('ERROR timeout of shard 3');
  expect(lines).toContainEqual(expect.stringMatching(/^\S+ \d+ timeout of shard 3$/));
  expect(lines).toContainEqual(expect.stringMatching(/^asked \S+: ok/));
  expect(lines.at(-2)).toContain(`GET ${running.url}api/v1/log/view?file=no-such.log&size=1000: `);
});

it('docs/sdk.md lists exactly the options', () => {
  const documented = [...read('docs/sdk.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  // Does not compile with one missing.
  const options: Record<keyof Required<ClientOptions>, true> = {
    url: true,
    token: true,
    headers: true,
    fetch: true,
    timeoutMs: true,
    stallMs: true,
    retries: true,
    backoffMs: true,
    maxBackoffMs: true,
    maxItemBytes: true,
    responseBudget: true,
    remoteTexts: true,
  };
  expect(documented).toEqual(Object.keys(options));
});

it('examples/query-a-node.ts prints recent errors and new records', async () => {
  const { running } = await serve();
  const child = spawn(TSX, [...SOURCE, 'examples/query-a-node.ts', running.url], { cwd: root });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = collectOutput(child);
  await eventually(() => expect(output()).toContain('porthole.log INFO the node is ready'));
  expect(output()).toContain('1 times ERROR: timeout of shard 3');
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect({ code, output: output() }).toMatchObject({ code: 0, output: expect.stringContaining('(end)') });
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr])
    stream?.on('data', (part: Buffer) => {
      text += part.toString();
    });
  return () => text;
}
