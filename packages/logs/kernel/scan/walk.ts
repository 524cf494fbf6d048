/* Walks automatons; their tables are built by src/regex. Part of ../scan.ts. */
import { BYTE_CLASSES, REACHED, TEXT } from '../scan';

/**
 * Walks an automaton over `[from, to)`, starting in `row`. Rows before `firstRow` are special and lead to themselves on
 * every byte. Returns the position of the first byte that leads to one of them, or `to`; the row before it is left in
 * REACHED.
 */
export function walk(from: u32, to: u32, row: u32, firstRow: u32): u32 {
  const stop = TEXT + to;
  let at = TEXT + from;
  let reached = row;
  // The loop is bound by the load of the next row's address: testing it once in eight bytes is free.
  while (at + 8 <= stop) {
    let next = behind(reached, load<u8>(at));
    next = behind(next, load<u8>(at, 1));
    next = behind(next, load<u8>(at, 2));
    next = behind(next, load<u8>(at, 3));
    next = behind(next, load<u8>(at, 4));
    next = behind(next, load<u8>(at, 5));
    next = behind(next, load<u8>(at, 6));
    next = behind(next, load<u8>(at, 7));
    if (next < firstRow) break;
    reached = next;
    at += 8;
  }
  while (at < stop) {
    const next = behind(reached, load<u8>(at));
    if (next < firstRow) break;
    reached = next;
    at++;
  }
  store<u32>(REACHED, reached);
  return at - TEXT;
}

function behind(row: u32, byte: u32): u32 {
  return load<u32>(row + <u32>load<u8>(byte + BYTE_CLASSES));
}
