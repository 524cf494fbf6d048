import type { NodeState } from '../../node-state.ts';

/** Files of a log directory by name. */
export type CaseFiles = Readonly<Record<string, string | Uint8Array>>;

/** Changes what the node observes during a case. */
export interface CaseDir {
  write(name: string, content: string | Uint8Array): void;
  append(name: string, content: string | Uint8Array): void;
  rename(from: string, to: string): void;
  /** Makes a file shorter, or longer by NUL bytes. */
  truncate(name: string, sizeBytes: number): void;
  remove(name: string): void;
  /** The configuration file of the service; `null` removes it. */
  configure(text: string | null): void;
  /** Starts a search of another client that runs until the end of the case. */
  holdSearch(): Promise<void>;
  /** Ends what `holdSearch` started. */
  releaseSearch(): Promise<void>;
}

/** The implementations of `NodeState`. */
export type ImplementationName = 'local' | 'http' | 'grpc';

/**
 * One case, as data. The result of the local node is what every other implementation must return, to the last field.
 * Without `files` it runs in the directory that all such cases share, and must not change it.
 */
export interface NodeStateCase<Answer = unknown> {
  /** A sentence about the result. */
  name: string;
  /** A log directory of its own, which the case may change: each implementation gets a new one. */
  files?: CaseFiles;
  /** With `files`: the configuration of the service beside the node; without it the node shows its own. */
  config?: string;
  /** With `files`: settings of the node, by table and property. */
  settings?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Returns a plain value: bytes as text, failures as `{ code, message }`. */
  run(node: NodeState, dir: CaseDir): Promise<Answer>;
  /** What must hold for the result itself: three equal results may be equally wrong. */
  check?(response: Answer): void;
  /**
   * Implementations whose result differs by nature, and why. They still run, and `check` still holds of what
   * they return; a reason whose result no longer differs fails the case.
   */
  differs?: Partial<Record<ImplementationName, string>>;
  /** Implementations that are skipped, and why. The result of the first one that is not is expected from the others. */
  notRun?: Partial<Record<ImplementationName, string>>;
}

/** Keeps the type of the result between `run` and `check`. */
export function nodeCase<Answer>(given: NodeStateCase<Answer>): NodeStateCase {
  return given as NodeStateCase;
}
