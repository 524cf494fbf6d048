import { loadWasm } from '@porthole/records';
import { WASM_BASE64 } from '../kernel/inflate-wasm.ts';

interface Variable {
  value: number;
}

/** The exports of kernel/inflate.ts; documented there. */
interface Exports {
  readonly next: Variable;
  readonly used: Variable;
  out: Variable;
  oldest: Variable;
  blockAt: Variable;
  stored: Variable;
  seat(from: number, bitsUsed: number, addressZero: number): void;
  begin(): void;
  slide(): void;
  openBlock(end: number): number;
  run(end: number, ended: number, limit: number): number;
}

export interface InflateKernel extends Exports {
  /** All of its memory; positions in it are addresses. */
  bytes: Buffer;
  INPUT: number;
  INPUT_BYTES: number;
  OUTPUT: number;
  OUTPUT_END: number;
  /** The meaning of a return code of `run` or `openBlock`. */
  meaning(code: number): InflateOutcome;
}

export type InflateOutcome = (typeof OUTCOMES)[number];

const OUTCOMES = [
  'DONE',
  'NEEDS_INPUT',
  'FULL',
  'BAD_BLOCK_TYPE',
  'BAD_STORED_LENGTH',
  'BAD_CODES',
  'BAD_SYMBOL',
  'BAD_DISTANCE',
] as const;

/** An inflater with its own memory (about 450 KiB). */
export function loadInflateKernel(): InflateKernel {
  const { buffer, exports, constant } = loadWasm(WASM_BASE64);
  const meanings = new Map(OUTCOMES.map((name) => [constant(name), name]));
  return {
    ...(exports as unknown as Exports),
    bytes: Buffer.from(buffer),
    INPUT: constant('INPUT'),
    INPUT_BYTES: constant('INPUT_BYTES'),
    OUTPUT: constant('OUTPUT'),
    OUTPUT_END: constant('OUTPUT_END'),
    meaning: (code) => meanings.get(code) ?? 'BAD_SYMBOL',
  };
}
