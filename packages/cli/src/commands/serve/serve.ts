import type { Invocation } from '../../invocation.ts';
import { runNode } from './run-node.ts';
import { settingsFromFlags } from './setting-flags.ts';

export function run(invocation: Invocation): Promise<number> {
  return runNode({ file: invocation.text('config'), flags: settingsFromFlags(invocation.given) });
}
