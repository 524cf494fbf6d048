/* A program that embeds a node, in which something is thrown that nobody catches: `faulty-host.mjs NODE FAULT [LISTENS]`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [nodeKind, fault, listens] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), 'porthole-host-'));
process.on('exit', () => rmSync(dir, { recursive: true }));
if (listens) process.on('uncaughtException', () => process.exit(42));

/** The node's heartbeat comes at once, and fails: a mistake in its own code. */
const { setInterval: start } = globalThis;
const { memoryUsage } = process;
const beats = {
  'own error': (beat) => start(beat, 10),
  'own rejection': (beat) => {
    void Promise.resolve().then(beat);
    return start(() => {}, 60_000);
  },
}[fault];
const node = await openNode();
if (beats) await seeFault(node);
else await throwOwn();
await node?.close();
process.exitCode = 7;

async function openNode() {
  if (nodeKind === 'none') return undefined;
  const porthole = await import('porthole');
  const ports = nodeKind === 'startNode' ? { http: { port: 0 }, grpc: { enabled: false } } : {};
  const settings = { logging: { dir }, service: { logDir: dir }, ...ports };
  if (beats) {
    process.memoryUsage = undefined;
    globalThis.setInterval = (run, ms) => (ms === 60_000 ? beats(run) : start(run, ms));
  }
  return porthole[nodeKind]({ settings });
}

async function seeFault({ fetch }) {
  while (!readFileSync(join(dir, 'porthole.log'), 'utf8').includes('belongs to no request')) await sleep(10);
  process.memoryUsage = memoryUsage;
  const response = await fetch(new Request('http://localhost/metrics'), { address: '127.0.0.1' });
  const [, faults] = /^porthole_process_faults_total (\d+)$/m.exec(await response.text());
  process.stdout.write(faults > 0 ? 'the host goes on\n' : 'the fault was not counted\n');
}

async function throwOwn() {
  if (fault === 'host call') return node.state.viewLog({ file: 'none.log', sizeBytes: 1 });
  const mistake = () => {
    throw new TypeError('a mistake of the host');
  };
  if (fault === 'host rejection') void Promise.resolve().then(mistake);
  else setTimeout(mistake, 0);
  await sleep(200);
  process.stdout.write('the host goes on\n');
}
