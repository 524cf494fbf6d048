import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '@porthole/records/testing';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

it('a program that was bundled without the package does not start, and says what it needs', async () => {
  const dir = tempDir();
  await build({
    stdin: {
      contents: `import { createNode } from './create-node.ts';
        createNode({}).catch(({ code, message }) => console.log(JSON.stringify({ code, message })));`,
      resolveDir: import.meta.dirname,
    },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outfile: join(dir, 'program.mjs'),
    tsconfig: join(ROOT, 'tsconfig.check.json'),
    absWorkingDir: ROOT,
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'silent' },
  });
  writeFileSync(join(dir, 'package.json'), '{"name":"program","version":"1.0.0"}');
  const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: dir });
  expect(JSON.parse(stdout)).toEqual({
    code: 'FILES_MISSING',
    message: expect.stringContaining('a bundled program needs the package porthole in its node_modules'),
  });
});
