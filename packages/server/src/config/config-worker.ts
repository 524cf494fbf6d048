/* The thread that masks large configurations: runs tasks from its port, one after the other. */
import { parentPort } from 'node:worker_threads';
import { PortholeError } from '@porthole/contract';
import type { ConfigWorkerResponse } from './config-thread.ts';
import { TomlError } from './formats/toml-error.ts';
import { type ConfigTask, runConfigTask } from './run-config-task.ts';

const port = parentPort;
if (!port) throw new Error('this module runs in a worker thread');

port.on('message', async (task: ConfigTask) => port.postMessage(await respondTo(task)));

async function respondTo(task: ConfigTask): Promise<ConfigWorkerResponse> {
  try {
    return { result: await runConfigTask(task) };
  } catch (error) {
    if (error instanceof TomlError) return { toml: { reason: error.reason, line: error.line, column: error.column } };
    if (error instanceof PortholeError) return { problem: { code: error.code, message: error.message } };
    // Without its message, which may quote the text.
    return { problem: { code: 'INTERNAL', message: 'the configuration could not be masked' } };
  }
}
