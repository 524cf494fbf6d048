import { codeOf } from '@porthole/contract';
import { scaled } from '@porthole/logs/testing';
import { GrpcConnection } from '@porthole/server/testing';
import { onTestFinished } from 'vitest';

/** Far above every timeout that the nodes are given. */
const HANGS_MS = scaled(20_000);

/** The node itself has failed, or has gone. */
const FAULTS: ReadonlySet<string> = new Set(['INTERNAL', 'UNREACHABLE']);

const CLUSTER = { cluster: { nodes: [], role: '', labels: [], store: '' } };
const SEARCH = { order: '', cursor: '', record: '', until: '', raw: false, fields: [] };

/** Calls a node over gRPC, and cancels some of the calls. What must not happen is added to `troubles`. */
export class GrpcCallers {
  readonly troubles: string[] = [];
  readonly #connection: GrpcConnection;
  readonly #random: () => number;

  constructor(port: number, random: () => number) {
    this.#connection = new GrpcConnection(port);
    this.#random = random;
    onTestFinished(() => this.#connection.close());
  }

  async call(): Promise<void> {
    const options = { signal: AbortSignal.timeout(this.#random() < 0.5 ? Math.ceil(this.#random() * 25) : HANGS_MS) };
    const calls = [
      () => this.#connection.call('GetConfig', {}, options),
      () => this.#connection.call('ListLogs', {}, options),
      () => this.#connection.call('CountLogs', CLUSTER, options),
      () => this.#connection.call('DigestLogs', { ...CLUSTER, only_new: false }, options),
      () => drain(this.#connection.stream('ViewLog', { file: 'service.log' }, options)),
      () => drain(this.#connection.stream('SearchLogs', { ...SEARCH, ...CLUSTER }, options)),
    ];
    const startedMs = performance.now();
    try {
      await calls[Math.floor(this.#random() * calls.length)]?.();
    } catch (error) {
      const tookMs = performance.now() - startedMs;
      if (tookMs >= HANGS_MS) this.troubles.push(`gRPC: no end within ${HANGS_MS} ms`);
      else if (FAULTS.has(codeOf(error)) && !options.signal.aborted) this.troubles.push(`gRPC: ${error}`);
    }
  }
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of messages);
}
