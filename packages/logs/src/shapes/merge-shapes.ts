import { absorbShapes } from './absorb-shapes.ts';
import { findVarying } from './find-varying.ts';

/** What is merged in one round can make more alike in the next; real logs need two or three. */
const MAX_ROUNDS = 5;

/** Further shapes, and longer ones than `messageShape` returns, stay as they are: members of a cluster may send any. */
const MAX_SHAPES = 25_000;
const MAX_CHARACTERS = 2000;

/**
 * Finds what varies by position: where otherwise equal shapes have many words at one position, it becomes `*`, and a shape
 * that a more general one covers is merged into it. Returns the merged shapes by those given.
 *
 * The result depends only on the set of shapes, not on their order or number; that is why the groups of threads, files and
 * members can be merged by it. Given merged shapes, it merges those that are alike.
 */
export function mergeShapes(shapes: Iterable<string>): Map<string, string> {
  const byLength = new Map<number, string[]>();
  for (const shape of selectShapes(shapes)) {
    const words = wordCount(shape);
    const known = byLength.get(words);
    if (known) known.push(shape);
    else byLength.set(words, [shape]);
  }
  const merged = new Map<string, string>();
  for (const alike of byLength.values()) {
    for (const [shape, target] of mergeAlike(alike)) merged.set(shape, target);
  }
  return merged;
}

function selectShapes(shapes: Iterable<string>): Iterable<string> {
  const unique = new Set([...shapes].filter(({ length }) => length <= MAX_CHARACTERS));
  return unique.size <= MAX_SHAPES ? unique : [...unique].sort().slice(0, MAX_SHAPES);
}

/** Shapes with the same number of words. */
function mergeAlike(shapes: readonly string[]): Map<string, string> {
  const merged = new Map(shapes.map((shape) => [shape, shape]));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const changes = [absorbShapes, findVarying].map((step) => apply(merged, step));
    if (!changes.includes(true)) break;
  }
  return merged;
}

/** Replaces the shapes that a step changes; whether there were any. */
function apply(merged: Map<string, string>, step: (rows: readonly string[][]) => Map<number, string[]>): boolean {
  const current = [...new Set(merged.values())].sort();
  if (current.length < 2) return false;
  const changed = step(current.map((shape) => shape.split(' ')));
  if (changed.size === 0) return false;
  const targets = new Map([...changed].map(([row, words]) => [current[row], words.join(' ')]));
  for (const [shape, now] of merged) merged.set(shape, targets.get(now) ?? now);
  return true;
}

function wordCount(shape: string): number {
  let count = 1;
  for (let at = shape.indexOf(' '); at >= 0; at = shape.indexOf(' ', at + 1)) count++;
  return count;
}
