import { ownVersion } from '@porthole/server/version';
import { EXIT, interruptSignal } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { openNode } from '../sources/open-node.ts';

export async function run(invocation: Invocation): Promise<number> {
  const client = await openNode(invocation);
  // Loaded on demand: nothing else needs the protocol.
  const { serveMcpOnStdio } = await import('@porthole/server/mcp');
  await serveMcpOnStdio(client, {
    version: ownVersion(),
    input: process.stdin,
    output: process.stdout,
    signal: interruptSignal(),
    onError: (error) => invocation.terminal.warn(error.message),
  });
  return EXIT.ok;
}
