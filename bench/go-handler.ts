import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../scripts/programs.mjs';
import { type BenchContext, ROOT } from './context.ts';
import { runProgram, startProgram } from './program.ts';

const SOURCE = 'bench/go-handler/main.go';

/** Nothing is fetched: the handler uses the standard library only. */
const BUILD_ENV = { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };

const READY_LINE = /^ready at (http\S+)$/m;

export interface GoSite {
  /** The log directory. */
  dir: string;
  /** The configuration it returns, as TOML text. */
  config: string;
}

/** The base URL of a node of the contract written in Go; `undefined` if there is no Go to build it with. */
export async function startGoHandler(context: BenchContext, { dir, config }: GoSite): Promise<string | undefined> {
  const go = findProgram('go');
  if (go === undefined) return undefined;
  const temp = context.tempDir();
  const [program, configFile] = [join(temp, 'go-handler'), join(temp, 'config.toml')];
  writeFileSync(configFile, config);
  context.log('  building the Go handler');
  const build = [go, 'build', '-o', program, SOURCE];
  context.recordCommand(['go', ...build.slice(1)]);
  await runProgram(build, context.cleanup, { cwd: ROOT, env: { ...process.env, ...BUILD_ENV } });
  const command = [program, dir, configFile];
  context.recordCommand(command);
  const server = startProgram(command, context.cleanup);
  return new Promise((resolve, reject) => {
    server.child.stdout?.on('data', () => {
      const url = READY_LINE.exec(server.output)?.[1];
      if (url !== undefined) resolve(url);
    });
    const onEnd = () => reject(new Error(`the Go handler ended before it was ready\n${server.output}`));
    server.exited.then(onEnd, onEnd);
  });
}
