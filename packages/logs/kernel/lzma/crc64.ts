/* CRC-64 as xz has it (ECMA-182, reflected). Part of ../lzma.ts. */
import { CRC_TABLE } from './state';

const POLYNOMIAL: u64 = ((<u64>0xc96c5795) << 32) | 0xd7870f42;

let isBuilt: bool = false;
let sum: u64 = 0;

export function startSum(): void {
  sum = ~(<u64>0);
  if (isBuilt) return;
  isBuilt = true;
  for (let byte: u32 = 0; byte < 256; byte++) {
    let value = <u64>byte;
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >> 1 : (value >> 1) ^ POLYNOMIAL;
    store<u64>(CRC_TABLE + (byte << 3), value);
  }
}

export function addToSum(from: u32, end: u32): void {
  let value = sum;
  for (let at = from; at < end; at++) {
    value = load<u64>(CRC_TABLE + (((<u32>value ^ <u32>load<u8>(at)) & 255) << 3)) ^ (value >> 8);
  }
  sum = value;
}

export function sumLow(): u32 {
  return <u32>~sum;
}

export function sumHigh(): u32 {
  return <u32>(~sum >> 32);
}
