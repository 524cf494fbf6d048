import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ClientError, type ClientOptions, createClient } from '@porthole/client';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startGuardedNode, startTestNode } from '@porthole/server/testing';
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

/** The TypeScript in a document, with other addresses and files than a reader has. */
function readCode(path: string, replaced: Readonly<Record<string, string>>): string[] {
  const blocks = [...read(path).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  return blocks.map((block) =>
    Object.entries(replaced).reduce((code, [from, to]) => code.replaceAll(from, () => to), block),
  );
}

it('the code of docs/sdk.md and of the READMEs runs as it stands there', async () => {
  const { running } = await serve();
  const secured = await startGuardedNode();
  const client = secured.issueCertificate('viewer');
  const replaced = {
    'http://127.0.0.1:7300': running.url,
    'https://127.0.0.1:7300': secured.running.url,
    'ca.pem': secured.authority.certFile,
    'client.pem': client.certFile,
    'client-key.pem': client.keyFile,
  };
  const blocks = readCode('docs/sdk.md', replaced);
  expect(blocks).toHaveLength(10);
  const [readme = ''] = readCode('README.md', replaced).filter((code) => code.includes('@porthole/client'));
  const [packageReadme = ''] = readCode('packages/client/README.md', replaced);
  const folder = tempDir();
  writeFileSync(join(folder, 'readme.mts'), readme);
  writeFileSync(join(folder, 'package-readme.mts'), packageReadme);
  const program = join(folder, 'program.mts');
  const others = "import './readme.mts';\nimport './package-readme.mts';\nconsole.log('---');\n";
  writeFileSync(program, `${blocks.join('\n')}${others}`);
  // Packages of others are found from here.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { stdout } = await promisify(execFile)(TSX, [...SOURCE, program], { cwd: root });
  const lines = stdout.split('\n');
  expect(lines.filter((line) => line === 'timeout of shard 3')).toHaveLength(2); // of the two READMEs
  expect(stdout).toMatch(/^broker-0 runs \d/m);
  expect(lines).toContain(`porthole.log ${LOG.length}`);
  expect(stdout).toContain(LOG);
  expect(lines).toContain('end []');
  expect(lines).toContain('exhausted 1');
  expect(lines).toContain('ERROR timeout of shard 3');
  expect(lines).toContain('0 others, exact');
  expect(lines).toContainEqual(expect.stringMatching(/^\S+ \d+ timeout of shard 3$/));
  expect(lines).toContainEqual(expect.stringMatching(/^asked \S+: ok/));
  expect(lines).toContain('over TLS 0');
  expect(lines.at(-3)).toContain(`GET ${running.url}api/v1/log/view?file=no-such.log: `);
  // Without its authority and certificate it is an error that says so.
  const error = await createClient({ url: secured.running.url, retries: 0 })
    .listLogs()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ClientError', code: 'UNREACHABLE', failure: 'tls', isRetryable: true });
  expect((error as ClientError).systemCode).toMatch(/CERT|SIGNATURE/);
});

it('docs/sdk.md lists exactly the options', () => {
  const [, section = ''] = read('docs/sdk.md').split('## Options\n');
  const documented = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
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
  // Not by the program tsx: on a busy machine it does not wait for what it runs, and ends it.
  const args = ['--import', 'tsx', 'examples/query-a-node.ts', running.url];
  const env = { ...process.env, TSX_TSCONFIG_PATH: SOURCE[1] };
  const child = spawn(process.execPath, args, { cwd: root, env });
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
