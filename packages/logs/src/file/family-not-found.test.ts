import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { searchItems } from '../testing/run-search.ts';
import { openDir, tempDir } from '../testing/temp-dir.ts';

test('searches and follows reject an unknown family with a suggestion', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'broker.log'), 'x\n');
  const logs = openDir(dir);
  const refusal = { code: 'LOG_FAMILY_NOT_FOUND', message: expect.stringContaining('did you mean "broker.log"?') };
  const family = 'brokr.log';
  const search = searchItems(logs, { family, order: 'newest', limit: 1, before: 0, after: 0 });
  await expect(search.next()).rejects.toMatchObject(refusal);
  await expect(logs.follow({ family, start: 'end' }).next()).rejects.toMatchObject(refusal);
});
