import { levelRank } from '../parse/level.ts';
import { makeNeedle, type ScanKernel } from './scan-kernel.ts';

const LINE = Buffer.from('2024-08-16 09:48:23.118\tINFO\tbroker/query.go:42\tQuery completed\t{"took":"12ms"}\n');

const TEXT_BYTES = 256 * 1024;

/** The engine compiles a loop again, for speed, once it has run for a few hundred KiB; that is done in the background. */
const TIMES = 6;

/** Runs the loops that search whole files, so that they are compiled when the first search needs them. */
export function exerciseKernel(kernel: ScanKernel): void {
  for (let at = 0; at < TEXT_BYTES; at += LINE.length) LINE.copy(kernel.text, at);
  const limits = { to: TEXT_BYTES, limit: TEXT_BYTES, hashTo: TEXT_BYTES };
  for (let round = 0; round < TIMES; round++) {
    for (const caseSensitive of [true, false]) {
      kernel.setNeedle(makeNeedle('no line has it', { caseSensitive }));
      kernel.find(0, TEXT_BYTES);
    }
    kernel.headsAtLeast(levelRank('ERROR'), limits);
    kernel.heads(0, TEXT_BYTES, TEXT_BYTES);
    kernel.lineStarts(0, TEXT_BYTES);
    kernel.checksum(0, TEXT_BYTES);
  }
}
