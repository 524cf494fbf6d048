/* Hashes text, to detect whether a block has changed. Part of ../scan.ts. */
import { TEXT } from '../scan';

/**
 * A hash of `[from, to)`. Eight vectors at a time; each step is a bijection of the lane, so a change of a single word is
 * always detected and others are missed once in 2^32.
 */
export function checksum(from: u32, to: u32): u32 {
  const stop = TEXT + to;
  let at = TEXT + from;
  let a = i32x4.splat(1);
  let b = i32x4.splat(2);
  let c = i32x4.splat(3);
  let d = i32x4.splat(4);
  let e = i32x4.splat(5);
  let f = i32x4.splat(6);
  let g = i32x4.splat(7);
  let h = i32x4.splat(8);
  while (at + 128 <= stop) {
    a = mixLanes(a, v128.load(at));
    b = mixLanes(b, v128.load(at, 16));
    c = mixLanes(c, v128.load(at, 32));
    d = mixLanes(d, v128.load(at, 48));
    e = mixLanes(e, v128.load(at, 64));
    f = mixLanes(f, v128.load(at, 80));
    g = mixLanes(g, v128.load(at, 96));
    h = mixLanes(h, v128.load(at, 112));
    at += 128;
  }
  const hash = mixFour(mixFour(to - from, a, b, c, d), e, f, g, h);
  return mixRest(hash, at, stop);
}

/** The halves of each lane change places, so that its high bits, on which all others have an effect, count next. */
function mixLanes(hash: v128, value: v128): v128 {
  const product = i32x4.mul(v128.xor(hash, value), i32x4.splat(0x9e3779b1));
  return i16x8.shuffle(product, product, 1, 0, 3, 2, 5, 4, 7, 6);
}

function mixFour(hash: u32, a: v128, b: v128, c: v128, d: v128): u32 {
  return mixLanesInto(mixLanesInto(mixLanesInto(mixLanesInto(hash, a), b), c), d);
}

/** The bytes behind the last whole 128. */
function mixRest(hash: u32, from: u32, stop: u32): u32 {
  for (let at = from; at < stop; at++) hash = mix(hash, load<u8>(at));
  return hash;
}

function mixLanesInto(hash: u32, lanes: v128): u32 {
  const two = mix(mix(hash, i32x4.extract_lane(lanes, 0)), i32x4.extract_lane(lanes, 1));
  return mix(mix(two, i32x4.extract_lane(lanes, 2)), i32x4.extract_lane(lanes, 3));
}

function mix(hash: u32, value: u32): u32 {
  const product = (hash ^ value) * 0x9e3779b1;
  return product ^ (product >> 15);
}
