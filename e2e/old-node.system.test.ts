import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { installTools } from './testing/install-tools.ts';
import { BINARY } from './testing/program.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** Of the first one Debian 12 has a version; the second one does not understand much of today's syntax. No later ones are for arm64. */
const VERSIONS = process.arch === 'arm64' ? ['18.20.8'] : ['18.20.8', '12.22.12'];

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** Every command that is listed in docs/cli.md. */
const COMMANDS = [...readFileSync(join(root, 'docs/cli.md'), 'utf8').matchAll(/^### porthole (.*)$/gm)].map(
  ([, name = '']) => name.split(' '),
);

describe.each(VERSIONS)('Node.js %s', (version) => {
  let node: string;

  beforeAll(async () => {
    const name = `node-linux-${process.arch}`;
    node = join(await installTools({ [name]: version }), name, 'bin/node');
  });

  const run = (file: string, ...args: string[]) =>
    execute(file, args, { cwd: root, env: { PATH: [dirname(node), process.env.PATH].join(delimiter) } }).then(
      () => 'succeeded',
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    );

  const sentence = { code: 2, stdout: '', stderr: `porthole needs Node 20.19 or newer, this is ${version}\n` };

  it('is answered by one sentence, whatever the command', async () => {
    expect(COMMANDS.length).toBeGreaterThan(20);
    for (const words of [[], ['--version'], ['--help'], ['no-such-command'], ...COMMANDS])
      expect(await run(node, BINARY, ...words), words.join(' ')).toEqual(sentence);
  });

  it.each(['start', 'test'])('is answered by the same sentence by npm %s in a checkout', async (script) => {
    expect(await run('sh', '-c', scripts[script] ?? '')).toEqual(sentence);
  });
});
