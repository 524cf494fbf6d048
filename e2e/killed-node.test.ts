import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { startLindbNode } from './testing/lindb-node.ts';
import { Program, tempDir } from './testing/program.ts';

it('copies of logs of members that a killed node leaves are removed when a node starts', async () => {
  const cwd = tempDir();
  const TMPDIR = join(cwd, 'tmp');
  mkdirSync(TMPDIR);
  const copies = () => readdirSync(TMPDIR).filter((name) => name.startsWith('porthole-tails-'));
  const member = await startLindbNode({ 'a.log': '2026-11-15 10:00:00.000\tINFO\ta.go:1\ttext\n'.repeat(9) });
  const flags = ['--http-port', '0', '--grpc-port', '0', '--cluster-members', `lindb=${member}`];
  const start = () => new Program(['serve', ...flags], { cwd, env: { TMPDIR } });
  const search = async (url: string) => expect((await fetch(`${url}api/v1/cluster/log/search`)).status).toBe(200);

  const killed = start();
  await search(await killed.ready());
  await eventually(() => expect(copies()).not.toEqual([]));
  const left = copies();
  killed.kill('SIGKILL');
  await killed.end();
  expect(copies()).toEqual(left);

  const next = start();
  await search(await next.ready());
  await eventually(() => expect(copies().filter((name) => left.includes(name))).toEqual([]));
  await eventually(() => expect(copies()).not.toEqual([]));
  next.kill('SIGTERM');
  await next.end();
  expect(copies()).toEqual([]);
});
