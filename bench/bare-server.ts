import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, ROOT } from './context.ts';
import { startProgram } from './program.ts';

const READY_LINE = /^ready at (http\S+)$/m;

/** Set by Node for every response. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

/** A plain `node:http` server that has the responses of a node to these paths ready, headers included. */
export async function startBareServer(context: BenchContext, node: string, paths: readonly string[]): Promise<string> {
  const responses = await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${node}${path}`);
      const body = Buffer.from(await response.arrayBuffer());
      const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.has(name));
      const length = { 'content-length': String(body.length) };
      return { path, headers: { ...Object.fromEntries(headers), ...length }, body: body.toString('base64') };
    }),
  );
  const file = join(context.tempDir(), 'responses.json');
  writeFileSync(file, JSON.stringify(responses));
  return startReady(context, ['bench/bare-server.mjs', file]);
}

/** A server of grpc-js whose `method` sends prepared messages with so many bytes in all; resolves to its port. */
export async function startBareGrpcServer(
  context: BenchContext,
  { method, totalBytes, messageBytes }: { method: string; totalBytes: number; messageBytes: number },
): Promise<number> {
  const args = ['bench/bare-grpc-server.mjs', method, String(totalBytes), String(messageBytes)];
  return Number(new URL(await startReady(context, args)).port);
}

function startReady(context: BenchContext, args: readonly string[]): Promise<string> {
  context.recordCommand(['node', ...args]);
  const server = startProgram([process.execPath, ...args], context.cleanup, { cwd: ROOT });
  return new Promise((resolve, reject) => {
    server.child.stdout?.on('data', () => {
      const url = READY_LINE.exec(server.output)?.[1];
      if (url !== undefined) resolve(url);
    });
    const onEnd = () => reject(new Error(`the bare server ended before it was ready\n${server.output}`));
    server.exited.then(onEnd, onEnd);
  });
}
