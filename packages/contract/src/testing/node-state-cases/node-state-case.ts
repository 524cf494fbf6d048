import type { NodeState } from '../../node-state.ts';

/** Files of a log directory by name. */
export type CaseFiles = Readonly<Record<string, string | Uint8Array>>;

/** What happens around the node while it is asked. */
export interface CaseDir {
  write(name: string, content: string | Uint8Array): void;
  append(name: string, content: string | Uint8Array): void;
  rename(from: string, to: string): void;
  /** Makes a file shorter, or longer by NUL bytes. */
  truncate(name: string, sizeBytes: number): void;
  remove(name: string): void;
  /** The configuration file of the service; `null` removes it. */
  configure(text: string | null): void;
  /** Someone else's search that is under way until the end of the case. */
  holdSearch(): Promise<void>;
  /** Ends what `holdSearch` began. */
  releaseSearch(): Promise<void>;
}

/** Ways to ask a node. */
export type ImplementationName = 'local' | 'http' | 'grpc';

/**
 * One question, as data. The local node's answer is what every other implementation must give, to the last field.
 * Without `files` it is asked in the directory that all such cases share, and changes nothing there.
 */
export interface NodeStateCase<Answer = unknown> {
  /** A sentence about the answer. */
  name: string;
  /** A log directory of its own, which the case may change: each implementation gets a new one. */
  files?: CaseFiles;
  /** With `files`: the configuration of the service beside the node; without it the node shows its own. */
  config?: string;
  /** With `files`: settings of the node, by table and property. */
  settings?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Gives a plain value: bytes as text, failures as `{ code, message }`. */
  run(node: NodeState, dir: CaseDir): Promise<Answer>;
  /** What must hold of the answer itself: three that are equal may be equally wrong. */
  check?(response: Answer): void;
  /**
   * Implementations whose answer differs by nature, and why. They are still asked, and `check` still holds of what
   * they give; a reason whose answer does not differ any more fails the case.
   */
  differs?: Partial<Record<ImplementationName, string>>;
  /** Implementations that cannot be asked this, and why. The first one that can is the model of the others. */
  notRun?: Partial<Record<ImplementationName, string>>;
}

/** Keeps the type of the answer between `ask` and `check`. */
export function nodeCase<Answer>(given: NodeStateCase<Answer>): NodeStateCase {
  return given as NodeStateCase;
}
