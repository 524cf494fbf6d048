import { type CharSet, holds, isContinuation, isNewline, isWord } from './char-set.ts';
import type { Assertion, Syntax } from './parse.ts';

/** A larger automaton costs more to walk than it saves. */
const MAX_NODES = 2000;

/** A state of a pattern. Numbers are indices into the list. */
type NfaNode =
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
        return syntax.parts.reduceRight((following, part) => this.add(part, following), next);
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

/** The states a pattern is in at the same time. */
export interface StateSet {
  /** In ascending order: states that wait for a byte, or for the next byte to decide an assertion. */
  nodes: readonly number[];
  /** Whether the previous byte was a word character. Only tracked if an assertion waits. */
  wordBefore: boolean;
}

/** Decides an assertion at a position; `undefined`: the next byte will decide. */
type Decide = (assertion: Assertion) => boolean | undefined;

/** After a newline a record may have ended or begun: no assertion certainly fails there. */
const assumeTrue: Decide = () => true;
const undecided: Decide = (assertion) => (assertion === 'line-start' ? false : undefined);

/** Steps through the states as the bytes of a text lead. A match may begin anywhere. */
export class NfaStepper {
  /** Nodes visited so far: the cost. */
  visited = 0;
  readonly #nfa: Nfa;
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(nfa: Nfa) {
    this.#nfa = nfa;
    this.#seen = new Uint32Array(nfa.nodes.length);
  }

  /** The states at the beginning of a record; `undefined` if the pattern matches the empty text. */
  start(): StateSet | undefined {
    return this.#statesFrom([this.#nfa.start], assumeTrue, false);
  }

  /** The states after a byte; `undefined`: a match. */
  step({ nodes, wordBefore }: StateSet, byte: number): StateSet | undefined {
    const decided = this.#follow(this.#waiting(nodes), decideByNext(byte, wordBefore));
    if (!decided) return undefined;
    const targets = [this.#nfa.start];
    for (const state of decided.length > 0 ? new Set([...nodes, ...decided]) : nodes) {
      const node = this.#nfa.nodes[state];
      this.visited++;
      if (node?.kind === 'set' && holds(node.set, byte)) targets.push(node.next);
    }
    // A byte that may belong to the previous character removes no states.
    const kept = isContinuation(byte) ? nodes : [];
    return this.#statesFrom(targets, isNewline(byte) ? assumeTrue : undecided, isWord(byte), kept);
  }

  /** Whether a match ends at the end of the text. */
  matchesAtEnd({ nodes, wordBefore }: StateSet): boolean {
    return !this.#follow(this.#waiting(nodes), decideByNext(undefined, wordBefore));
  }

  #waiting(nodes: readonly number[]): number[] {
    return nodes.filter((state) => this.#nfa.nodes[state]?.kind === 'assertion');
  }

  #statesFrom(
    targets: readonly number[],
    decide: Decide,
    isBehindWord: boolean,
    kept: readonly number[] = [],
  ): StateSet | undefined {
    const followed = this.#follow(targets, decide);
    if (!followed) return undefined;
    const nodes = kept.length > 0 ? [...new Set([...followed, ...kept])] : followed;
    nodes.sort((a, b) => a - b);
    return { nodes, wordBefore: isBehindWord && this.#waiting(nodes).length > 0 };
  }

  /** Waiting states reachable from these without a byte; `undefined` if a match is. */
  #follow(from: readonly number[], decide: Decide): number[] | undefined {
    const found: number[] = [];
    const open = [...from];
    this.#round++;
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      const node = this.#nfa.nodes[state];
      if (!node || this.#seen[state] === this.#round) continue;
      this.#seen[state] = this.#round;
      this.visited++;
      if (node.kind === 'match') return undefined;
      if (node.kind === 'split') open.push(...node.next);
      else if (node.kind === 'set') found.push(state);
      else {
        const holdsHere = decide(node.assertion);
        if (holdsHere === undefined) found.push(state);
        else if (holdsHere) open.push(node.next);
      }
    }
    return found;
  }
}

/** Not after a newline. No byte: the text ends. */
function decideByNext(byte: number | undefined, wordBefore: boolean): Decide {
  return (assertion) => {
    if (assertion === 'line-start') return false;
    if (assertion === 'line-end') return byte === undefined || isNewline(byte);
    const isEdge = wordBefore !== (byte !== undefined && isWord(byte));
    return isEdge === (assertion === 'word-edge');
  };
}
