import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { BROKER_LINES, BROKER_RECORDS, writeBrokerLog } from './testing/log-fixture.ts';
import { BINARY, runCommand, runToEnd, serve } from './testing/program.ts';
import { runOnTerminal } from './testing/pseudo-terminal.ts';

const ENV = { TZ: 'UTC' };

function inDir(): string {
  const cwd = tempDir();
  writeBrokerLog(cwd);
  return cwd;
}

async function logs(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['logs', ...args], cwd, ENV);
  return { code, stdout, stderr };
}

const said = (...records: (string | undefined)[]) => ({
  code: 0,
  stdout: records.map((text) => `${text}\n`).join(''),
  stderr: '',
});

describe('porthole logs FILE, piped', () => {
  const [start, debug, warn, error, info] = BROKER_RECORDS;

  it.each([
    { args: [], records: BROKER_RECORDS },
    { args: ['-n', '2'], records: [error, info] },
    { args: ['-n', 'all'], records: BROKER_RECORDS },
    { args: ['-n', '0'], records: [] },
    { args: ['-l', 'warn'], records: [warn, error] },
    { args: ['-l', 'Warning'], records: [warn, error] },
    { args: ['-l', 'ERR'], records: [error] },
    { args: ['-l', 'error', '-B', '1'], records: [warn, error] },
    { args: ['-g', 'SLOW'], records: [warn] },
    { args: ['-g', 'broker', '-g', 'started'], records: [debug] },
    { args: ['-g', 'BROKER', '--case-sensitive', '-l', 'warn'], records: [], code: 1 },
    { args: ['-E', 'main\\.go:\\d+'], records: [error] },
    { args: ['-e', 'broker'], records: [warn] },
    { args: ['--source', 'leaf.go:61'], records: [warn] },
    { args: ['--component', 'query'], records: [warn] },
    { args: ['-S', '2026-11-15 05:01', '-U', '2026-11-15T05:02:01Z'], records: [warn, error] },
    { args: ['-S', '2026-11-15T06:01:00+01:00', '-n', '1'], records: [info] },
    { args: ['-S', '2026-11-15 06:01:00', '-z', 'Europe/Berlin'], records: [warn, error, info] },
    { args: ['-S', '2026-11-15 05:01:00', '--log-zone', 'Europe/Berlin', '-z', 'UTC'], records: [], code: 1 },
    { args: ['-S', '2026-11-15 04:01:00', '--log-zone', 'Europe/Berlin', '--utc'], records: [warn, error, info] },
    { args: ['-g', 'nothing like this'], records: [], code: 1 },
    { args: ['-Q', 'level>=warn'], records: [warn, error] },
    { args: ['-Q', 'took>=2s OR http=9000'], records: [start, warn] },
    { args: ['-l', 'debug', '-Q', '-component:query started'], records: [debug] },
    { args: ['-Q', 'took>1h'], records: [], code: 1 },
    { args: ['-n', '1', '--prefix'], records: [`broker.log:${info}`] },
  ])('$args', async ({ args, records, code = 0 }) => {
    expect(await logs(inDir(), 'broker.log', ...args)).toEqual({ ...said(...records), code });
    expect(start).toBe(BROKER_LINES[0]);
  });

  it('reads the directories below with -R, and distinguishes equal names', async () => {
    const cwd = inDir();
    mkdirSync(join(cwd, 'pods/shop/cart'), { recursive: true });
    writeBrokerLog(join(cwd, 'pods/shop/cart'));
    const names = await logs(cwd, 'ls', '.', '-R', '-o', 'names');
    expect(names).toEqual(said('broker.log', 'pods/shop/cart/broker.log'));
    expect(await logs(cwd, 'ls', '.', '-o', 'names')).toEqual(said('broker.log'));
    const found = await logs(cwd, '.', '-R', '-g', 'slow', '--prefix');
    expect(found).toEqual(said(`pods/shop/cart/broker.log:${warn}`, `broker.log:${warn}`));
    expect(await logs(cwd, 'pods', '-R', '-n', '1')).toEqual(said(info));
  });

  it('sets groups of context apart', async () => {
    const result = await logs(inDir(), 'broker.log', '-g', 'start', '-g', 'broker', '-C', '1');
    expect(result).toEqual(said(start, debug, warn));
    const apart = await logs(inDir(), 'broker.log', '-E', 'starting|recovered', '-B', '1');
    expect(apart).toEqual(said(start, '--', error, info));
  });

  it('-o json gives one object per record, and its cursor goes on behind it', async () => {
    const cwd = inDir();
    const { stdout } = await logs(cwd, 'broker.log', '-o', 'json', '-l', 'warn');
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { cursor: string; level: string });
    expect(records.map(({ level }) => level)).toEqual(['WARN', 'ERROR']);
    expect(await logs(cwd, 'broker.log', '--cursor', records[0]?.cursor ?? '')).toEqual(said(error, info));
  });

  it('-o logfmt writes pairs, with the offset of the zone in the time', async () => {
    const { stdout } = await logs(inDir(), 'broker.log', '-o', 'logfmt', '-l', 'warn', '-z', 'Asia/Kolkata');
    expect(stdout).toBe(
      [
        'time=2026-11-15T10:31:00.000+05:30 level=warn file=broker.log source=query/leaf.go:61 component="Query Leaf" msg="slow query" took=3s',
        'time=2026-11-15T10:32:00.500+05:30 level=error file=broker.log source=broker/state.go:191 component="Broker State" msg="panic when processing\\ngoroutine 1 [running]:\\n\\tmain.go:17"',
        '',
      ].join('\n'),
    );
  });

  it('writes the very bytes of a file, whatever they are', async () => {
    const cwd = tempDir();
    const long = `2026-11-15 05:00:01.000\tINFO\ta.go:1\t[A]: ${'x'.repeat(300_000)}\n`;
    const odd = Buffer.concat([
      Buffer.from('2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: \u001b[31mred \u0000'),
      Buffer.from([0xff, 0xfe, 10]),
    ]);
    const windows = Buffer.from('2026-11-15 05:00:02.000\tINFO\ta.go:1\t[A]: lines end\r\n');
    const last = Buffer.from('2026-11-15 05:00:03.000\tINFO\ta.go:1\t[A]: no newline');
    const bytes = Buffer.concat([odd, Buffer.from(long), windows, last]);
    writeFileSync(join(cwd, 'odd.log'), bytes);
    const { status } = spawnSync('sh', ['-c', `"${process.execPath}" "${BINARY}" logs odd.log | cmp - odd.log`], {
      cwd,
    });
    expect(status).toBe(0);
  });

  it('merges several files by time', async () => {
    const cwd = inDir();
    writeFileSync(join(cwd, 'other.log'), '2026-11-15 05:00:30.000\tINFO\tb.go:1\t[B]: between\n');
    expect(await logs(cwd, 'other.log', 'broker.log', '-n', '4')).toEqual(
      said('2026-11-15 05:00:30.000\tINFO\tb.go:1\t[B]: between', warn, error, info),
    );
    expect((await logs(cwd, '.', '-n', 'all')).stdout.split('\n')[2]).toContain('between');
  });

  it('distinguishes files of the same name', async () => {
    const cwd = tempDir();
    for (const [index, dir] of ['a', 'b'].entries()) {
      mkdirSync(join(cwd, dir));
      writeFileSync(join(cwd, dir, 'x.log'), `2026-11-15 05:00:0${index}.000\tINFO\tb.go:1\tin ${dir}\n`);
    }
    const shown =
      'a/x.log 2026-11-15 05:00:00.000 INFO  in a b.go:1\nb/x.log 2026-11-15 05:00:01.000 INFO  in b b.go:1\n';
    expect((await logs(cwd, 'a/x.log', 'b/x.log', '-o', 'pretty')).stdout).toBe(shown);
    expect((await logs(cwd, 'a', 'b', '-o', 'pretty')).stdout).toBe(shown);
    expect((await logs(cwd, 'a', '-o', 'pretty')).stdout).toMatch(/^x\.log 2026/);
    const [first = ''] = (await logs(cwd, 'a', 'b', '-o', 'json')).stdout.split('\n');
    expect(JSON.parse(first)).toMatchObject({ file: 'x.log', target: 'a/x.log' });
    expect((await logs(cwd, 'ls', 'a', 'b', '-o', 'names')).stdout).toBe('a/x.log\nb/x.log\n');
  });

  it('shows of an access log what is not in its message already', async () => {
    const cwd = tempDir();
    const request = '"GET /a?b=1 HTTP/1.1" 404 46 "-" "curl/8.5.0"';
    writeFileSync(join(cwd, 'access.log'), `10.8.0.1 - - [15/Nov/2026:05:00:00 +0000] ${request}\n`);
    const { stdout } = await logs(cwd, 'access.log', '-o', 'pretty');
    expect(stdout).toBe(`2026-11-15 05:00:00.000 WARN  ${request} {"remoteAddr":"10.8.0.1"}\n`);
  });

  it('reads rotated and compressed files of the log with --rotated', async () => {
    const { gzipSync } = await import('node:zlib');
    const cwd = tempDir();
    writeFileSync(join(cwd, 'a.log.1.gz'), gzipSync('2026-11-15 04:00:00.000\tINFO\ta.go:1\t[A]: oldest\n'));
    writeFileSync(join(cwd, 'a.log'), '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: newest\n');
    expect((await logs(cwd, 'a.log')).stdout).not.toContain('oldest');
    expect((await logs(cwd, 'a.log', '-r')).stdout).toMatch(/oldest\n.*newest\n$/);
  });

  it('knows the formats of the settings, as a node does', async () => {
    const cwd = tempDir();
    const format = ['[[log.formats]]', 'name = "gateway"', 'lines = "{level};{time};{message}"'];
    const settings = [...format, 'times = "dd.MM.yyyy HH:mm:ss"', 'levels = { ALARM = "error" }'];
    writeFileSync(join(cwd, 'porthole.toml'), [...settings, '[node]', 'time-zone = "UTC"', ''].join('\n'));
    mkdirSync(join(cwd, 'logs'));
    writeFileSync(
      join(cwd, 'logs/gateway.log'),
      'I;15.11.2026 10:00:00;on\nALARM;15.11.2026 10:00:01;hot\n  81 C\nI;15.11.2026 10:00:02;off\n',
    );
    const alarm = { timeMs: Date.parse('2026-11-15T10:00:01Z'), level: 'ERROR', message: 'hot\n  81 C' };
    const local = await logs(cwd, 'logs/gateway.log', '-l', 'warn', '-o', 'json', '--config', 'porthole.toml');
    expect(JSON.parse(local.stdout)).toMatchObject(alarm);
    const url = await serve(cwd, '--config', 'porthole.toml', '--log-dir', 'logs').ready();
    const found = await (await fetch(`${url}api/v1/log/search?level=warn`)).text();
    expect(JSON.parse(found.split('\n')[0] ?? '')).toMatchObject(alarm);
    const files = await (await fetch(`${url}api/v1/log/files`)).text();
    expect(files).toContain('"format":"gateway"');
  });
});

describe('porthole logs on a terminal', () => {
  const esc = '\u001b';
  const plain = [
    '2026-11-15 05:01:00.000 WARN  [Query] [Leaf] slow query {"took":"3s"} query/leaf.go:61',
    '2026-11-15 05:02:00.500 ERROR [Broker] [State] panic when processing broker/state.go:191',
    'goroutine 1 [running]:',
    '\tmain.go:17',
    '',
  ].join('\n');

  it('is pretty and coloured, with what was looked for marked', async () => {
    const { code, output } = await runOnTerminal(['logs', 'broker.log', '-g', 'slow'], { cwd: inDir() });
    expect({ code, output }).toEqual({
      code: 0,
      output:
        `${esc}[2m2026-11-15 05:01:00.000${esc}[22m ${esc}[1m${esc}[33mWARN ${esc}[39m${esc}[22m ` +
        `${esc}[36m[Query] [Leaf]${esc}[39m ${esc}[7mslow${esc}[27m query ` +
        `${esc}[2m{"took":"3s"}${esc}[22m ${esc}[2mquery/leaf.go:61${esc}[22m\n`,
    });
  });

  it.each([
    { args: [], env: { NO_COLOR: '1' } },
    { args: [], env: { NO_COLOR: '1', FORCE_COLOR: '1' } },
    { args: ['--color', 'never'], env: { FORCE_COLOR: '1' } },
    { args: ['--no-color'], env: { FORCE_COLOR: '1' } },
    { args: [], env: { TERM: 'dumb' } },
    { args: [], env: { FORCE_COLOR: '0' } },
  ])('has no colour with $args and $env', async ({ args, env }) => {
    const { output } = await runOnTerminal(['logs', 'broker.log', '-l', 'warn', ...args], { cwd: inDir(), env });
    expect(output).toBe(plain);
  });

  it.each([
    { args: ['--color', 'always'], env: { NO_COLOR: '1' } },
    { args: ['--color'], env: {} },
    { args: [], env: { FORCE_COLOR: '1' } },
  ])('has colour even when piped with $args and $env', async ({ args, env }) => {
    const { stdout } = await runToEnd(['logs', 'broker.log', '-l', 'error', '-o', 'pretty', ...args], inDir(), {
      ...ENV,
      ...env,
    });
    expect(stdout).toContain(`${esc}[31mERROR`);
  });

  it.each(['pretty', 'raw', 'json', 'logfmt', 'table', 'csv'])(
    'lets nothing in a log talk to the terminal: %s',
    async (format) => {
      const cwd = tempDir();
      const attack = `${esc}]0;owned\u0007${esc}[2J\u009b31m\r\b\u202e`;
      writeFileSync(
        join(cwd, 'a.log'),
        `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[${attack}]: ${attack}\t{"${attack.replace(/\p{Cc}/gu, '')}k": "v"}\n`,
      );
      const { output } = await runOnTerminal(['logs', 'a.log', '-o', format, '--color', 'never'], { cwd });
      expect(output).toContain('owned');
      expect(output.replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    },
  );
});

describe('porthole logs formats', () => {
  it('shows what a file is read as, and a format that reads it in the same way', async () => {
    const cwd = inDir();
    const line = '17.11.2026 18:33:04 <OOPS> [cards] refused\n';
    writeFileSync(join(cwd, 'own.log'), line + line.replace('17.', '18.'));
    const { code, stdout, stderr } = await logs(cwd, 'formats', 'own.log');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, 10)).toEqual([
      'own.log',
      '  Format  timed-text: learned from its lines',
      '  Time    17.11.2026 18:33:04 · dd.MM.yyyy HH:mm:ss · numeric date, and clock · at the start of the line · 2 records',
      '  Level   none: no level is in the same place in most lines',
      '  Zone    UTC, assumed: the timestamps have none',
      '  Date    day before month: settled by a number over 12',
      '  Lines   2 sampled · 2 records · all fit',
      '',
      '  Samples',
      '    17.11.2026 18:33:04 <OOPS> [cards] refused',
    ]);
    const example = stdout.slice(stdout.indexOf('[[log.formats]]'));
    writeFileSync(join(cwd, 'own.toml'), example);
    const again = await logs(cwd, 'formats', 'own.log', '--config', 'own.toml');
    expect(again.stdout).toContain('  Format  own-own-log: defined in log.formats\n');
  });

  it('says what it cannot show, and which files there are not', async () => {
    const cwd = inDir();
    writeFileSync(join(cwd, 'empty.log'), '');
    expect(await logs(cwd, 'formats', './empty.log')).toEqual({
      code: 0,
      stderr: '',
      stdout: 'empty.log\n  Format  empty: the format is learned from the first lines\n',
    });
    expect(await logs(cwd, 'formats', './none.log')).toMatchObject({ code: 2, stdout: '' });
    const all = await logs(cwd, 'formats', '.');
    expect(all).toMatchObject({
      code: 0,
      stderr: 'porthole: name a single file to get an example of a format for it\n',
    });
    expect(all.stdout).toContain('broker.log\n  Format  contract: a built-in format\n');
  });
});

describe('porthole logs ls, histogram, digest and search', () => {
  it('ls lists the files', async () => {
    const cwd = inDir();
    writeFileSync(join(cwd, 'empty.log'), '');
    expect(await logs(cwd, 'ls', '.')).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'NAME         SIZE  STATE  FORMAT    FIRST                LAST',
        'broker.log  490 B  live   contract  2026-11-15 05:00:00  2026-11-15 05:02:01',
        'empty.log     0 B  live   empty     -                    -',
        '',
      ].join('\n'),
    });
    expect((await logs(cwd, 'ls', '.', '-o', 'names')).stdout).toBe('broker.log\nempty.log\n');
    const [first] = (await logs(cwd, 'ls', '.', '-o', 'json')).stdout.split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ name: 'broker.log', family: 'broker.log', format: 'contract' });
  });

  it('histogram draws a row per bucket, each level with its own character', async () => {
    const drawn = await logs(inDir(), 'histogram', 'broker.log', '--bucket', '1m');
    expect(drawn).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `TIME              ${' '.repeat(62)}  TOTAL  ERROR  WARN`,
        `2026-11-15 05:00  ${'-'.repeat(62)}      2      0     0`,
        `2026-11-15 05:01  ${'+'.repeat(31)}${' '.repeat(31)}      1      0     1`,
        `2026-11-15 05:02  ${'#'.repeat(31)}${'-'.repeat(31)}      2      1     0`,
        '# error and above  + warn  - other; 1 min per row',
        '',
      ].join('\n'),
    });
    const tsv = await logs(inDir(), 'histogram', 'broker.log', '--bucket', '1m', '-o', 'tsv');
    expect(tsv.stdout.split('\n')[3]).toBe('2026-11-15T05:02:00.000Z\t0\t1\t0\t1\t0\t0\t0');
  });

  it('histogram fits a narrow terminal', async () => {
    const { output } = await runOnTerminal(['logs', 'histogram', 'broker.log', '--bucket', '1m', '--color', 'never'], {
      cwd: inDir(),
      columns: 40,
    });
    const lines = output.split('\n').slice(0, 4);
    for (const line of lines) expect(line).toHaveLength(40);
    expect(lines[3]).toBe('11-15 05:02  ####---      2      1     0');
  });

  it('digest groups by source location', async () => {
    const { code, stdout } = await logs(inDir(), 'digest', 'broker.log', '-l', 'warn');
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'COUNT  LEVEL  WHERE                FIRST                LAST                 NEWEST',
        '    1  WARN   query/leaf.go:61     2026-11-15 05:01:00  2026-11-15 05:01:00  slow query',
        '    1  ERROR  broker/state.go:191  2026-11-15 05:02:00  2026-11-15 05:02:00  panic when processing goroutine 1 [running]: main.go:17',
        '',
      ].join('\n'),
    );
  });

  it('digest fits a narrow terminal by truncating only its last column, then leaving out columns', async () => {
    const line = ['logs', 'digest', 'broker.log', '-l', 'error', '--color', 'never'];
    const [wide, narrow] = await Promise.all(
      [100, 40].map((columns) => runOnTerminal(line, { cwd: inDir(), columns })),
    );
    const [, row = ''] = wide?.output.split('\n') ?? [];
    expect(row).toHaveLength(100);
    expect(row).toMatch(/panic when process.*…$/);
    expect(narrow?.output).toBe(
      [
        'porthole: the terminal is too narrow for: FIRST, LAST',
        'COUNT  LEVEL  WHERE         NEWEST',
        '    1  ERROR  broker…o:191  panic when …',
        '',
      ].join('\n'),
    );
  });

  it('search prints newest first, and nothing else when piped', async () => {
    const [start, debug, , error, info] = BROKER_RECORDS;
    expect(await logs(inDir(), 'search', 'BROKER', 'broker.log')).toEqual(said(info, error, debug, start));
    expect(await logs(inDir(), 'search', '', '.', '-l', 'error')).toEqual(said(error));
    expect(await logs(inDir(), 'search', 'broker', '.', '--oldest', '-n', '1')).toEqual(said(start));
    expect(await logs(inDir(), 'search', 'nothing', '.')).toEqual({ code: 1, stdout: '', stderr: '' });
  });

  it('search reports what it scanned on a terminal', async () => {
    const { output } = await runOnTerminal(['logs', 'search', 'slow', '.', '-o', 'raw'], { cwd: inDir() });
    expect(output).toMatch(/^2026.*slow query.*\nporthole: 1 record; scanned 490 B in \d\.\d s\n$/);
  });

  it('logs reports on a terminal that nothing matches, or that there is more', async () => {
    const cwd = inDir();
    const on = async (...args: string[]) => (await runOnTerminal(['logs', '.', '-o', 'raw', ...args], { cwd })).output;
    const [none, part, filtered, all] = await Promise.all([
      on('-g', 'nothing'),
      on('-n', '1'),
      on('-n', '1', '-l', 'info'),
      on('-n', '5'),
    ]);
    expect(none).toMatch(/^porthole: no match; scanned 490 B in \d\.\d s\n$/);
    expect(part).toMatch(/; more available: -n 10\n$/);
    expect(filtered).toMatch(/; more may be available: -n 10\n$/);
    expect(all).not.toContain('porthole:');
  });
});

describe('porthole logs by field', () => {
  it('top counts by value, in the order of the counts', async () => {
    const cwd = inDir();
    expect(await logs(cwd, 'top', 'component', '.')).toEqual({
      code: 0,
      stdout: [
        'component  COUNT  SHARE',
        `Broker         4  40.0%  ${'#'.repeat(60)}`,
        `Runtime        3  30.0%  ${'#'.repeat(45)}`,
        `Leaf           1  10.0%  ${'#'.repeat(15)}`,
        `Query          1  10.0%  ${'#'.repeat(15)}`,
        `State          1  10.0%  ${'#'.repeat(15)}`,
        '',
      ].join('\n'),
      stderr: '',
    });
    const took = await logs(cwd, 'top', 'took', 'broker.log', '-Q', 'level:warn');
    expect(took).toMatchObject({ code: 0, stdout: expect.stringMatching(/^took +COUNT .*\n3s +1 +100\.0% +#+\n$/) });
    const csv = await logs(cwd, 'top', 'level', '.', '-n', '1', '-o', 'csv');
    expect(csv.stdout).toBe('level,count\r\nINFO,2\r\n');
    const none = await logs(cwd, 'top', 'tok', '.');
    expect(none).toMatchObject({ code: 1, stdout: expect.stringMatching(/^tok +.*\nwithout tok +5 +100\.0%\n$/) });
    expect(none.stderr).toContain('no matching record has the field tok; did you mean "took"?');
  });

  it('top over time draws a line of blocks, and fits a narrow terminal', async () => {
    const cwd = inDir();
    const args = ['logs', 'top', 'level', 'broker.log', '--bucket', '1m', '--no-pager', '--color', 'never'];
    const { output } = await runOnTerminal(args, { cwd, columns: 40, env: ENV });
    expect(output).toMatch(/^INFO +2 +40\.0% +█ █\s*$/m);
    for (const line of output.split('\n')) expect(line.trimEnd().length).toBeLessThanOrEqual(40);
  });

  it('fields lists names, types, counts and examples', async () => {
    const { code, stdout, stderr } = await logs(inDir(), 'fields', '.');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows).toContainEqual(['http', 'number', '1', '1', '9000']);
    expect(rows).toContainEqual(['took', 'duration', '1', '1', '3s']);
  });

  it('prints chosen fields as a table, CSV, lines of a template, logfmt or JSON', async () => {
    const cwd = inDir();
    const print = async (...args: string[]) => (await logs(cwd, 'broker.log', '-l', 'warn', ...args)).stdout;
    expect(await print('--fields', 'time,took,message')).toBe(
      [
        'TIME                     took  MESSAGE',
        '2026-11-15 05:01:00.000  3s    slow query',
        '2026-11-15 05:02:00.500  -     panic when processing goroutine 1 [running]: main.go:17',
        '',
      ].join('\n'),
    );
    expect(await print('-o', 'csv', '--fields', 'level,took,message')).toBe(
      'level,took,message\r\nWARN,3s,slow query\r\nERROR,,"panic when processing\ngoroutine 1 [running]:\n\tmain.go:17"\r\n',
    );
    expect(await print('-o', 'csv', '-Q', 'took:*')).toBe(
      'time,level,source,component,message\r\n2026-11-15T05:01:00.000Z,WARN,query/leaf.go:61,Query Leaf,slow query\r\n',
    );
    expect(await print('--template', '{level} {took} {file}', '-z', 'Asia/Kolkata')).toBe(
      'WARN 3s broker.log\nERROR  broker.log\n',
    );
    expect(await print('-o', 'logfmt', '--fields', 'level,took')).toBe('level=WARN took=3s\nlevel=ERROR\n');
    const [json = '{}'] = (await print('-o', 'json', '--fields', 'took,level')).split('\n');
    expect(JSON.parse(json)).toMatchObject({ message: 'slow query', fields: { took: '3s', level: 'WARN' } });
    const [all = '{}'] = (await print('-o', 'json')).split('\n');
    expect((JSON.parse(all) as { fields: object }).fields).toEqual({
      level: 'WARN',
      source: 'query/leaf.go:61',
      component: ['Query', 'Leaf'],
      message: 'slow query',
      took: '3s',
    });
  });

  it('CSV has its header without a match; a field that no record has is named', async () => {
    const cwd = inDir();
    const none = await logs(cwd, 'broker.log', '-g', 'nothing', '-o', 'csv', '--fields', 'level,took');
    expect(none).toEqual({ code: 1, stdout: 'level,took\r\n', stderr: '' });
    expect(await logs(cwd, 'broker.log', '-n', '1', '-o', 'csv', '--fields', 'level,tok')).toEqual({
      code: 0,
      stdout: 'level,tok\r\nINFO,\r\n',
      stderr: 'porthole: no record has the field "tok"\n',
    });
  });

  it('--explain prints the filters as one query and in words, and contacts nobody', async () => {
    const args = [
      'search',
      'slow',
      '-l',
      'warn',
      '-Q',
      '(shard=13 OR shard=14)',
      '--explain',
      '--url',
      'http://127.0.0.1:1',
    ];
    const { code, stdout, stderr } = await logs(tempDir(), ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toBe('level>=warn slow (shard=13 OR shard=14)');
    expect(stdout.split('\n')).toHaveLength(3);
  });

  it('shows where a query is wrong, before anything is contacted', async () => {
    const { code, stdout, stderr } = await logs(tempDir(), '-Q', 'shard=13 cost>fast', '--url', 'http://127.0.0.1:1');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const [first, query, caret, end] = stderr.split('\n');
    expect(first).toMatch(/^porthole: .* at character 15: /);
    expect([query, caret, end]).toEqual(['  shard=13 cost>fast', '                ^', '']);
  });
});

describe('porthole logs with errors', () => {
  it.each([
    { args: ['-n', '-1'], says: 'Expected a whole number, or all' },
    { args: ['--utc', '-z', 'UTC'], says: '--utc cannot be combined with --time-zone' },
    { args: ['-l', 'loud'], says: 'trace, debug, info, warn, error or fatal' },
    { args: ['-S', 'soon'], says: 'invalid --since "soon": expected RFC 3339' },
    { args: ['-S', '25:00'], says: 'invalid --since "25:00": there is no hour 25' },
    { args: ['-S', 'now', '-U', '1h'], says: 'must be before --until (' },
    { args: ['-E', '(unclosed'], says: 'unclosed' },
    { args: ['-z', 'Mars/Base'], says: 'Expected a time zone like' },
    { args: ['--cursor', 'nonsense'], says: 'invalid cursor' },
    { args: ['--cursor', 'x', '-n', '5'], says: 'cannot be combined with --tail' },
    { args: ['-f', '-C', '2'], says: '--context cannot be combined with --follow' },
    { args: ['--levle', 'error'], says: 'Did you mean --level?' },
    { args: ['-o', 'xml'], says: 'pretty, raw, json, logfmt, table, csv or template' },
    { args: ['-Q', 'a', '-Q', 'b'], says: '--query is given twice' },
    { args: ['-o', 'template'], says: '-o template needs --template' },
    { args: ['--template', '{time'], says: 'at character 1: "{" is not closed' },
    { args: ['--fields', 'a', '-o', 'raw'], says: '--fields cannot be combined with -o raw' },
    { args: ['--color', 'maybe'], says: 'auto, always or never' },
  ])('rejects $args with the reason', async ({ args, says }) => {
    const { code, stdout, stderr } = await logs(inDir(), 'broker.log', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('names the missing file', async () => {
    expect(await logs(tempDir(), './absent.log')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'porthole: ./absent.log: no such file or directory\n',
    });
  });

  it('warns about a file it cannot read, reads the others and exits with 3', async () => {
    const cwd = inDir();
    writeFileSync(join(cwd, 'broken.log.1.gz'), Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]));
    const { code, stdout, stderr } = await logs(cwd, '.');
    expect({ code, stdout }).toEqual({ code: 3, stdout: said(...BROKER_RECORDS).stdout });
    expect(stderr).toMatch(/^porthole: warning: broken\.log\.1\.gz: LOG_FILE_CORRUPT: .*\n$/);
    expect(await logs(cwd, '.', '-q')).toEqual({ code: 3, stdout, stderr: '' });
  });
});
