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

/**
 * The same over four texts of equal length at a time, which takes little longer than one, because the walk mostly waits
 * for memory. The initial rows are taken from REACHED. Returns how many bytes of each text were walked before the group
 * of four bytes in which one of them reaches a special row.
 */
export function walkFour(a: u32, b: u32, c: u32, d: u32, length: u32, firstRow: u32): u32 {
  const stop = TEXT + a + length;
  let atA = TEXT + a;
  let atB = TEXT + b;
  let atC = TEXT + c;
  let atD = TEXT + d;
  let rowA = load<u32>(REACHED);
  let rowB = load<u32>(REACHED, 4);
  let rowC = load<u32>(REACHED, 8);
  let rowD = load<u32>(REACHED, 12);
  while (atA + 4 <= stop) {
    const bytesA = load<u32>(atA);
    const bytesB = load<u32>(atB);
    const bytesC = load<u32>(atC);
    const bytesD = load<u32>(atD);
    let nextA = behind(rowA, bytesA & 255);
    nextA = behind(nextA, (bytesA >> 8) & 255);
    nextA = behind(nextA, (bytesA >> 16) & 255);
    nextA = behind(nextA, (bytesA >> 24) & 255);
    let nextB = behind(rowB, bytesB & 255);
    nextB = behind(nextB, (bytesB >> 8) & 255);
    nextB = behind(nextB, (bytesB >> 16) & 255);
    nextB = behind(nextB, (bytesB >> 24) & 255);
    let nextC = behind(rowC, bytesC & 255);
    nextC = behind(nextC, (bytesC >> 8) & 255);
    nextC = behind(nextC, (bytesC >> 16) & 255);
    nextC = behind(nextC, (bytesC >> 24) & 255);
    let nextD = behind(rowD, bytesD & 255);
    nextD = behind(nextD, (bytesD >> 8) & 255);
    nextD = behind(nextD, (bytesD >> 16) & 255);
    nextD = behind(nextD, (bytesD >> 24) & 255);
    if (min(min(nextA, nextB), min(nextC, nextD)) < firstRow) break;
    rowA = nextA;
    rowB = nextB;
    rowC = nextC;
    rowD = nextD;
    atA += 4;
    atB += 4;
    atC += 4;
    atD += 4;
  }
  store<u32>(REACHED, rowA);
  store<u32>(REACHED, rowB, 4);
  store<u32>(REACHED, rowC, 8);
  store<u32>(REACHED, rowD, 12);
  return atA - TEXT - a;
}

function behind(row: u32, byte: u32): u32 {
  return load<u32>(row + <u32>load<u8>(byte + BYTE_CLASSES));
}
