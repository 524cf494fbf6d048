import { findContext, readContexts, writeContexts } from '../../contexts/context-file.ts';
import { EXIT } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';

/** Without the context in use, the default address applies again. */
export async function run({ args: [name = ''], env, terminal }: Invocation): Promise<number> {
  const known = await readContexts(env, terminal);
  findContext(known, name);
  const { [name]: _removed, ...contexts } = known.contexts;
  await writeContexts(env, { current: known.current === name ? null : known.current, contexts });
  return EXIT.ok;
}
