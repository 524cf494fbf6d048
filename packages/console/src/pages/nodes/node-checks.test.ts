import { expect, test } from 'vitest';
import { readReadiness } from './node-checks.tsx';

const READY = { status: 'ready', checks: [{ name: 'log directory', ok: true, detail: 'readable' }] };

test('returns the readiness, also of a stopping node', async () => {
  expect(await readReadiness(async () => Response.json(READY))).toEqual(READY);
  const stopping = { status: 'stopping', checks: [] };
  expect(await readReadiness(async () => Response.json(stopping, { status: 503 }))).toEqual(stopping);
});

test.each(['not json', '{}', 'null', '{"status":"ready"}'])('rejects the invalid response %s', async (body) => {
  const readiness = readReadiness(async () => new Response(body, { status: 502 }));
  await expect(readiness).rejects.toMatchObject({ code: 'BAD_ANSWER', message: '/health/ready responded with 502' });
});
