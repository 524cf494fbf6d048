import { holds, isContinuation, isNewline, isWord } from './byte-classes.ts';
import type { Nfa } from './nfa.ts';
import type { Assertion } from './syntax.ts';

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
const anything: Decide = () => true;
const laterOn: Decide = (assertion) => (assertion === 'line-start' ? false : undefined);

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
    return this.#statesFrom([this.#nfa.start], anything, false);
  }

  /** The states after a byte; `undefined`: a match. */
  step({ nodes, wordBefore }: StateSet, byte: number): StateSet | undefined {
    const decided = this.#follow(this.#waiting(nodes), nextIs(byte, wordBefore));
    if (!decided) return undefined;
    const targets = [this.#nfa.start];
    for (const state of decided.length > 0 ? new Set([...nodes, ...decided]) : nodes) {
      const node = this.#nfa.nodes[state];
      this.visited++;
      if (node?.kind === 'set' && holds(node.set, byte)) targets.push(node.next);
    }
    // A byte that may belong to the previous character removes no states.
    const kept = isContinuation(byte) ? nodes : [];
    return this.#statesFrom(targets, isNewline(byte) ? anything : laterOn, isWord(byte), kept);
  }

  /** Whether a match ends at the end of the text. */
  matchesAtEnd({ nodes, wordBefore }: StateSet): boolean {
    return !this.#follow(this.#waiting(nodes), nextIs(undefined, wordBefore));
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
function nextIs(byte: number | undefined, wordBefore: boolean): Decide {
  return (assertion) => {
    if (assertion === 'line-start') return false;
    if (assertion === 'line-end') return byte === undefined || isNewline(byte);
    const isEdge = wordBefore !== (byte !== undefined && isWord(byte));
    return isEdge === (assertion === 'word-edge');
  };
}
