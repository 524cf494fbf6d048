import type { CharSet } from './char-set.ts';
import type { Assertion, Syntax } from './syntax.ts';

/** A larger automaton costs more to walk than it saves. */
const MAX_NODES = 2000;

/** A state of a pattern. Numbers are indices into the list. */
export type NfaNode =
  | { kind: 'set'; set: CharSet; next: number }
  | { kind: 'assertion'; assertion: Assertion; next: number }
  | { kind: 'split'; next: readonly number[] }
  | { kind: 'match' };

export interface Nfa {
  nodes: readonly NfaNode[];
  start: number;
}

/**
 * Builds the NFA of a pattern. Counts above `maxRepeat` become "or more", which matches no less. `undefined` if it gets
 * too large.
 */
export function buildNfa(syntax: Syntax, { maxRepeat }: { maxRepeat: number }): Nfa | undefined {
  const builder = new Builder(maxRepeat);
  const start = builder.add(syntax, builder.push({ kind: 'match' }));
  return builder.isFull ? undefined : { nodes: builder.nodes, start };
}

class Builder {
  readonly nodes: NfaNode[] = [];
  readonly #maxRepeat: number;

  constructor(maxRepeat: number) {
    this.#maxRepeat = maxRepeat;
  }

  get isFull(): boolean {
    return this.nodes.length > MAX_NODES;
  }

  push(node: NfaNode): number {
    return this.nodes.push(node) - 1;
  }

  /** Adds a part that continues at `next`; returns its first state. */
  add(syntax: Syntax, next: number): number {
    if (this.isFull) return next;
    switch (syntax.kind) {
      case 'set':
        return this.push({ kind: 'set', set: syntax.set, next });
      case 'assertion':
        return this.push({ kind: 'assertion', assertion: syntax.assertion, next });
      case 'sequence':
        return syntax.parts.reduceRight((behind, part) => this.add(part, behind), next);
      case 'choice':
        return this.push({ kind: 'split', next: syntax.choices.map((choice) => this.add(choice, next)) });
      case 'repeat':
        return this.#repeat(syntax, next);
    }
  }

  #repeat({ of, min, max }: Syntax & { kind: 'repeat' }, next: number): number {
    const least = Math.min(min, this.#maxRepeat);
    let behind = next;
    if (max > this.#maxRepeat || least < min) {
      const loop: number[] = [next];
      behind = this.push({ kind: 'split', next: loop });
      loop.push(this.add(of, behind));
    } else {
      // Any of them may be the last: all of them have an exit.
      for (let count = least; count < max && !this.isFull; count++) {
        behind = this.push({ kind: 'split', next: [next, this.add(of, behind)] });
      }
    }
    for (let count = 0; count < least && !this.isFull; count++) behind = this.add(of, behind);
    return behind;
  }
}
