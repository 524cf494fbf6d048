import { expect, test } from 'vitest';
import { readReadiness } from './readiness.ts';

const READY = { status: 'ready', checks: [{ name: 'log directory', ok: true, detail: 'readable' }] };

test('a node says how it is, also while it stops', async () => {
  expect(await readReadiness(async () => Response.json(READY))).toEqual(READY);
  const stopping = { status: 'stopping', checks: [] };
  expect(await readReadiness(async () => Response.json(stopping, { status: 503 }))).toEqual(stopping);
});

test.each(['not json', '{}', 'null', '{"status":"ready"}'])(
  'the answer %s makes no sense, and is told so',
  async (body) => {
    const answer = readReadiness(async () => new Response(body, { status: 502 }));
    await expect(answer).rejects.toMatchObject({ code: 'BAD_ANSWER', message: '/health/ready answered 502' });
  },
);
