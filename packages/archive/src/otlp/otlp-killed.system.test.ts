import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProgram, eventually } from '@porthole/logs/testing';
import { runs, tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { OtlpReceiver } from './testing/otlp-receiver.ts';

/** Kills between what the receiver has taken and what the node knows of it; `MORE=5` is 20 of them. */
const KILLS = runs(4);

const LINES = 1500;

async function killNode(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

it('nothing is lost when the node is killed before it knows that a batch was taken, and only that batch comes twice', async () => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  const [dir, positions] = [tempDir(), tempDir()];
  const path = join(dir, 'a.log');
  const program = bundleProgram("import './otlp-process.ts';", join(import.meta.dirname, 'testing'));
  const startNode = async () => {
    const child = fork(program, [receiver.url, dir, positions], { execArgv: [] });
    await once(child, 'message');
    return child;
  };
  let count = 0;
  const write = () => {
    let text = '';
    for (let index = 0; index < LINES; index++, count++)
      text += `${new Date(Date.UTC(2026, 5, 1) + count).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:7\tline ${count}\n`;
    appendFileSync(path, text);
  };
  let node: ChildProcess | undefined;
  onTestFinished(async () => {
    if (node) await killNode(node);
  });
  const repeated: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    write();
    if (kill % 2 === 1) renameSync(path, `${path}.${KILLS - kill}`);
    let requests = 0;
    let stopped: (() => void) | undefined;
    const isTaken = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    // The second one is taken, and the node never gets the response.
    receiver.behaviour = (request) => {
      if (++requests < 2) return undefined;
      if (requests === 2) {
        receiver.taken.push(request);
        stopped?.();
      }
      return 'handled';
    };
    node = await startNode();
    await isTaken;
    await killNode(node);
    repeated.push(receiver.taken.length - 1);
  }
  receiver.behaviour = () => undefined;
  write();
  node = await startNode();
  await eventually(() => expect(receiver.bodies.at(-1)).toBe(`line ${count - 1}`));
  // The batch that was in flight comes again, first and byte for byte.
  for (const index of repeated) {
    const [first, again] = [receiver.taken[index], receiver.taken[index + 1]];
    expect(again?.bytes.equals(first?.bytes ?? Buffer.alloc(0))).toBe(true);
  }
  const distinct = receiver.taken.filter((_, index) => !repeated.includes(index)).flatMap(({ records }) => records);
  expect(distinct.map(({ body }) => body?.stringValue)).toEqual(
    Array.from({ length: count }, (_, index) => `line ${index}`),
  );
  expect(new Set(distinct.map(({ attributes }) => attributes['log.record.uid'])).size).toBe(count);
});
