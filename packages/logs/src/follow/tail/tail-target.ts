import type { FamilyDeps } from './family-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';

export interface TailDeps extends FamilyDeps {
  times: AssemblerTimes & Partial<Record<'missingMs' | 'lingerMs' | 'listMs', number | undefined>>;
  limitBytes(): number;
  onRead(): void;
}

/** Where reading begins; a number is the size that the file had. */
export type FirstPosition = 'start' | 'end' | number;

export interface TailTarget {
  /** The file name followed. */
  name: string;
  /** The family searched for successors at a rotation; `undefined` to follow only this name. */
  family: string | undefined;
}
