import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { judgeCorpus } from '../testing/formats/head-corpus.ts';

/** Logs of many systems with the truth about them; FORMAT.md there says what is judged. */
const CORPUS = fileURLToPath(new URL('../../fixtures/heads/', import.meta.url));

describe('the corpus of heads', () => {
  test('every record of every log has its border, time and level', () => {
    const judged = judgeCorpus(CORPUS);
    expect(judged.length).toBeGreaterThan(0);
    expect(judged.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });
});
