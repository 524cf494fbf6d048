import { holds, isContinuation, isNewline, isWord } from './byte-classes.ts';
import type { Nfa } from './nfa.ts';
import type { Assertion } from './syntax.ts';

/** Places of a pattern that are held at the same time. */
export interface StateSet {
  /** In ascending order: places that wait for a byte, or for the next byte to decide a condition. */
  nodes: readonly number[];
  /** Whether the byte before was of a word. Only told where a condition waits. */
  wordBefore: boolean;
}

/** Decides a condition on a position; `undefined`: the next byte will. */
type Decide = (assertion: Assertion) => boolean | undefined;

/** Behind a newline a record may have ended or begun: no condition is sure to fail there. */
const anything: Decide = () => true;
const laterOn: Decide = (assertion) => (assertion === 'line-start' ? false : undefined);

/** Goes from places to places, as the bytes of a text lead. A match may begin anywhere. */
export class NfaStepper {
  /** Nodes looked at so far: what it has cost. */
  visited = 0;
  readonly #nfa: Nfa;
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(nfa: Nfa) {
    this.#nfa = nfa;
    this.#seen = new Uint32Array(nfa.nodes.length);
  }

  /** At the beginning of a record; `undefined` where the pattern can match nothing at all. */
  start(): StateSet | undefined {
    return this.#statesFrom([this.#nfa.start], anything, false);
  }

  /** Behind a byte; `undefined`: a match. */
  step({ nodes, wordBefore }: StateSet, byte: number): StateSet | undefined {
    const decided = this.#follow(this.#waiting(nodes), nextIs(byte, wordBefore));
    if (!decided) return undefined;
    const targets = [this.#nfa.start];
    for (const state of decided.length > 0 ? new Set([...nodes, ...decided]) : nodes) {
      const node = this.#nfa.nodes[state];
      this.visited++;
      if (node?.kind === 'set' && holds(node.set, byte)) targets.push(node.next);
    }
    // A byte that may belong to the character before takes nothing away.
    const kept = isContinuation(byte) ? nodes : [];
    return this.#statesFrom(targets, isNewline(byte) ? anything : laterOn, isWord(byte), kept);
  }

  /** Whether a match ends where the text does. */
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

  /** Places that wait, reached from these without a byte; `undefined` where the match itself is. */
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

/** Not behind a newline. No byte: the text ends. */
function nextIs(byte: number | undefined, wordBefore: boolean): Decide {
  return (assertion) => {
    if (assertion === 'line-start') return false;
    if (assertion === 'line-end') return byte === undefined || isNewline(byte);
    const isEdge = wordBefore !== (byte !== undefined && isWord(byte));
    return isEdge === (assertion === 'word-edge');
  };
}
