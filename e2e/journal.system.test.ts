import { appendFileSync, chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeState } from '@porthole/contract';
import { familySource, searchItems } from '@porthole/contract';
import type { FoundRecord, SearchItem, SearchQuery } from '@porthole/logs';
import { eventually, runUnprivileged } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startNode } from '@porthole/server';
import { runDoctor } from '@porthole/server/doctor';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countReaders, JournalFiles } from './testing/journal-files.ts';
import { Program, runCommand, serve } from './testing/program.ts';

const ALL = 'journal/all.log';
const NGINX = 'journal/nginx.service.log';
const OF_NGINX = [familySource(NGINX)];

const ENTRIES = [
  { second: 0, message: 'Started nginx.service', identifier: 'systemd' },
  {
    second: 1.5,
    message: Buffer.from([0x62, 0x61, 0x64, 0xff, 0x21]),
    priority: 3,
    identifier: 'nginx',
    unit: 'nginx.service',
  },
  { second: 2, message: 'Traceback\n  at main\n  at run', priority: 4, unit: 'app.service' },
  { second: 3, message: '\u001b[31mred\u001b[0m "quoted" ü', priority: 7, unit: 'app.service' },
  { second: 4, message: 'long '.repeat(2000), priority: 0, unit: 'app.service' },
];

interface JournalNode {
  state: NodeState;
  stop(): Promise<void>;
}

async function startJournalNode(
  journalDir: string,
  { dir = tempDir(), units = [] }: { dir?: string; units?: string[] } = {},
): Promise<JournalNode> {
  const node = await startNode({
    env: {},
    settings: {
      node: { timeZone: 'UTC' },
      http: { port: 0 },
      grpc: { port: 0 },
      service: { logDir: join(dir, 'logs') },
      logging: { dir: join(dir, 'own') },
      log: { journal: true, journalDir, journalUnits: units },
    },
  });
  onTestFinished(() => node.stop());
  return node;
}

async function search(state: NodeState, query: Partial<SearchQuery> = {}) {
  const items: SearchItem[] = [];
  const whole = { order: 'oldest', limit: 1000, before: 0, after: 0, ...query } as const;
  for await (const batch of searchItems(state, whole)) items.push(...batch);
  const records = items.filter((item): item is FoundRecord => item.type === 'record');
  const end = items.at(-1);
  if (end?.type !== 'end') throw new Error('no end');
  return { records, end, messages: records.map(({ message }) => message) };
}

/** When the journal has been read to its end. */
async function caughtUp(state: NodeState): Promise<void> {
  await eventually(async () => expect((await search(state)).end.problems).toEqual([]));
}

describe('a node that serves the journal', () => {
  it('reads entries exactly, and answers all queries about them', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES);
    const { state } = await startJournalNode(journal.dir);
    await caughtUp(state);

    const { records } = await search(state, { src: [`=${ALL}`] });
    expect(records.map(({ timeMs, level, tags, message }) => ({ timeMs, level, tags, message }))).toEqual([
      { timeMs: 1_794_736_800_000, level: 'INFO', tags: ['systemd'], message: 'Started nginx.service' },
      { timeMs: 1_794_736_801_500, level: 'ERROR', tags: ['nginx', 'nginx.service'], message: 'bad\uFFFD!' },
      { timeMs: 1_794_736_802_000, level: 'WARN', tags: ['app', 'app.service'], message: ENTRIES[2]?.message },
      { timeMs: 1_794_736_803_000, level: 'DEBUG', tags: ['app', 'app.service'], message: ENTRIES[3]?.message },
      { timeMs: 1_794_736_804_000, level: 'FATAL', tags: ['app', 'app.service'], message: ENTRIES[4]?.message },
    ]);
    expect(records[0]?.context).toMatchObject({ _HOSTNAME: 'node-1', __CURSOR: expect.stringMatching(/^s=/) });

    const messages = async (query: Partial<SearchQuery>) => (await search(state, query)).messages;
    expect(await messages({ minLevel: 'ERROR', src: [familySource(ALL)] })).toHaveLength(2);
    expect(await messages({ terms: ['at run'] })).toEqual([ENTRIES[2]?.message]);
    expect(await messages({ regex: 'Started \\w+' })).toEqual(['Started nginx.service']);
    expect(await messages({ component: 'nginx.service' })).toEqual(['bad\uFFFD!']);
    expect(await messages({ fromMs: 1_794_736_801_500, toMs: 1_794_736_803_000 })).toHaveLength(2);
    const cursor = records[3]?.cursor ?? '';
    expect(await messages({ start: { cursor } })).toEqual([ENTRIES[4]?.message]);
    const { buckets } = await state.logHistogram({ buckets: 10 });
    expect(buckets.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b)).toBe(5);
    expect((await state.logDigest({ limit: 10 })).groups).toHaveLength(5);

    expect(await state.listLogs()).toEqual([]);
    expect((await state.logFiles()).map(({ name, format, state: kind }) => ({ name, format, kind }))).toEqual([
      { name: ALL, format: 'json', kind: 'live' },
    ]);
    await expect(state.viewLog({ file: ALL, sizeBytes: 100 })).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
    expect((await state.describe()).problems?.map(({ check }) => check)).not.toContain('journal');
  });

  it('follows it live, and continues after a restart and a crash without losing or repeating an entry', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES);
    const dir = tempDir();
    const first = await startJournalNode(journal.dir, { dir, units: ['nginx', 'app.service'] });
    await caughtUp(first.state);
    expect((await search(first.state, { src: OF_NGINX })).messages).toEqual(['bad\uFFFD!']);
    const followed: string[] = [];
    const leave = new AbortController();
    const following = (async () => {
      const query = { src: OF_NGINX, start: { back: 1 } } as const;
      for await (const items of first.state.followLogs(query, { signal: leave.signal }))
        for (const item of items) if (item.type === 'record') followed.push(item.message);
    })();
    // It has begun: what is written from now on is not among the records it starts with.
    await eventually(() => expect(followed).toEqual(['bad\uFFFD!']));
    await journal.append({ second: 10, message: 'live', unit: 'nginx.service' }, { second: 11, message: 'other' });
    await eventually(() => expect(followed).toEqual(['bad\uFFFD!', 'live']));
    const { cursor = '' } = (await search(first.state, { src: OF_NGINX })).records.at(-1) ?? {};
    leave.abort();
    await following;
    await first.stop();
    expect(countReaders(journal.dir)).toBe(0);

    // A crash in the middle of a line: the entry is read again.
    const file = join(dir, NGINX);
    appendFileSync(file, '{"__REALTIME_TIMESTAMP":"17947');
    await journal.append({ second: 20, message: 'while away', unit: 'nginx.service' });
    const second = await startJournalNode(journal.dir, { dir, units: ['nginx', 'app.service'] });
    await eventually(async () =>
      expect((await search(second.state, { src: OF_NGINX, start: { cursor } })).messages).toEqual(['while away']),
    );
    expect((await search(second.state, { src: OF_NGINX })).messages).toEqual(['bad\uFFFD!', 'live', 'while away']);
    await second.stop();

    // The journal is vacuumed while nobody reads it: what may be missing is said where it is missing.
    rmSync(journal.dir, { recursive: true });
    const { dir: fresh, append } = new JournalFiles();
    await append.call({ dir: fresh } as JournalFiles, { second: 30, message: 'after', unit: 'nginx.service' });
    const third = await startJournalNode(fresh, { dir, units: ['nginx'] });
    await eventually(async () =>
      expect((await search(third.state, { src: OF_NGINX })).messages.slice(-2)).toEqual([
        'entries may be missing here: the journal no longer has the last one that was read',
        'after',
      ]),
    );
    expect((await third.state.logFiles()).map(({ name }) => name)).toEqual([NGINX]);
  });

  it('says what is wrong if it cannot be read, everywhere', async () => {
    const empty = new JournalFiles();
    const { state } = await startJournalNode(empty.dir);
    const detail = expect.stringContaining('has no journal files') as string;
    await eventually(async () =>
      expect((await state.describe()).problems).toContainEqual({ check: 'journal', detail }),
    );
    expect((await search(state)).end.problems).toContainEqual({ file: ALL, code: 'JOURNAL_UNAVAILABLE', detail });
    expect((await search(state, { src: [`=${ALL}`] })).end.problems).toEqual([
      { file: ALL, code: 'JOURNAL_UNAVAILABLE', detail },
    ]);
    const refused = state
      .followLogs({ src: [`=${ALL}`], start: 'end' })
      [Symbol.asyncIterator]()
      .next();
    await expect(refused).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE', message: detail });
    const leave = new AbortController();
    const types: string[] = [];
    for await (const items of state.followLogs({ start: 'end' }, { signal: leave.signal })) {
      types.push(...items.map(({ type }) => type));
      if (types.includes('skipped')) leave.abort();
    }
    expect(types).toEqual(['skipped', 'end']);

    const { code, stderr } = await runCommand(['logs', 'journal:', '--journal-dir', empty.dir], tempDir());
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^porthole: .*has no journal files.*\n$/)]);
    const settings = { log: { journal: true, journalDir: empty.dir } };
    const { findings } = await runDoctor({ options: settings });
    expect(findings.filter(({ name }) => name === 'journal')).toMatchObject([{ state: 'problem', detail }]);
    // It is read as soon as there is one.
    await empty.append({ second: 1, message: 'at last' });
    await eventually(async () => expect((await search(state)).messages).toEqual(['at last']));
    await caughtUp(state);
    const { findings: fine } = await runDoctor({ options: { log: { ...settings.log, journalUnits: ['nope'] } } });
    expect(fine.filter(({ name }) => name === 'journal')).toMatchObject([
      { state: 'warning', detail: 'the journal has no entries of nope.service' },
    ]);
  });

  it('names the group to join if permissions are missing', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES);
    for (const name of readdirSync(journal.dir)) chmodSync(join(journal.dir, name), 0);
    chmodSync(join(journal.dir, '..'), 0o755);
    const script = join(import.meta.dirname, 'testing/journal-unprivileged.mjs');
    expect(JSON.parse(runUnprivileged(script, journal.dir, join(tempDir(), 'spool')))).toEqual({
      code: 'JOURNAL_UNAVAILABLE',
      message: expect.stringMatching(/^the user \w+ may not read the journal files: .*group systemd-journal/) as string,
    });
  });

  it('leaves no journalctl behind, even if it is killed', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES);
    const node = serve(tempDir(), '--journal', '--journal-dir', journal.dir, '--journal-unit', 'nginx');
    await node.ready();
    await eventually(() => expect(countReaders(journal.dir)).toBe(1));
    node.kill('SIGKILL');
    await eventually(() => expect(countReaders(journal.dir)).toBe(0));
  });
});

describe('porthole logs journal:', () => {
  it('queries the journal of a machine, with cursors of journald', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES.slice(0, 4));
    const cwd = tempDir();
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(['logs', ...args, '--journal-dir', journal.dir], cwd, {
        TZ: 'UTC',
      });
      const records = stdout
        .split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as FoundRecord] : []));
      return { code, stderr, records, messages: records.map(({ message }) => message) };
    };
    const messages = ENTRIES.slice(0, 4).map(({ message }) => (typeof message === 'string' ? message : 'bad\uFFFD!'));
    const all = await run('journal:', '-o', 'json');
    expect(all).toMatchObject({ code: 0, stderr: '', messages });
    expect((await run('journal:', '-n', '2', '-o', 'json')).messages).toEqual(messages.slice(2));
    expect((await run('journal:nginx', '-o', 'json')).messages).toEqual(['bad\uFFFD!']);
    expect((await run('journal:', '-l', 'error', '-B', '1', '-o', 'json')).records).toMatchObject([
      { message: messages[1], before: [{ message: messages[0], cursor: all.records[0]?.cursor }] },
    ]);
    // Older than the newest entry: a query filters, so more than that one has to be read.
    expect((await run('journal:', '-n', '1', '-Q', 'level>=error', '-o', 'json')).messages).toEqual([messages[1]]);
    expect(
      (await run('journal:', '-S', '2026-11-15 10:00:02', '-U', '2026-11-15 10:00:03', '-o', 'json')).messages,
    ).toEqual([messages[2]]);
    const { cursor = '' } = all.records[1] ?? {};
    expect(cursor).toMatch(/^s=/);
    expect((await run('journal:', '--cursor', cursor, '-o', 'json')).messages).toEqual(messages.slice(2));
    expect((await run('search', '', 'journal:', '--cursor', cursor, '-o', 'json')).messages).toEqual(
      messages.slice(0, 1),
    );
    expect(await run('journal:', '--cursor', cursor.replace(/i=\w+/, 'i=ffff'), '-o', 'json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no longer has the entry') as string,
    });
    for (const command of [['histogram'], ['top', 'level'], ['fields']])
      expect(await run(...command, 'journal:', '-o', 'json')).toMatchObject({ code: 0 });
    expect(await run('journal:--file=/etc/shadow')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('invalid unit "--file=/etc/shadow"') as string,
    });
    const nowhere = await runCommand(['logs', 'journal:'], cwd, { PATH: cwd });
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('journalctl not found') as string });
    expect(countReaders(journal.dir)).toBe(0);
  });

  it('follows it', async () => {
    const journal = new JournalFiles();
    await journal.append(...ENTRIES);
    const cwd = tempDir();
    const args = ['logs', 'journal:', '-f', '-n', '1', '-o', 'json', '--journal-dir', journal.dir];
    const program = new Program(args, { cwd, env: { TMPDIR: cwd } });
    const followed = () =>
      program.stdout.split('\n').flatMap((line) => (line ? [(JSON.parse(line) as FoundRecord).message] : []));
    await eventually(() => expect(followed()).toEqual([ENTRIES[4]?.message]));
    await journal.append({ second: 10, message: 'live' });
    await eventually(() => expect(followed().at(-1)).toBe('live'));
    program.kill('SIGINT');
    expect(await program.end()).toMatchObject({ code: 130 });
    await eventually(() => expect(countReaders(journal.dir)).toBe(0));
    expect(readdirSync(cwd)).toEqual([]);
  });
});
