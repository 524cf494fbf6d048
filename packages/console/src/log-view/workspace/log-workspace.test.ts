import { PortholeError } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import { positionAt } from '../source/log-source.ts';
import { FIRST_MS } from '../testing/fake-source.ts';
import { settled } from '../testing/manual-clock.ts';
import { openTestWorkspace, upTo } from '../testing/open-workspace.ts';

const keyAt = (number: number) => `n1 c${number}`;
const at = (number: number) => ({ at: { node: 'n1', cursor: `c${number}` } });

describe('a workspace that follows', () => {
  it('shows the newest page and then new records', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000, { isLive: true });
    expect(numbers()).toEqual(upTo(900, 999));
    expect(workspace.state).toMatchObject({
      follow: { state: 'live' },
      top: { kind: 'more' },
      bottom: { kind: 'done' },
      anchor: { key: keyAt(999), align: 'bottom' },
    });
    source.write(3);
    await draw();
    expect(numbers()).toEqual(upTo(900, 1002));
  });

  it('opens with one request', async () => {
    const { source } = await openTestWorkspace(1000, { isLive: true });
    expect(source.requests).toHaveLength(1);
  });

  it('shows new records at most once per frame', async () => {
    const { workspace, source, clock } = await openTestWorkspace(10, { isLive: true });
    let changes = 0;
    workspace.subscribe(() => {
      changes++;
    });
    for (let batch = 0; batch < 20; batch++) {
      source.write(5);
      await settled();
    }
    expect(changes).toBe(0);
    clock.frame();
    expect(changes).toBe(1);
    expect(workspace.state.rows).toHaveLength(110);
  });

  it('misses nothing written between the page and the stream', async () => {
    const { source, draw, numbers } = await openTestWorkspace(50, {
      isLive: true,
      prepare: (fake) => {
        fake.onPage = async () => {
          await settled();
        };
      },
    });
    source.write(5);
    await draw();
    expect(numbers()).toEqual(upTo(0, 54));
  });

  it('misses nothing when the log was empty', async () => {
    let isFirst = true;
    const { draw, numbers, source } = await openTestWorkspace(0, {
      isLive: true,
      prepare: (fake) => {
        fake.onPage = () => {
          if (isFirst) queueMicrotask(() => queueMicrotask(() => fake.write(3, { isSilent: true })));
          isFirst = false;
        };
      },
    });
    await draw();
    source.write(2);
    await draw();
    expect(numbers()).toEqual(upTo(0, 4));
  });

  it('keeps at most 4,000 records and reopens the other edge', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(100, { isLive: true });
    expect(workspace.state.top.kind).toBe('done');
    source.write(5000);
    await draw();
    expect(numbers()).toEqual(upTo(1100, 5099));
    expect(workspace.state.top.kind).toBe('more');
    workspace.pause();
    workspace.loadMore('older');
    await draw();
    expect(numbers().slice(0, 2)).toEqual([900, 901]);
  });

  it('reports rate and lag, also when nothing arrives', async () => {
    const { workspace, source, clock, draw } = await openTestWorkspace(10, { isLive: true });
    source.write(50);
    await draw();
    expect(workspace.state.follow).toMatchObject({ linesPerSecond: 10, lagMs: clock.now() - FIRST_MS - 59 * 500 });
    clock.advance(6000);
    await draw();
    expect(workspace.state.follow.linesPerSecond).toBe(0);
  });

  it('shows log events as rows', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    source.emit(
      { type: 'rotated', node: 'n1', family: 'a.log', from: 'a.log', to: 'a.log.1' },
      { type: 'truncated', node: 'n1', file: 'a.log', lostBytes: 2000 },
      { type: 'missing', node: 'n1', family: 'a.log' },
      { type: 'gap', node: 'n1', family: 'a.log', reason: 'gone', bytes: null, after: null, until: null },
    );
    await draw();
    expect(workspace.state.rows.slice(3)).toMatchObject([
      { kind: 'event', text: 'a.log was rotated: reading a.log.1', isProblem: false },
      { kind: 'event', text: 'a.log was truncated, 2.0 KiB not read: reading it from its start', isProblem: true },
      { kind: 'event', text: 'a.log does not exist at the moment' },
      { kind: 'gap', text: 'Records of a.log not shown: the position is no longer in the log' },
    ]);
  });

  it('reports a member that stops responding in a row and in its report', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    const report = { id: 'n2', outcome: 'refused', detail: 'no route', elapsedMs: 1, count: 0, asOfMs: null } as const;
    source.emit({ type: 'member', node: 'n2', report });
    await draw();
    expect(workspace.state.rows.at(-1)).toMatchObject({ node: 'n2', text: 'cannot be followed (refused: no route)' });
    expect(workspace.state.members.map(({ id }) => id)).toEqual(['n1', 'n2']);
  });

  it('says once that a member that was recorded stops responding', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    const report = { id: 'n2', outcome: 'refused', detail: 'no route', elapsedMs: 1, count: 0, asOfMs: 1 } as const;
    source.emit({ type: 'member', node: 'n2', report });
    await draw();
    expect(workspace.state.rows.filter(({ kind }) => kind === 'event')).toEqual([]);
    expect(workspace.state.members.map(({ id }) => id)).toEqual(['n1', 'n2']);
  });

  it('reports members that fail at the same time in one row', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    const report = { outcome: 'timeout', detail: null, elapsedMs: 1, count: 0, asOfMs: null } as const;
    const failed = ['n2', 'n3', 'n4', 'n5'].map(
      (id) => ({ type: 'member', node: id, report: { id, ...report } }) as const,
    );
    source.emit(...failed);
    await draw();
    expect(workspace.state.rows.slice(3)).toMatchObject([
      { node: null, text: '4 nodes cannot be followed: n2 (timeout), n3 (timeout), n4 (timeout) and 1 more' },
    ]);
  });

  it('shows a lost connection once and continues when it is back', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    source.emit({ type: 'reconnecting', reason: 'reset', waitMs: 5 });
    await draw();
    source.emit({ type: 'reconnecting', reason: 'refused', waitMs: 5 });
    await draw();
    expect(workspace.state.follow).toMatchObject({ state: 'reconnecting', reason: 'refused' });
    expect(workspace.state.rows.filter(({ kind }) => kind === 'event')).toHaveLength(1);
    source.write(1);
    await draw();
    expect(workspace.state.follow).toMatchObject({ state: 'live', reason: null });
  });

  it('begins again with the newest page if it cannot be followed, with growing delays', async () => {
    const { workspace, source, clock, draw, numbers } = await openTestWorkspace(3, {
      isLive: true,
      prepare: (fake) => {
        fake.followFailure = new PortholeError('UNREACHABLE', 'no connection');
      },
    });
    expect(workspace.state.follow).toMatchObject({ state: 'reconnecting', reason: 'no connection' });
    for (const seconds of [1, 2, 4, 8, 15, 15]) {
      const begun = source.followedFrom.length;
      clock.advance(seconds * 1000 - 1);
      await draw();
      expect(source.followedFrom).toHaveLength(begun);
      clock.advance(1);
      await draw();
      expect(source.followedFrom).toHaveLength(begun + 1);
    }
    source.followFailure = undefined;
    source.write(4);
    clock.advance(15_000);
    await draw();
    expect(workspace.state.follow).toMatchObject({ state: 'live', reason: null });
    expect(numbers()).toEqual(upTo(0, 6));
  });

  it('keeps its rows and says so when it may no longer follow', async () => {
    const { workspace, source, draw } = await openTestWorkspace(3, { isLive: true });
    source.breakFollow(new PortholeError('FORBIDDEN', 'the role may not'));
    await draw();
    expect(workspace.state.follow.state).toBe('off');
    expect(workspace.state.rows.slice(2)).toMatchObject([
      { kind: 'record' },
      { kind: 'event', text: 'No longer followed: the role may not', isProblem: true },
    ]);
  });

  it('retries until the node responds', async () => {
    const { workspace, clock, draw, numbers, source } = await openTestWorkspace(10, {
      isLive: true,
      prepare: (fake) => {
        fake.onPage = () => {
          throw new PortholeError('UNREACHABLE', 'no connection');
        };
      },
    });
    expect(workspace.state.failure).toMatchObject({ code: 'UNREACHABLE', detail: 'no connection' });
    expect(workspace.state.follow).toMatchObject({ state: 'reconnecting', reason: 'no connection' });
    source.onPage = () => {};
    clock.advance(1000);
    await draw();
    source.write(1);
    await draw();
    expect(workspace.state.failure).toBeNull();
    expect(workspace.state.follow.state).toBe('live');
    expect(numbers()).toEqual(upTo(0, 10));
  });

  it('does not follow what the node refuses', async () => {
    const { workspace } = await openTestWorkspace(10, {
      isLive: true,
      prepare: (fake) => {
        fake.onPage = () => {
          throw new PortholeError('PARAMETER_INVALID', 'no such member');
        };
      },
    });
    expect(workspace.state.failure).toMatchObject({ code: 'PARAMETER_INVALID' });
    expect(workspace.state.follow.state).toBe('off');
  });
});

describe('a paused workspace', () => {
  it.each([
    ['pause', (w: { pause(): void }) => w.pause()],
    ['a moved focus', (w: { moveFocus(by: number): void }) => w.moveFocus(-1)],
    ['a focus', (w: { focus(key: string): void }) => w.focus(keyAt(5))],
  ] as const)('%s keeps the rows as they are and counts', async (_name, act) => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(10, { isLive: true });
    act(workspace);
    source.write(20);
    await draw();
    expect(numbers()).toEqual(upTo(0, 9));
    expect(workspace.state.follow).toMatchObject({ state: 'paused', newRecords: 20, newErrors: 2 });
  });

  it('resumes at the end without lost or duplicate lines', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(10, { isLive: true });
    source.write(3);
    workspace.pause();
    source.write(4);
    await draw();
    workspace.resume();
    source.write(5);
    await draw();
    expect(numbers()).toEqual(upTo(0, 21));
    expect(workspace.state.follow).toMatchObject({ state: 'live', newRecords: 0, newErrors: 0 });
    expect(workspace.state.focusedKey).toBeNull();
  });

  it('holds the newest 2,000; the rest is a gap that can be loaded', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(10, { isLive: true });
    workspace.pause();
    source.write(2300);
    await draw();
    workspace.resume();
    await draw();
    const gap = workspace.state.rows[10];
    expect(gap).toMatchObject({
      kind: 'gap',
      text: '300 records not shown: written while paused',
      range: { node: null },
    });
    expect(numbers()).toEqual([...upTo(0, 9), ...upTo(310, 2309)]);
    void workspace.loadGap(gap?.key ?? '');
    await draw();
    expect(numbers()).toEqual([...upTo(0, 209), ...upTo(310, 2309)]);
    void workspace.loadGap(gap?.key ?? '');
    await draw();
    expect(numbers()).toEqual(upTo(0, 2309));
    expect(workspace.state.rows.every(({ kind }) => kind === 'record')).toBe(true);
  });

  it('elsewhere in the log keeps counting and can return to the end', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000, { isLive: true });
    workspace.jump(at(100));
    await draw();
    source.write(7);
    await draw();
    expect(workspace.state).toMatchObject({ follow: { state: 'paused', newRecords: 7 }, focusedKey: keyAt(100) });
    workspace.resume();
    await draw();
    source.write(1);
    await draw();
    expect(numbers()).toEqual(upTo(907, 1007));
    expect(workspace.state.follow.state).toBe('live');
    expect(source.followers).toBe(1);
  });

  it('loads a gap of the stream in place', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(10, { isLive: true });
    source.write(5, { isSilent: true });
    source.emit({ type: 'gap', node: 'n1', family: 'a.log', reason: 'slow', bytes: 500, after: 'c9', until: 'c14' });
    await draw();
    source.write(2);
    await draw();
    expect(numbers()).toEqual([...upTo(0, 9), 15, 16]);
    source.emit();
    const gap = workspace.state.rows.find(({ kind }) => kind === 'gap');
    void workspace.loadGap(gap?.key ?? '');
    await draw();
    expect(numbers()).toEqual([...upTo(0, 13), 15, 16]);
  });
});

describe('the focused row', () => {
  it('is not dropped while new rows arrive', async () => {
    const { workspace, draw, numbers } = await openTestWorkspace(9000, { start: 'end' });
    workspace.focus(keyAt(8999));
    for (let page = 0; page < 25; page++) {
      workspace.loadMore('older');
      await draw();
    }
    expect(workspace.state.rows.some(({ key }) => key === keyAt(8999))).toBe(true);
    expect(numbers()).toHaveLength(5100);
  });

  it('moves by records and skips notices', async () => {
    const { workspace, source, draw } = await openTestWorkspace(10, { isLive: true });
    source.emit({ type: 'missing', node: 'n1', family: 'a.log' });
    await draw();
    source.write(1);
    await draw();
    workspace.focus(keyAt(9));
    workspace.moveFocus(1);
    expect(workspace.state.focusedKey).toBe(keyAt(10));
    workspace.moveFocus(-3);
    expect(workspace.state.focusedKey).toBe(keyAt(7));
    workspace.moveFocus(-100);
    expect(workspace.state.focusedKey).toBe(keyAt(0));
  });

  it('goes to the first and the last record, wherever they are', async () => {
    const { workspace, draw } = await openTestWorkspace(1000, { start: at(500) });
    workspace.toFirst();
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: keyAt(0), top: { kind: 'done' }, anchor: { align: 'top' } });
    workspace.toLast();
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: keyAt(999), bottom: { kind: 'done' } });
  });
});

describe('pages', () => {
  it('load at both ends until nothing is left', async () => {
    const { workspace, draw, numbers } = await openTestWorkspace(500, { start: at(250) });
    expect(numbers()).toEqual(upTo(150, 349));
    workspace.loadMore('older');
    workspace.loadMore('newer');
    await draw();
    expect(numbers()).toEqual(upTo(0, 499));
    expect(workspace.state).toMatchObject({ top: { kind: 'done' }, bottom: { kind: 'done' } });
  });

  it('a scan that finds little continues and reports its progress', async () => {
    const edges: unknown[] = [];
    const { workspace, source, clock } = await openTestWorkspace(1000, {
      prepare: (fake) => {
        fake.scanRecords = 100;
      },
    });
    workspace.subscribe(() => edges.push(workspace.state.top));
    workspace.setFilter({ terms: ['record 123'] });
    await settled();
    clock.frame();
    expect(source.requests.length).toBeGreaterThan(9);
    expect(edges).toContainEqual(
      expect.objectContaining({ kind: 'loading', scannedBytes: 10_000, reachedMs: FIRST_MS + 900 * 500 }),
    );
    expect(workspace.state).toMatchObject({ top: { kind: 'done', scannedBytes: 100_000 } });
    expect(workspace.state.rows.map(({ key }) => key)).toEqual([keyAt(123)]);
    expect(workspace.state.anchor).toEqual({ key: keyAt(123), align: 'bottom' });
  });

  it('stops after 20 s and can be continued', async () => {
    const { workspace, source, clock, draw } = await openTestWorkspace(1000);
    source.scanRecords = 10;
    source.onPage = () => clock.advance(2000);
    workspace.setFilter({ terms: ['nothing has this'] });
    await draw();
    expect(workspace.state.top).toEqual({ kind: 'stopped', scannedBytes: 11_000, reachedMs: FIRST_MS + 890 * 500 });
    source.onPage = () => {};
    workspace.retry();
    await draw();
    expect(workspace.state.top.kind).toBe('done');
  });

  it('can be stopped by hand', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000);
    const signals: AbortSignal[] = [];
    source.onPage = (_request, signal) => {
      if (signal) signals.push(signal);
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    workspace.loadMore('older');
    await draw();
    expect(workspace.state.top.kind).toBe('loading');
    workspace.stopLoading();
    await draw();
    expect(workspace.state.top.kind).toBe('stopped');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    source.onPage = () => {};
    workspace.retry();
    await draw();
    expect(numbers()).toEqual(upTo(700, 999));
  });

  it('stopped during the first request, shows its result and sends no more', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000);
    source.scanRecords = 100;
    let respond = () => {};
    source.onPage = () =>
      new Promise((resolve) => {
        respond = resolve;
      });
    workspace.setFilter({ terms: ['record 95'] });
    await draw();
    workspace.stopLoading();
    source.requests.length = 0;
    respond();
    await draw();
    expect(source.requests).toEqual([]);
    expect(numbers()).toEqual(upTo(950, 959));
    expect(workspace.state.top).toMatchObject({ kind: 'stopped', scannedBytes: 10_000 });
  });

  it('that fail are reported at their edge and can be retried', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(300);
    source.onPage = () => {
      throw new PortholeError('TOO_MANY_SEARCHES', 'too many');
    };
    workspace.loadMore('older');
    await draw();
    expect(workspace.state.top).toEqual({
      kind: 'failed',
      code: 'TOO_MANY_SEARCHES',
      detail: 'too many',
    });
    source.onPage = () => {};
    workspace.retry();
    await draw();
    expect(numbers()).toEqual(upTo(0, 299));
  });

  it('requested for another view are ignored', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000);
    let respond = () => {};
    source.onPage = () =>
      new Promise<void>((resolve) => {
        respond = resolve;
      });
    workspace.loadMore('older');
    await settled();
    const late = respond;
    source.onPage = () => {};
    workspace.jump('start');
    await draw();
    late();
    await draw();
    expect(numbers()).toEqual(upTo(0, 99));
  });
});

describe('a jump', () => {
  it('to a time shows the first record at or after it at the top', async () => {
    const { workspace, draw, numbers } = await openTestWorkspace(1000);
    workspace.jump({ timeMs: FIRST_MS + 400 * 500 - 1 });
    await draw();
    expect(workspace.state.anchor).toEqual({ key: keyAt(400), align: 'top' });
    expect(numbers()).toEqual(upTo(300, 499));
  });

  it('to a time after the last record shows the end', async () => {
    const { workspace, draw } = await openTestWorkspace(1000);
    workspace.jump({ timeMs: FIRST_MS * 2 });
    await draw();
    expect(workspace.state.anchor).toEqual({ key: keyAt(999), align: 'bottom' });
  });

  it('to a record centres and focuses it', async () => {
    const { workspace, draw } = await openTestWorkspace(1000);
    workspace.jump(at(123));
    await draw();
    expect(workspace.state).toMatchObject({ anchor: { key: keyAt(123), align: 'center' }, focusedKey: keyAt(123) });
  });

  it('to a record that loads slowly focuses that record', async () => {
    const { workspace, source, draw } = await openTestWorkspace(1000);
    source.scanRecords = ({ direction, from }) => (direction === 'newer' && 'at' in Object(from) ? 0 : Infinity);
    workspace.jump(at(123));
    await draw();
    expect(workspace.state).toMatchObject({ anchor: { key: keyAt(123), align: 'center' }, focusedKey: keyAt(123) });
  });

  it.each([
    [0, 0],
    [0.5, 500],
  ])('to the fraction %d shows what is there', async (fraction, first) => {
    const { workspace, draw } = await openTestWorkspace(1001);
    workspace.jump(positionAt(fraction, workspace.state.extent));
    await draw();
    expect(workspace.state.anchor).toEqual({ key: keyAt(first), align: 'top' });
  });

  it('to a record that no longer exists shows the error of the API', async () => {
    const { workspace, draw } = await openTestWorkspace(1000, {
      start: at(3),
      prepare: (fake) => {
        fake.removedRecords = 10;
      },
    });
    expect(workspace.state.failure).toMatchObject({ code: 'CURSOR_GONE' });
    workspace.jump('end');
    await draw();
    expect(workspace.state.failure).toBeNull();
  });
});

describe('another filter', () => {
  it('keeps the focused record in view if it still matches', async () => {
    const { workspace, draw, numbers } = await openTestWorkspace(1000, { start: at(509) });
    workspace.setFilter({ minLevel: 'ERROR' });
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: keyAt(509), anchor: { key: keyAt(509), align: 'center' } });
    expect(numbers().every((number) => number % 10 === 9)).toBe(true);
  });

  it.each([
    [501, 499],
    [507, 509],
  ])('otherwise focuses the nearest in time: for %d it is %d', async (focused, nearest) => {
    const { workspace, draw } = await openTestWorkspace(1000, { start: at(focused) });
    workspace.setFilter({ minLevel: 'ERROR' });
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(nearest));
  });

  it('of a live view is followed', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(100, { isLive: true });
    workspace.setFilter({ minLevel: 'ERROR' });
    await draw();
    source.write(20);
    await draw();
    expect(numbers()).toEqual([9, 19, 29, 39, 49, 59, 69, 79, 89, 99, 109, 119]);
    expect(source.followers).toBe(1);
  });

  it('the same filter again changes nothing', async () => {
    const { workspace, source } = await openTestWorkspace(100, { filter: { minLevel: 'ERROR' } });
    workspace.setFilter({ minLevel: 'ERROR' });
    expect(source.requests).toHaveLength(1);
  });
});

describe('the context of a filtered record', () => {
  it('is shown around it in log order and can be closed', async () => {
    const { workspace, draw, numbers } = await openTestWorkspace(100, { filter: { minLevel: 'WARN' } });
    void workspace.toggleContext(keyAt(50 + 4));
    await draw();
    expect(numbers()).toEqual([...[4, 9, 14, 19, 24, 29, 34, 39], ...upTo(44, 64), ...[69, 74, 79, 84, 89, 94, 99]]);
    const context = workspace.state.rows.filter((row) => row.kind === 'record' && row.isContext);
    expect(context).toHaveLength(16);
    expect(workspace.state.contextKey).toBe(keyAt(54));
    void workspace.toggleContext(keyAt(54));
    await draw();
    expect(numbers()).toEqual(upTo(0, 19).map((count) => count * 5 + 4));
    expect(workspace.state.contextKey).toBeNull();
  });
});

describe('counts and extent', () => {
  it('are published when they are loaded', async () => {
    const { workspace, draw } = await openTestWorkspace(100);
    expect(workspace.state.extent).toEqual({ firstMs: FIRST_MS, lastMs: FIRST_MS + 99 * 500 });
    void workspace.count(40);
    expect(workspace.state.isCounting).toBe(true);
    await draw();
    expect(workspace.state).toMatchObject({ isCounting: false, histogram: { buckets: [{ counts: { ERROR: 10 } }] } });
  });

  it('can be stopped for rows of another place, which are awaited until they are shown', async () => {
    const { workspace, draw } = await openTestWorkspace(100);
    void workspace.count(40);
    workspace.jump('start');
    expect(workspace.state.isShowing).toBe(true);
    workspace.stopCounting();
    expect(workspace.state.isCounting).toBe(false);
    await draw();
    expect(workspace.state).toMatchObject({ isShowing: false, histogram: null });
  });
});

describe('a closed workspace', () => {
  it('leaves nothing running', async () => {
    const { workspace, source, clock, draw } = await openTestWorkspace(100, { isLive: true });
    workspace.close();
    await draw();
    expect(source.followers).toBe(0);
    expect(clock.waits).toBe(0);
    source.write(5);
    await draw();
    expect(workspace.state.rows).toHaveLength(100);
  });

  it('opened again shows only the other log', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(100, { isLive: true });
    workspace.open({ source, filter: {}, find: null, start: 'start', isLive: false });
    await draw();
    source.write(5);
    await draw();
    expect(numbers()).toEqual(upTo(0, 99));
    expect(workspace.state.follow.state).toBe('off');
    expect(source.followers).toBe(0);
  });
});
