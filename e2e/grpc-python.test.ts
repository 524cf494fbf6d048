import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { serve, tempDir } from './testing/program.ts';

const SCRIPT = join(import.meta.dirname, 'testing/ask-node.py');

/** The Python that Debian's packages are installed for, whatever else is on the PATH. */
const PYTHON = '/usr/bin/python3';

const TEXT = [
  '2026-06-01 12:00:01.000\tINFO\tmain.go:1\t[Main]: one\n',
  '2026-06-01 12:00:02.000\tWARN\tmain.go:2\t[Main]: two ü\n',
].join('');

describe('a client of another language', () => {
  it('asks a node over gRPC with nothing but its address', async () => {
    ensurePrograms(['python3-grpcio']);
    const cwd = tempDir();
    mkdirSync(join(cwd, 'logs'));
    writeFileSync(join(cwd, 'logs/a.log'), TEXT);
    const url = await serve(cwd, '--log-dir', 'logs').ready();
    const { node } = (await (await fetch(`${url}api/v1/config`)).json()) as { node: Record<string, unknown> };
    const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, `127.0.0.1:${node.grpcPort}`]);
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
