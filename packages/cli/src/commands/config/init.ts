import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { SCHEMA_FILE, settingsSchema, settingsTemplate } from '@porthole/server/settings-file';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';

const DEFAULT_FILE = 'porthole.toml';

/** Writes a settings file with every setting as a comment, and beside it the schema that editors check it with. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const [file = DEFAULT_FILE] = invocation.args;
  const flag = invocation.isOn('force') ? 'w' : 'wx';
  if (file === '-') {
    await terminal.write(settingsTemplate());
    return EXIT.ok;
  }
  await write(file, settingsTemplate(), flag);
  const schema = join(dirname(file), SCHEMA_FILE);
  // Made by this program and nothing else: one that exists is replaced.
  await write(schema, `${JSON.stringify(settingsSchema(), null, 2)}\n`, 'w');
  await terminal.write(`${file}\n`);
  terminal.note(`editors check it with ${schema}; "porthole serve --config ${file}" starts a node with it`);
  return EXIT.ok;
}

async function write(path: string, text: string, flag: 'w' | 'wx'): Promise<void> {
  try {
    await writeFile(path, text, { flag });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const reason = isThere ? `${path} exists already; --force replaces it` : errorMessage(error);
    throw new ProgramError(reason, { cause: error });
  }
}
