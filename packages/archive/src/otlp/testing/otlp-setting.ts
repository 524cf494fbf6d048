import { join } from 'node:path';
import { LogDir, type Scrubbing } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { onTestFinished } from 'vitest';
import { LogShipper, type ShipperOptions } from '../../ship/log-shipper.ts';
import { type OtlpOptions, OtlpSink } from '../otlp-sink.ts';
import { OtlpReceiver } from './otlp-receiver.ts';

export const SOURCE: OtlpOptions['source'] = {
  resource: [
    ['service.name', 'shop'],
    ['service.instance.id', 'n'],
  ],
  scope: { name: 'porthole', version: '1.2.3' },
};

export type OtlpTestOptions = Partial<OtlpOptions> & Partial<ShipperOptions> & { scrubbing?: Scrubbing };

/** A node that sends its logs to a receiver. */
export class OtlpSetting {
  readonly dir = tempDir();
  readonly positionsDir = tempDir();
  readonly path = join(this.dir, 'a.log');
  readonly receiver: OtlpReceiver;
  readonly refusals: { records: number; detail: string }[] = [];
  /** What was waited for between attempts. */
  readonly waits: number[] = [];
  #opened: { shipper: LogShipper; logs: LogDir; sink: OtlpSink } | undefined;

  private constructor(receiver: OtlpReceiver) {
    this.receiver = receiver;
  }

  static async create(): Promise<OtlpSetting> {
    const setting = new OtlpSetting(await OtlpReceiver.start());
    onTestFinished(async () => {
      await setting.stop();
      await setting.receiver.stop();
    });
    return setting;
  }

  async start({ scrubbing, ...options }: OtlpTestOptions = {}): Promise<LogShipper> {
    const logs = new LogDir(this.dir, { threads: SHARED_THREADS, ...(scrubbing && { scrubbing }) });
    const sink = new OtlpSink({
      url: this.receiver.url,
      encoding: 'protobuf',
      compression: 'gzip',
      timeoutMs: 20_000,
      batchBytes: 1024 ** 2,
      source: SOURCE,
      version: '1.2.3',
      ...options,
    });
    const shipper = LogShipper.open({
      logs,
      sink,
      positionsDir: this.positionsDir,
      ...{ cluster: 'c', node: 'n', role: 'storage' },
      intervalMs: () => 30,
      settleMs: 30,
      sleep: async (ms) => {
        this.waits.push(ms);
        await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))); // pause: a shorter one
      },
      onRefused: (refusal) => this.refusals.push(refusal),
      ...options,
    });
    this.#opened = { shipper, logs, sink };
    return shipper;
  }

  async stop(): Promise<void> {
    await this.#opened?.shipper.close();
    await this.#opened?.logs.close();
    this.#opened?.sink.close();
    this.#opened = undefined;
  }
}
