import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** How long what was started may take to end in order. */
const GRACE_MS = 5000;

/** What is running. */
const children = new Set();

/**
 * Runs a program with our terminal, in a process group of its own: a signal that ends this process ends all that it
 * started, and nothing is left running. Resolves with its exit code.
 */
export function runGroup(command, args, { cwd, env = {} }) {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, detached: true };
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
    const onSignal = (name) => {
      endGroup(child.pid, name);
      const timer = setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE_MS);
      child.once('exit', () => {
        clearTimeout(timer);
        endGroup(child.pid, 'SIGKILL');
        if (children.size === 0) process.exit(128 + constants.signals[name]);
      });
    };
    children.add(child);
    const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const name of names) process.once(name, onSignal);
    const done = (settle) => (value) => {
      children.delete(child);
      for (const name of names) process.off(name, onSignal);
      settle(value);
    };
    child.once('error', done(reject));
    child.once('exit', (status) => done(resolve)(status));
  });
}

function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
