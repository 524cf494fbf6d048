import type { BenchContext } from './context.ts';
import type { PeerName } from './peers.ts';
import type { Row } from './row.ts';

/** A set of figures that share their input. What it starts, it starts through the context, so that it is ended for it. */
export interface Group {
  /** As `--only` takes it. */
  name: string;
  needs: readonly PeerName[];
  run(context: BenchContext): Promise<Row[]>;
}
