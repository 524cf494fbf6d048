import { resolve } from 'node:path';
import { EXIT, ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { formatTable } from '../output/format-table.ts';
import { visibleText } from '../output/visible-text.ts';
import { type Context, findContext, readContexts, writeContexts } from '../sources/context-file.ts';
import { FILE_FLAGS, filesFromFlags } from '../sources/endpoint.ts';
import { checkAddress, readTokenFile } from '../sources/open-node.ts';
import { readTlsFiles } from '../sources/tls-files.ts';

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Adds a context after checking its address and files. */
export async function addContext(invocation: Invocation): Promise<number> {
  const { args, env, terminal } = invocation;
  const [name = '', address = ''] = args;
  if (!NAME.test(name))
    throw new ProgramError(
      `invalid name ${JSON.stringify(name)}: expected up to 64 letters, digits, dots, dashes and underscores`,
    );
  const known = await readContexts(env, terminal);
  if (Object.hasOwn(known.contexts, name) && !invocation.isOn('force'))
    throw new ProgramError(`context ${name} already exists; use --force to replace it`);
  // Absolute paths: the context is used in other directories.
  const context: Context = { url: await checkAddress(address), ...filesFromFlags(invocation, resolve) };
  if (context.tokenFile !== undefined) await readTokenFile(context.tokenFile);
  await readTlsFiles(context);
  await writeContexts(env, { ...known, contexts: { ...known.contexts, [name]: context } });
  return EXIT.ok;
}

export async function listContexts(invocation: Invocation): Promise<number> {
  const { terminal, env } = invocation;
  const { current, contexts } = await readContexts(env, terminal);
  const listed = Object.entries(contexts).map(([name, context]) => ({
    name,
    isCurrent: name === current,
    ...context,
  }));
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') await terminal.write(listed.map((context) => `${JSON.stringify(context)}\n`).join(''));
  else if (format === 'names') await terminal.write(listed.map(({ name }) => `${name}\n`).join(''));
  else if (listed.length === 0) terminal.note('no contexts; add one with "porthole context add NAME URL"');
  else {
    const rows = listed.map(({ name, isCurrent, url }) => [`${isCurrent ? '*' : ' '} ${name}`, url].map(visibleText));
    await terminal.write(formatTable([{ title: '  NAME' }, { title: 'URL' }], rows, terminal));
  }
  return EXIT.ok;
}

/** Prints paths, never what is in the files. */
export async function showContext(invocation: Invocation): Promise<number> {
  const { args, terminal, env } = invocation;
  const known = await readContexts(env, terminal);
  const name = args[0] ?? known.current;
  if (name === null)
    throw new ProgramError('no context is in use; name one, or choose one with "porthole context use"');
  const context = findContext(known, name);
  const isCurrent = name === known.current;
  if (invocation.text('output') === 'json') {
    await terminal.write(`${JSON.stringify({ name, isCurrent, ...context })}\n`);
    return EXIT.ok;
  }
  const rows = [
    ['name', `${name}${isCurrent ? ' (in use)' : ''}`],
    ['url', context.url],
    ...FILE_FLAGS.flatMap(([field, label]) => (context[field] === undefined ? [] : [[label, context[field]]])),
  ];
  await terminal.write(rows.map(([label = '', value = '']) => `${label.padEnd(10)}  ${visibleText(value)}\n`).join(''));
  return EXIT.ok;
}

export async function useContext({ args: [name = ''], env, terminal }: Invocation): Promise<number> {
  const known = await readContexts(env, terminal);
  findContext(known, name);
  await writeContexts(env, { ...known, current: name });
  return EXIT.ok;
}

/** Without the context in use, the default address applies again. */
export async function removeContext({ args: [name = ''], env, terminal }: Invocation): Promise<number> {
  const known = await readContexts(env, terminal);
  findContext(known, name);
  const { [name]: _removed, ...contexts } = known.contexts;
  await writeContexts(env, { current: known.current === name ? null : known.current, contexts });
  return EXIT.ok;
}
