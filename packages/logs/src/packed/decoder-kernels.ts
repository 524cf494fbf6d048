import { WASM_BASE64 as BUNZIP } from '../kernel/bunzip-wasm.ts';
import { loadWasm } from '../kernel/load-wasm.ts';
import { WASM_BASE64 as LZMA } from '../kernel/lzma-wasm.ts';
import { WASM_BASE64 as ZSTD } from '../kernel/zstd-wasm.ts';

interface Variable {
  value: number;
}

interface Kernel {
  /** All of its memory; positions in it are addresses. */
  bytes: Buffer;
  INPUT: number;
  OUTPUT: number;
  /** What is wrong, by return code; `undefined` for codes that are no failure. */
  fault(code: number): string | undefined;
}

/** The exports of kernel/zstd.ts; documented there. */
export interface ZstdKernel extends Kernel {
  readonly out: Variable;
  MAX_BLOCK_BYTES: number;
  start(): void;
  run(bytes: number, maxBytes: number): number;
  putOut(end: number): void;
  slide(windowBytes: number): number;
  startSum(): void;
  addToSum(from: number, end: number): void;
  sumLow(): number;
}

/** The exports of kernel/lzma.ts; documented there. */
export interface LzmaKernel extends Kernel {
  readonly out: Variable;
  FULL: number;
  resetDictionary(): void;
  setProperties(byte: number): number;
  resetState(): void;
  slide(dictionaryBytes: number): number;
  copyPlain(bytes: number): void;
  startChunk(bytes: number): number;
  run(chunkEnd: number, limit: number): number;
  inputIsUsed(bytes: number): number;
  startSum(): void;
  addToSum(from: number, end: number): void;
  sumLow(): number;
  sumHigh(): number;
}

/** The exports of kernel/bunzip.ts; documented there. */
export interface BunzipKernel extends Kernel {
  INPUT_BYTES: number;
  NEEDS_INPUT: number;
  MORE: number;
  bitPosition(): number;
  readBits(from: number, end: number, count: number): number;
  isShort(): number;
  decode(from: number, end: number, maxBytes: number): number;
  resume(): number;
  write(): number;
  blockSum(): number;
}

/** `windowBytes`: how much room is reserved for output. Memory that is not used is not taken from the system. */
export function loadZstdKernel(outputBytes: number): ZstdKernel {
  return load<ZstdKernel>(ZSTD, outputBytes, {
    BAD_LITERALS: 'invalid literals',
    BAD_CODES: 'invalid codes',
    BAD_SEQUENCES: 'invalid sequences',
    BAD_DISTANCE: 'invalid match distance',
  });
}

export function loadLzmaKernel(outputBytes: number): LzmaKernel {
  return load<LzmaKernel>(LZMA, outputBytes, {
    BAD_CODE: 'invalid end of a chunk',
    BAD_DISTANCE: 'invalid match distance',
    BAD_LENGTH: 'invalid match length',
  });
}

export function loadBunzipKernel(): BunzipKernel {
  return load<BunzipKernel>(BUNZIP, 0, {
    BAD_BLOCK: 'invalid block',
    BAD_OBSOLETE: 'block of a version before 0.9.5',
  });
}

function load<T extends Kernel>(base64: string, outputBytes: number, faults: Record<string, string>): T {
  const { buffer, exports } = loadWasm(base64, outputBytes);
  const constants: Record<string, number> = {};
  for (const [name, value] of Object.entries(exports)) {
    if (/^[A-Z_]+$/.test(name)) constants[name] = (value as Variable).value;
  }
  const byCode = new Map(Object.entries(faults).map(([name, what]) => [constants[name], what]));
  return {
    ...exports,
    ...constants,
    bytes: Buffer.from(buffer),
    fault: (code: number) => byCode.get(code),
  } as unknown as T;
}
