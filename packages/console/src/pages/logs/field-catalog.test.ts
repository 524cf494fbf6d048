import { expect, test } from 'vitest';
import { FieldCatalog } from './completions.ts';

const { signal } = new AbortController();

function openCatalog() {
  const asked: unknown[] = [];
  let [nowMs, isBroken] = [0, false];
  const respond = <Value>(request: unknown, value: Value) => {
    asked.push(request);
    return isBroken ? Promise.reject(new Error('not reachable')) : Promise.resolve(value);
  };
  const catalog = new FieldCatalog({
    source: {
      fields: (request) => respond(request, { fields: [{ name: 'shard', types: ['number'] }] }),
      top: (request) => respond(request, { values: [{ value: '13', count: 2 }] }),
    },
    filter: () => ({ fromMs: nowMs }),
    nowMs: () => nowMs,
  });
  const setBroken = (broken: boolean) => {
    isBroken = broken;
  };
  return { catalog, asked, setBroken, wait: (ms: number) => (nowMs += ms) };
}

test('asks once for the fields and the values of each, until they are old', async () => {
  const { catalog, asked, wait } = openCatalog();
  expect(await catalog.fields(signal)).toEqual([{ name: 'shard', types: ['number'] }]);
  expect(await catalog.values('shard', signal)).toEqual([{ value: '13', count: 2 }]);
  await catalog.fields(signal);
  await catalog.values('shard', signal);
  await catalog.values('db', signal);
  expect(asked).toEqual([
    { filter: { fromMs: 0 }, limit: 200 },
    { filter: { fromMs: 0 }, by: 'shard', limit: 10 },
    { filter: { fromMs: 0 }, by: 'db', limit: 10 },
  ]);
  wait(60_000);
  await catalog.fields(signal);
  expect(asked).toHaveLength(4);
});

test('asks again after a failure', async () => {
  const { catalog, asked, setBroken } = openCatalog();
  setBroken(true);
  await expect(catalog.fields(signal)).rejects.toThrow('not reachable');
  setBroken(false);
  await catalog.fields(signal);
  expect(asked).toHaveLength(2);
});

test('remembers the values of some fields only', async () => {
  const { catalog, asked } = openCatalog();
  for (let number = 0; number < 60; number++) await catalog.values(`f${number}`, signal);
  await catalog.values('f59', signal);
  expect(asked).toHaveLength(60);
  await catalog.values('f0', signal);
  expect(asked).toHaveLength(61);
});
