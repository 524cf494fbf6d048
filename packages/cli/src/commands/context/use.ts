import { findContext, readContexts, writeContexts } from '../../contexts/context-file.ts';
import { EXIT } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ args: [name = ''], env, terminal }: Invocation): Promise<number> {
  const known = await readContexts(env, terminal);
  findContext(known, name);
  await writeContexts(env, { ...known, current: name });
  return EXIT.ok;
}
