import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ConfigThread } from './config-thread.ts';
import { TomlError } from './formats/toml-error.ts';
import { CONFIG_CORPUS } from './testing/config-corpus.ts';
import { unmark } from './testing/redaction-corpus.ts';

const SECRET_KEYS = ['special_*'];

it('a thread masks, flattens and collects what this thread does', async () => {
  const here = new ConfigThread(SECRET_KEYS, { shortCharacters: Number.POSITIVE_INFINITY });
  const there = new ConfigThread(SECRET_KEYS, { shortCharacters: 0 });
  for (const { marked } of CONFIG_CORPUS.slice(0, 20)) {
    const { toml } = unmark(marked);
    for (const kind of ['mask', 'view', 'secrets'] as const) {
      expect(await there.run(kind, toml)).toEqual(await here.run(kind, toml));
    }
  }
});

it('others are served while a large configuration is masked', async () => {
  const text = Array.from({ length: 1500 }, (_, n) => `key_${n} = "value ${n}"\npassword_${n} = "s3cret-${n}"`).join(
    '\n',
  );
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turns++) await delay(1); // pause: a turn of the event loop is what is counted
  })();
  const masked = await new ConfigThread([]).run('mask', text);
  isDone = true;
  await counting;
  expect(masked).not.toContain('s3cret');
  expect(masked).toContain('value 1499');
  // A single turn would be all, were it done by this thread.
  expect(turns).toBeGreaterThan(5);
});

it('what is not TOML is refused by the thread alike, and the next text is masked', async () => {
  const thread = new ConfigThread([], { shortCharacters: 0 });
  const results = await Promise.allSettled([
    thread.run('mask', 'a = '),
    thread.run('mask', 'password = "x"'),
    thread.run('mask', `a = ${'['.repeat(200_000)}`),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(TomlError);
});
