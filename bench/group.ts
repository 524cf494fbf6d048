import type { BenchContext } from './context.ts';
import type { PeerName } from './peers.ts';

/** A set of figures that share their input. What it starts, it starts through the context, so that it is ended for it. */
export interface Group {
  /** As `--only` takes it. */
  name: string;
  needs: readonly PeerName[];
  run(context: BenchContext): Promise<Row[]>;
}

/** One line of the table. */
export interface Row {
  /** What was measured, with its unit. */
  figure: string;
  porthole: string;
  /** Who or what Porthole is measured against, with its figure. */
  against?: string;
  /** Porthole's figure divided by the other. */
  ratio?: number;
  /** A target that is missed fails the run. */
  target?: Target;
  /** The single measurements behind the figure, in the order they were taken. */
  rounds?: string;
}

/** Of a ratio, a count or a number of bytes: never of a time or a rate, which depend on the machine and its other work. */
export interface Target {
  text: string;
  isMet: boolean;
}

export function atLeast(value: number, least: number): Target {
  return { text: `>= ${least}`, isMet: value >= least };
}

export function atMost(value: number, most: number, unit = ''): Target {
  return { text: `<= ${most}${unit && ` ${unit}`}`, isMet: value <= most };
}
