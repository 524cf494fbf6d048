import { CONTEXT_FILES, findContext, readContexts } from '../../contexts/context-file.ts';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleText } from '../../output/visible-text.ts';

const LABELS = { tokenFile: 'token-file', caFile: 'ca-file', certFile: 'cert-file', keyFile: 'key-file' } as const;

/** Prints paths, never what is in the files. */
export async function run(invocation: Invocation): Promise<number> {
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
    ...CONTEXT_FILES.flatMap((field) => (context[field] === undefined ? [] : [[LABELS[field], context[field]]])),
  ];
  await terminal.write(rows.map(([label = '', value = '']) => `${label.padEnd(10)}  ${visibleText(value)}\n`).join(''));
  return EXIT.ok;
}
