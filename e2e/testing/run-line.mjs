/*
 * Runs command lines of the built program in this process, each as if it had one of its own: starting a process takes ten
 * times as long as most commands. Tests of the process itself start the real one.
 */
import { globalAgent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../packages/cli/lib/main.js';

/** How long a command may take to let go of what would keep its process running. */
const END_MS = 60_000;

/** What a command may leave listeners on. */
const EMITTERS = [process, process.stdout, process.stderr];

const open = () => process.getActiveResourcesInfo().length;
const exit = process.exit;

/** Collects what it writes. */
export async function captureLine({ args, cwd, env }) {
  const written = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr']) {
    process[name].write = (chunk, encoding, done) => {
      written[name].push(Buffer.from(chunk));
      const callback = typeof encoding === 'function' ? encoding : done;
      if (callback) process.nextTick(callback);
      return true;
    };
  }
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  const code = await runLine(args);
  delete process.stdout.write;
  delete process.stderr.write;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, before);
  const text = (name) => Buffer.concat(written[name]).toString();
  return { code, signal: null, stdout: text('stdout'), stderr: text('stderr') };
}

/** Lets it write to where this process does. Resolves with its exit code. */
export async function runLine(args) {
  const idle = open();
  const listeners = EMITTERS.map((emitter) => emitter.eventNames().map((name) => [name, emitter.listeners(name)]));
  process.exitCode = undefined;
  const exited = new Promise((resolve) => {
    process.exit = (code) => {
      resolve(code ?? process.exitCode ?? 0);
      return new Promise(() => {});
    };
  });
  const code = await Promise.race([exited, runToItsEnd(args, idle)]);
  for (const listener of process.listeners('exit')) listener.call(process, code);
  for (const [index, emitter] of EMITTERS.entries()) restoreListeners(emitter, listeners[index]);
  process.exit = exit;
  process.exitCode = undefined;
  globalAgent.destroy();
  return code;
}

/** A process ends when nothing keeps it running. */
async function runToItsEnd(args, idle) {
  await run([process.execPath, 'porthole', ...args]);
  for (const until = performance.now() + END_MS; open() > idle; await delay(5))
    if (performance.now() > until)
      throw new Error(`${args.join(' ')} does not end: ${process.getActiveResourcesInfo()}`);
  return process.exitCode ?? 0;
}

function restoreListeners(emitter, before) {
  const known = new Map(before);
  for (const name of emitter.eventNames())
    for (const listener of emitter.listeners(name))
      if (!known.get(name)?.includes(listener)) emitter.removeListener(name, listener);
}
