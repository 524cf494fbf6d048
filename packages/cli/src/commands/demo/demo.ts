import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNode } from '@porthole/server';
import { EXIT } from '../../exit-codes.ts';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { DEMO_CONFIG } from './demo-config.ts';
import { type WrittenLog, writeHistory, writeOn } from './write-records.ts';

/** Always the same story. */
const SEED = 7300;

const DEFAULT_RATE = 20;

export async function run(invocation: Invocation): Promise<number> {
  const interrupted = interruptSignal();
  const dir = mkdtempSync(join(tmpdir(), 'porthole-demo-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  // Also when a second signal ends the process at once.
  process.once('exit', remove);
  try {
    const logs = writeFiles(dir);
    const node = await startNode({ flags: portFlags(invocation), settings: settingsFor(dir) });
    try {
      await invocation.terminal.write(`porthole is ready at ${node.url}\n`);
      tellWhatToTry(invocation, node.url);
      await writeOn(logs, invocation.number('rate') ?? DEFAULT_RATE, interrupted);
    } finally {
      await node.stop();
    }
  } finally {
    remove();
  }
  return EXIT.ok;
}

function writeFiles(dir: string): WrittenLog[] {
  const logDir = join(dir, 'log');
  mkdirSync(logDir);
  writeFileSync(join(dir, 'broker.toml'), DEMO_CONFIG);
  return writeHistory(logDir, { seed: SEED, nowMs: Date.now() });
}

/** As flags, so that what is wrong with a port is told as "porthole serve" tells it. */
function portFlags(invocation: Invocation): Record<string, string> {
  const [http, grpc] = [invocation.text('http-port'), invocation.text('grpc-port')];
  return { ...(http !== undefined && { 'http.port': http }), ...(grpc !== undefined && { 'grpc.port': grpc }) };
}

function settingsFor(dir: string) {
  return {
    node: { hostName: 'demo-broker-1' },
    service: { logDir: join(dir, 'log'), configFile: join(dir, 'broker.toml') },
    logging: { dir: join(dir, 'porthole') },
  };
}

function tellWhatToTry({ terminal }: Invocation, url: string): void {
  const address = url.replace(/\/$/, '');
  const option = address.endsWith(':7300') ? '' : ` --url ${address}`;
  terminal.note('this is a made-up database node; open the address above, or try in another terminal:');
  terminal.note(`  porthole logs -f -l warn${option}`);
  terminal.note(`  porthole logs search "could not be sent"${option}`);
  terminal.note(`  porthole logs digest -l warn${option}`);
  terminal.note(`  porthole logs histogram${option}`);
  terminal.note(`  porthole config get broker${option}`);
  terminal.note('Ctrl-C ends it and removes everything it wrote');
}
