/* Texts that the host puts into NAMES, 16 bytes for each, of which the last one is its length. Part of ../scan.ts. */
import { NAMES } from '../scan';
import { outputAt, setOutput } from './output';

export const BYTES: u32 = 0; // ,"bytes":
export const TIME_MS: u32 = 1; // "timeMs":
export const LEVEL_COLUMN: u32 = 2; // "level":"
export const SOURCE_COLUMN: u32 = 3; // "source":"
export const TAGS_COLUMN: u32 = 4; // "tags":["
export const MESSAGE_COLUMN: u32 = 5; // "message":"
export const CONTEXT_COLUMN: u32 = 6; // ,"context":
export const FIELDS: u32 = 7; // ,"fields":{
export const LEVEL_FIELD: u32 = 8; // "level":
export const SOURCE_FIELD: u32 = 9; // "source":
export const COMPONENT_FIELD: u32 = 10; // "component":
export const MESSAGE_FIELD: u32 = 11; // "message":
export const CONTEXT_PREFIX: u32 = 12; // context.
/** Names of columns. */
export const FIRST_BUILT_IN: u32 = 13;
export const LAST_BUILT_IN: u32 = 16;
/** Behind it, the names of levels by rank. */
export const LEVELS: u32 = 16;
/** Behind those. */
export const RAW_COLUMN: u32 = 23; // ,"raw":"

export function putName(name: u32): void {
  const at = NAMES + (name << 4);
  v128.store(outputAt(), v128.load(at));
  setOutput(outputAt() + load<u8>(at, 15));
}

/** Whether the text of `length` bytes at `start` begins with a name. */
export function startsWithName(start: u32, length: u32, name: u32): bool {
  const at = NAMES + (name << 4);
  const bytes = <u32>load<u8>(at, 15);
  if (length < bytes) return false;
  for (let index: u32 = 0; index < bytes; index++) if (load<u8>(start + index) !== load<u8>(at + index)) return false;
  return true;
}

export function isName(start: u32, length: u32, name: u32): bool {
  return length === load<u8>(NAMES + (name << 4), 15) && startsWithName(start, length, name);
}
