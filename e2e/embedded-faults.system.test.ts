import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const HOST = join(import.meta.dirname, 'testing/embedding/faulty-host.mjs');

async function runHost(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [HOST, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
}

/** The code that the program exits with at its end. */
const AT_ITS_END = { code: 7, stdout: 'the host goes on\n', stderr: '' };

describe('a program that embeds a node', () => {
  it.each([
    'createNode, own error',
    'createNode, own rejection',
    'startNode, own error',
    'startNode, own error, exits with unexpected errors',
  ])('goes on when the code of the node fails: %s', async (words) => {
    expect(await runHost(...words.split(', '))).toEqual(AT_ITS_END);
  });

  it.each(['host error', 'host rejection'])('ends with an unexpected %s as it does without a node', async (fault) => {
    const [alone, embedding] = await Promise.all([runHost('none', fault), runHost('createNode', fault)]);
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('TypeError: a mistake of the host') });
    expect(embedding).toEqual(alone);
  });

  it('deals with its own errors itself, if it does so', async () => {
    expect(await runHost('createNode', 'host error', 'listens')).toMatchObject({ code: 42, stdout: '' });
  });

  it('ends with an error of a call of its own that it does not catch', async () => {
    const { code, stderr } = await runHost('createNode', 'host call');
    expect(code).toBe(1);
    expect(stderr).toContain('no log file named "none.log"');
  });
});
