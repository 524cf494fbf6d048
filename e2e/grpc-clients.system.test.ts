import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { serve } from './testing/program.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');
const SCRIPT = join(import.meta.dirname, 'testing/ask-node.py');
const EXAMPLE = join(root, 'examples/python/query_node.py');

/** The program itself, without the script that starts it: that would leave it running. */
const BUF_DIR = join(root, 'node_modules/@bufbuild');
const BUF = join(BUF_DIR, readdirSync(BUF_DIR).find((name) => name.startsWith('buf-')) ?? 'buf', 'bin/buf');

/** The Python that Debian's packages are installed for, whatever else is on the PATH. */
const PYTHON = '/usr/bin/python3';

const TEXT = [
  '2026-06-01 12:00:01.000\tINFO\tmain.go:1\t[Main]: one\n',
  '2026-06-01 12:00:02.000\tWARN\tmain.go:2\t[Main]: two ü\n',
].join('');

describe('a client in Python', () => {
  it('asks a node over gRPC, with code generated from the .proto or with nothing but its address', async () => {
    const programs = ensurePrograms(['python3-grpcio', 'protoc', 'grpc_python_plugin']);
    const cwd = tempDir();
    mkdirSync(join(cwd, 'logs'));
    writeFileSync(join(cwd, 'logs/a.log'), TEXT);
    const url = await serve(cwd, '--log-dir', 'logs').ready();
    const { node } = (await (await fetch(`${url}api/v1/config`)).json()) as { node: Record<string, unknown> };
    const address = `127.0.0.1:${node.grpcPort}`;

    // The example, as it says to run it.
    cpSync(EXAMPLE, join(cwd, 'query_node.py'));
    const plugin = `--plugin=protoc-gen-grpc=${programs.get('grpc_python_plugin')}`;
    const generate = [
      '-I',
      join(root, 'proto'),
      '--python_out=.',
      '--grpc_out=.',
      plugin,
      'porthole/v1/node_state.proto',
    ];
    await execute(programs.get('protoc') ?? '', generate, { cwd });
    const example = await execute(PYTHON, ['query_node.py', address], { cwd });
    expect(example.stdout.split('\n').slice(1)).toEqual([
      '1 times: two ü',
      expect.stringMatching(/^\d+ two ü$/),
      `exhausted: scanned ${Buffer.byteLength(TEXT)} bytes`,
      '',
    ]);

    const { stdout } = await execute(PYTHON, [SCRIPT, address]);
    expect(JSON.parse(stdout)).toEqual({
      services: expect.arrayContaining(['grpc.health.v1.Health', 'porthole.v1.NodeStateService']),
      limitIsOptional: true,
      httpPort: node.httpPort,
      sizeBytes: Buffer.byteLength(TEXT),
      text: TEXT,
      messages: ['two ü'],
      end: 'exhausted',
      failure: {
        status: 'NOT_FOUND',
        details: expect.stringContaining('"absent"'),
        code: 'LOG_FILE_NOT_FOUND',
      },
    });
  });
});

describe('buf curl', () => {
  /** What it prints until that is as expected or it ends: follows and watches never end by themselves. */
  async function curl(expected: RegExp, ...args: string[]): Promise<string> {
    const child = spawn(BUF, ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...args]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    await new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part: Buffer) => {
          text += part.toString();
          if (expected.test(text)) resolve();
        });
      child.once('close', resolve);
    });
    child.kill('SIGKILL');
    return text;
  }

  const REQUESTS: Readonly<Record<string, [request: object, answer: RegExp]>> = {
    'grpc.health.v1.Health/Check': [{}, /"status": "SERVING"/],
    'grpc.health.v1.Health/List': [{}, /"porthole.v1.NodeStateService"/],
    'grpc.health.v1.Health/Watch': [{ service: 'porthole.v1.NodeStateService' }, /"SERVING"/],
    'porthole.v1.NodeStateService/CountLogs': [{ filter: { terms: ['two'] } }, /"bucketMs"/],
    'porthole.v1.NodeStateService/CountValues': [{ by: 'level', filter: { query: 'two' } }, /"value": "WARN"/],
    'porthole.v1.NodeStateService/Describe': [{}, /"hostName"/],
    'porthole.v1.NodeStateService/DescribeLogs': [{}, /"name": "a.log"/],
    'porthole.v1.NodeStateService/DigestLogs': [{}, /"groups"/],
    'porthole.v1.NodeStateService/ExplainQuery': [{ query: 'level >= warn' }, /"query": "level>=warn"/],
    'porthole.v1.NodeStateService/FollowLogs': [{ back: 1 }, /"message": "two ü"/],
    'porthole.v1.NodeStateService/GetConfig': [{}, /"config"/],
    'porthole.v1.NodeStateService/GetConfigHistory': [{}, /"isComplete"/],
    'porthole.v1.NodeStateService/GetConfigVersion': [{ version: 'absent' }, /"not_found"/],
    'porthole.v1.NodeStateService/GetIncident': [{ selection: {} }, /"headline"/],
    'porthole.v1.NodeStateService/GetSettings': [{}, /"settings"/],
    'porthole.v1.NodeStateService/ListFields': [{}, /"name": "component"/],
    'porthole.v1.NodeStateService/ListLogs': [{}, /"name": "a.log"/],
    'porthole.v1.NodeStateService/ReadLog': [{ file: 'a.log' }, /"etag"/],
    'porthole.v1.NodeStateService/SearchLogs': [{ filter: { min_level: 'LEVEL_WARN' } }, /"message": "two ü"/],
    'porthole.v1.NodeStateService/StatLog': [{ file: 'absent' }, /"not_found"/],
    'porthole.v1.NodeStateService/ViewLog': [{ file: 'a.log' }, /"sizeBytes"/],
  };

  it('lists and calls every method by reflection, those of the health service included', async () => {
    const { running } = await startTestNode({ files: { 'a.log': TEXT } });
    const url = `http://127.0.0.1:${running.node.grpcPort}`;
    expect((await curl(/ViewLog\n/, '--list-methods', url)).trim().split('\n')).toEqual(Object.keys(REQUESTS));
    await Promise.all(
      Object.entries(REQUESTS).map(async ([method, [request, expected]]) => {
        const answer = await curl(expected, '-d', JSON.stringify(request), `${url}/${method}`);
        expect(`${method} ${answer}`).toMatch(expected);
      }),
    );
  });
});
