import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { NodeClient } from '@porthole/client';
import { createMcpServer } from './create-mcp-server.ts';

export interface StdioOptions {
  version: string;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
  /** Called with errors that no message reports. */
  onError(error: Error): void;
}

/** Serves an assistant that has started this process, until its input ends or the signal. */
export async function serveMcpOnStdio(client: NodeClient, options: StdioOptions): Promise<void> {
  const { version, input, output, signal, onError } = options;
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createMcpServer(client, version), { transport, onerror: onError });
  await ended;
  await handle.close();
}
