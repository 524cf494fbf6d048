import type { Invocation } from '../../invocation.ts';
import { runNode } from './run-node.ts';
import { settingsOf } from './setting-flags.ts';

export function run(invocation: Invocation): Promise<number> {
  return runNode({ file: invocation.text('config'), flags: settingsOf(invocation.given) });
}
