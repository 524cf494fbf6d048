import type { BenchContext } from './context.ts';
import { runProgram, showCommand } from './program.ts';

/** wrk's own two seconds are short for sixteen answers of 16 MiB at once on a small machine. */
const TIMEOUT_SECONDS = 20;

export interface Load {
  url: string;
  connections: number;
  /** e.g. `Range: bytes=-4096` */
  header?: string;
  /** A file in Lua that makes the requests. */
  script?: string;
}

/** Tries of a round in which no response was complete, on a machine that is busy with other things. */
const MOST_TRIES = 3;

/** Loads one URL for some seconds and gives the requests per second. Rejects when any answer was an error: those are quick to give and count for nothing. */
export async function runWrk(context: BenchContext, load: Load, seconds: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    const args = wrkArgs(load, seconds * tries);
    const output = await runProgram([context.peer('wrk'), ...args], context.cleanup);
    const trouble = /^.*(?:Non-2xx|Socket errors).*$/m.exec(output)?.[0];
    const isEmpty = /Requests\/sec:\s+0\.00\s/.test(output);
    if (isEmpty && tries < MOST_TRIES) continue;
    if (trouble !== undefined || isEmpty)
      throw new Error(`${showCommand(['wrk', ...args])}: ${trouble?.trim() ?? 'no response'}`);
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
    if (!(rate > 0)) throw new Error(`wrk gave no rate:\n${output}`);
    return rate;
  }
}

/** Puts the command of a measured round into the report. */
export function recordLoad(context: BenchContext, load: Load): void {
  context.recordCommand(['wrk', ...wrkArgs(load, context.effort.roundSeconds)]);
}

function wrkArgs({ url, connections, header, script }: Load, seconds: number): string[] {
  const extra = header === undefined ? [] : ['-H', header];
  if (script !== undefined) extra.push('-s', script);
  return ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', `${TIMEOUT_SECONDS}s`, ...extra, url];
}
