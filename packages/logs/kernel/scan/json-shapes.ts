/*
 * Lines of JSON that have the same keys in the same order differ in their values alone. What is between the values of
 * lines that were read is kept as a tree, and lines are compared with it, in a fourth of the time that reading them takes.
 * What is found so is as valid as what was read: the same bytes around values of the same kind. Part of ../scan.ts.
 */

import { FOUND_VALUE, MAX_NAMED_MEMBERS, MAX_SHAPE_NODES, NAMED_MEMBERS, READ_VALUES, SHAPES, TEXT } from '../scan';
import { behindLiteral, FAILED, isDigit, specialBytes } from './json-bytes';
import { readNumber, setStop } from './json-path';

const QUOTE: u8 = 34;
const MINUS: u8 = 45;

/** A node: the next one of the same parent, the first child, how long the text is, and what follows it; then the text. */
const NODE_BYTES: u32 = 128;
const CHILD: u32 = 4;
const LENGTH: u32 = 8;
const KIND: u32 = 12;
const LITERAL: u32 = 16;
const MOST_LITERAL: u32 = NODE_BYTES - LITERAL;

/** A node with more children takes longer to leave than the rest of a line to read. */
const MOST_CHILDREN: u32 = 8;

/** What follows the text of a node: the end of the line, a string, or a number or word; and whether it is wanted. */
const END: u32 = 0;
export const STRING: u32 = 1;
export const SCALAR: u32 = 2;
export const WANTED: u32 = 4;

/** Values of a line of which the shape is kept. */
const MOST_VALUES: u32 = 64;
const VALUE_BYTES: u32 = 12;

let nodes: u32 = 0;
let values: u32 = 0;

/** Must be called when other values are wanted. */
export function forgetShapes(): void {
  nodes = 1;
  memory.fill(SHAPES, 0, LITERAL);
}

/** Prepares for the values of a line that is read. */
export function beginValues(): void {
  values = 0;
}

/** A string, without its quotes, or a number or word of the line that is read. */
export function addValue(start: u32, end: u32, kind: u32): void {
  if (values < MOST_VALUES) {
    const to = READ_VALUES + values * VALUE_BYTES;
    store<u32>(to, start);
    store<u32>(to, end, 4);
    store<u32>(to, kind, 8);
  }
  values++;
}

export function wantLastValue(): void {
  if (values === 0 || values > MOST_VALUES) return;
  const kind = READ_VALUES + (values - 1) * VALUE_BYTES + 8;
  store<u32>(kind, load<u32>(kind) | WANTED);
}

/** Values that are wanted and are no strings, numbers or words are in no shape. */
export function dropValues(): void {
  values = MOST_VALUES + 1;
}

/** Keeps the shape of the line `[from, to)`, which was read to its end. */
export function keepShape(from: u32, to: u32): void {
  if (nodes === 0 || values > MOST_VALUES) return;
  let node = SHAPES;
  let at = TEXT + from;
  for (let index: u32 = 0; index <= values; index++) {
    const value = READ_VALUES + index * VALUE_BYTES;
    const isLast = index === values;
    const start = isLast ? TEXT + to : load<u32>(value);
    node = childOf(node, at, start - at, isLast ? END : load<u32>(value, 8));
    if (node === 0) return;
    at = load<u32>(value, 4);
  }
}

/** The child with this text before a value of this kind, which is added if it is new; 0 if there is no room for it. */
function childOf(parent: u32, start: u32, length: u32, kind: u32): u32 {
  let link = parent + CHILD;
  let node = load<u32>(link);
  let children: u32 = 0;
  for (; node !== 0; node = load<u32>(link)) {
    if (load<u32>(node, LENGTH) === length && load<u32>(node, KIND) === kind && hasLiteral(node, start)) return node;
    children++;
    link = node;
  }
  if (nodes === MAX_SHAPE_NODES || children === MOST_CHILDREN || length > MOST_LITERAL) return 0;
  node = SHAPES + nodes++ * NODE_BYTES;
  store<u32>(link, node);
  store<u32>(node, 0);
  store<u32>(node, 0, CHILD);
  store<u32>(node, length, LENGTH);
  store<u32>(node, kind, KIND);
  memory.copy(node + LITERAL, start, length);
  return node;
}

/**
 * How many wanted values the line `[from, to)` has, if it has a shape that is kept; they are left in NAMED_MEMBERS, or of a
 * path the first one in FOUND_VALUE. Negative: the line must be read.
 */
export function matchShape(from: u32, to: u32, isPath: bool): i32 {
  const stop = TEXT + to;
  let wanted: u32 = 0;
  let at = TEXT + from;
  let node = load<u32>(SHAPES + CHILD);
  setStop(stop);
  while (node !== 0) {
    if (hasLiteral(node, at)) {
      const start = at + load<u32>(node, LENGTH);
      const kind = load<u32>(node, KIND);
      if (kind === END) {
        if (start === stop) return <i32>wanted;
      } else if (start < stop) {
        const end = (kind & STRING) !== 0 ? behindText(start, stop) : behindScalar(start);
        if (end !== FAILED) {
          if ((kind & WANTED) !== 0) {
            if (wanted === MAX_NAMED_MEMBERS) return -1;
            note(wanted++, start, end, kind, isPath);
          }
          at = end;
          node = load<u32>(node, CHILD);
          continue;
        }
      }
    }
    node = load<u32>(node);
  }
  return -1;
}

/** Whether the text of the node is at `at`. */
function hasLiteral(node: u32, at: u32): bool {
  const length = load<u32>(node, LENGTH);
  const literal = node + LITERAL;
  let done: u32 = 0;
  for (; done + 16 <= length; done += 16)
    if (i8x16.bitmask(i8x16.eq(v128.load(at + done), v128.load(literal + done))) !== 0xffff) return false;
  const same = i8x16.bitmask(i8x16.eq(v128.load(at + done), v128.load(literal + done)));
  return (~same & ((1 << (length - done)) - 1)) === 0;
}

/** The position of the quote behind text without escapes. */
function behindText(start: u32, stop: u32): u32 {
  for (let at = start; at < stop; at += 16) {
    const special = i8x16.bitmask(specialBytes(v128.load(at)));
    if (special === 0) continue;
    const end = at + <u32>ctz(special);
    return load<u8>(end) === QUOTE ? end : FAILED;
  }
  return FAILED;
}

function behindScalar(start: u32): u32 {
  const first = load<u8>(start);
  return first === MINUS || isDigit(first) ? readNumber(start) : behindLiteral(start);
}

function note(index: u32, start: u32, end: u32, kind: u32, isPath: bool): void {
  if (isPath && index > 0) return;
  const to = isPath ? FOUND_VALUE : NAMED_MEMBERS + index * 12;
  store<u32>(to, start - TEXT);
  store<u32>(to, end - TEXT, 4);
  // A text without escapes; of members, OTHER.
  store<u32>(to, isPath || (kind & STRING) !== 0 ? 0 : 3, 8);
}
