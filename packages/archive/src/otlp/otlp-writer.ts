import type { FoundRecord } from '@porthole/logs/types';
import { LineWriter, type ShippedFile } from '../ship/line-writer.ts';
import type { OtlpFormat } from './otlp-format.ts';
import { originOf, type RecordOrigin, toOtlpRecord } from './otlp-record.ts';

/** Writes LogRecords of OTLP. */
export class OtlpWriter extends LineWriter {
  readonly #format: OtlpFormat;
  readonly #isEvents: boolean;
  #origin: RecordOrigin = { attributes: [], id: '' };
  #observedMs = 0;

  constructor(format: OtlpFormat, isEvents: boolean) {
    super();
    this.#format = format;
    this.#isEvents = isEvents;
  }

  override setFile(lineStart: Buffer, file: ShippedFile, shippedMs: number): void {
    super.setFile(lineStart, file, shippedMs);
    this.#origin = originOf(file);
    this.#observedMs = shippedMs;
  }

  write(): void {
    const record = JSON.parse(Buffer.from(this.line, 'latin1').toString()) as FoundRecord;
    const context = { origin: this.#origin, observedMs: this.#observedMs, isEvent: this.#isEvents };
    this.append(this.#format.piece(toOtlpRecord(record, context)));
  }
}
