import type { DemoConfig } from './demo-config.ts';
import type { Mood } from './record-source.ts';

/** One demo node. */
export interface DemoNode extends Mood {
  id: string;
  seed: number;
  config: DemoConfig;
}

/** Fixed: every demo is the same. */
const SEED = 7300;

/** Far enough apart that no two logs have the same seed. */
const SEED_STEP = 1000;

/** A single node has some of everything. */
const ALONE = 0.004;

/** Of several nodes, one is unhealthy. */
const CALM = 0.001;
const SICK = 0.02;

/** The demo nodes: the second has errors and a drifted setting, the third an equivalent value written differently. */
export function demoNodes(count: number): DemoNode[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `demo-broker-${index + 1}`,
    seed: SEED + index * SEED_STEP,
    trouble: count === 1 ? ALONE : index === 1 ? SICK : CALM,
    config: {
      slowSql: index === 1 ? '10s' : '30s',
      idleTimeout: index === 2 ? '5000ms' : '5s',
      httpPort: 9000 + index * 10,
    },
  }));
}
