import { readContexts } from '../../contexts/context-file.ts';
import { EXIT } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatTable } from '../../output/format-table.ts';
import { visibleText } from '../../output/visible-text.ts';

export async function run(invocation: Invocation): Promise<number> {
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
