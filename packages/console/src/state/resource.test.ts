import { ClientError } from '@porthole/client';
import { expect, test } from 'vitest';
import { NodeColours, Resource, type ResourceEnv, type ResourceOptions } from './resource.ts';
import { Store } from './store.ts';

/** A page whose time passes only when the test says so. */
class FakePage implements ResourceEnv {
  nowMs = 1000;
  visible = true;
  #timers: { atMs: number; run: () => void }[] = [];
  #returns = new Set<() => void>();

  now() {
    return this.nowMs;
  }

  after(ms: number, run: () => void) {
    const timer = { atMs: this.nowMs + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  isVisible() {
    return this.visible;
  }

  onReturn(run: () => void) {
    this.#returns.add(run);
    return () => this.#returns.delete(run);
  }

  get timers() {
    return this.#timers.length;
  }

  get listeners() {
    return this.#returns.size;
  }

  /** Advances the time and settles pending loads. */
  async pass(ms: number) {
    this.nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of due) run();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async comeBack() {
    this.visible = true;
    for (const run of this.#returns) run();
    await this.pass(0);
  }
}

function counted(page: FakePage, { fail = () => false, ...options }: ResourceOptions & { fail?: () => boolean } = {}) {
  let loads = 0;
  const resource = new Resource(
    async () => {
      loads++;
      if (fail()) throw new ClientError('UNREACHABLE', 'no connection', { method: 'GET', url: '/' });
      return loads;
    },
    { everyMs: 10_000, ...options, env: page },
  );
  return { resource, loads: () => loads };
}

test('loads only while someone subscribes, and then periodically', async () => {
  const page = new FakePage();
  const { resource, loads } = counted(page);
  await page.pass(60_000);
  expect(loads()).toBe(0);
  resource.watch();
  await page.pass(0);
  expect(resource.state.value).toMatchObject({ value: 1, asOfMs: page.nowMs, failure: null, isLoading: false });
  await page.pass(9999);
  expect(loads()).toBe(1);
  await page.pass(1);
  expect(resource.state.value.value).toBe(2);
});

test('pauses without subscribers and continues with its value when one returns', async () => {
  const page = new FakePage();
  const { resource, loads } = counted(page);
  const first = resource.watch();
  const second = resource.watch();
  await page.pass(0);
  first();
  first();
  expect(page.timers).toBe(1);
  second();
  expect([page.timers, page.listeners]).toEqual([0, 0]);
  resource.watch();
  await page.pass(5000);
  expect(loads()).toBe(1);
});

test('a failure keeps the value and the time of the first failure', async () => {
  const page = new FakePage();
  let isDown = false;
  const { resource } = counted(page, { fail: () => isDown });
  resource.watch();
  await page.pass(0);
  const asOfMs = page.nowMs;
  isDown = true;
  await page.pass(10_000);
  const sinceMs = page.nowMs;
  await page.pass(5000);
  expect(resource.state.value).toEqual({
    value: 1,
    asOfMs,
    failure: { code: 'UNREACHABLE', detail: 'no connection', status: null, sinceMs },
    isLoading: false,
  });
  isDown = false;
  await page.pass(5000);
  expect(resource.state.value).toMatchObject({ value: 4, asOfMs: page.nowMs, failure: null });
});

test('a hidden page sends no requests, and loads what is due when visible', async () => {
  const page = new FakePage();
  const { resource, loads } = counted(page);
  resource.watch();
  await page.pass(0);
  page.visible = false;
  await page.pass(60_000);
  expect(loads()).toBe(1);
  await page.comeBack();
  expect(loads()).toBe(2);
  await page.pass(10_000);
  expect(loads()).toBe(3);
});

test('a running load is aborted with the last subscriber and its response ignored', async () => {
  const page = new FakePage();
  let signal: AbortSignal | undefined;
  let respond: (value: string) => void = () => {};
  const resource = new Resource<string>(
    (given) => {
      signal = given;
      return new Promise((resolve) => {
        respond = resolve;
      });
    },
    { env: page },
  );
  resource.watch()();
  expect(signal?.aborted).toBe(true);
  respond('late');
  await page.pass(0);
  expect(resource.state.value).toEqual({ value: null, asOfMs: null, failure: null, isLoading: true });
});

test('does not load twice at the same time', async () => {
  const page = new FakePage();
  const { resource, loads } = counted(page);
  resource.watch();
  resource.reload();
  await page.pass(0);
  expect(loads()).toBe(1);
});

test('only a reload that somebody asked for counts as loading', async () => {
  const page = new FakePage();
  const { resource } = counted(page);
  const seen: boolean[] = [];
  resource.state.subscribe(() => seen.push(resource.state.value.isLoading));
  resource.watch();
  await page.pass(0);
  await page.pass(10_000);
  expect(seen).toEqual([false, false]);
  resource.reload();
  await page.pass(0);
  expect(seen).toEqual([false, false, true, false]);
});

test('the first load waits for a pause; what is left before sends no request', async () => {
  const page = new FakePage();
  const { resource, loads } = counted(page, { pauseMs: 400 });
  resource.watch()();
  await page.pass(400);
  expect(loads()).toBe(0);
  resource.watch();
  await page.pass(399);
  expect(loads()).toBe(0);
  await page.pass(1);
  expect(loads()).toBe(1);
});

test('a load gives way: it is aborted at once, and sent again afterwards until it has ended', async () => {
  const page = new FakePage();
  const isAwaited = new Store(true);
  const sent: { signal: AbortSignal; respond: (value: string) => void }[] = [];
  const resource = new Resource<string>((signal) => new Promise((resolve) => sent.push({ signal, respond: resolve })), {
    givesWay: isAwaited,
    env: page,
  });
  resource.watch();
  expect(sent).toHaveLength(0);
  isAwaited.set(false);
  expect(sent).toHaveLength(1);
  isAwaited.set(true);
  expect(sent[0]?.signal.aborted).toBe(true);
  isAwaited.set(false);
  expect(sent).toHaveLength(2);
  sent[1]?.respond('counted');
  await page.pass(0);
  // What has ended is not sent again.
  isAwaited.set(true);
  isAwaited.set(false);
  expect(resource.state.value.value).toBe('counted');
  expect(sent).toHaveLength(2);
});

test('a node keeps its colour when others come and go, also in the next session', () => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  };
  const colours = new NodeColours(storage);
  colours.add(['c', 'a']);
  colours.add(['b', 'c']);
  expect(['a', 'b', 'c'].map((id) => colours.of(id))).toEqual([1, 3, 2]);
  expect(['a', 'b', 'c'].map((id) => new NodeColours(storage).of(id))).toEqual([1, 3, 2]);
});

test('the ninth node has the colour of the first', () => {
  const colours = new NodeColours(undefined);
  colours.add(Array.from({ length: 9 }, (_, index) => `node-${index}`));
  expect(colours.of('node-8')).toBe(1);
});

test('beyond the limit, new nodes take the places of those that are gone', () => {
  const colours = new NodeColours(undefined);
  const first = Array.from({ length: 2000 }, (_, index) => `old-${index}`);
  colours.add(first);
  const kept = colours.of('old-5');
  colours.add(['old-5', 'new-0', 'new-1', 'new-2']);
  expect(colours.of('old-5')).toBe(kept);
  expect(['new-0', 'new-1', 'new-2'].map((id) => colours.of(id))).toEqual([1, 2, 3]);
});

test('an unknown node always has the same colour', () => {
  const colours = new NodeColours(undefined);
  const colour = colours.of('stranger');
  expect(colour).toBe(colours.of('stranger'));
  expect(colour).toBeGreaterThanOrEqual(1);
  expect(colour).toBeLessThanOrEqual(8);
});
