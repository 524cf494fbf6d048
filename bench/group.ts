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
  bar?: Bar;
  /** The single measurements behind the medians, in the order they were taken. */
  rounds?: string;
}

export interface Bar {
  text: string;
  met: boolean;
}

export function atLeast(value: number, least: number): Bar {
  return { text: `>= ${least}`, met: value >= least };
}

export function atMost(value: number, most: number, unit = ''): Bar {
  return { text: `<= ${most}${unit && ` ${unit}`}`, met: value <= most };
}

export function below(value: number, limit: number, unit = ''): Bar {
  return { text: `< ${limit}${unit && ` ${unit}`}`, met: value < limit };
}
