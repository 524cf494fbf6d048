import { resolve } from 'node:path';
import { type Context, readContexts, writeContexts } from '../../contexts/context-file.ts';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { checkAddress, readTokenFile } from '../../sources/open-node.ts';
import { readTlsFiles } from '../../sources/tls-files.ts';

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Adds a context after checking its address and files. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, env, terminal } = invocation;
  const [name = '', address = ''] = args;
  if (!NAME.test(name))
    throw new ProgramError(
      `invalid name ${JSON.stringify(name)}: expected up to 64 letters, digits, dots, dashes and underscores`,
    );
  const known = await readContexts(env, terminal);
  if (Object.hasOwn(known.contexts, name) && !invocation.isOn('force'))
    throw new ProgramError(`context ${name} already exists; use --force to replace it`);
  const context: Context = { url: await checkAddress(address), ...filesOf(invocation) };
  if (context.tokenFile !== undefined) await readTokenFile(context.tokenFile);
  await readTlsFiles(context);
  await writeContexts(env, { ...known, contexts: { ...known.contexts, [name]: context } });
  return EXIT.ok;
}

/** Absolute: the context is used in other directories. */
function filesOf(invocation: Invocation): Omit<Context, 'url'> {
  const path = (flag: string) => {
    const given = invocation.text(flag);
    return given === undefined ? undefined : resolve(given);
  };
  const [tokenFile, caFile] = [path('token-file'), path('ca-file')];
  const [certFile, keyFile] = [path('cert-file'), path('key-file')];
  return {
    ...(tokenFile !== undefined && { tokenFile }),
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined && { certFile }),
    ...(keyFile !== undefined && { keyFile }),
  };
}
