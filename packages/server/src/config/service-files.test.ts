import {
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { readConfigFiles, ServiceFiles } from './config-files.ts';

/** Beyond the time for which a change may be hidden. */
const LATER_MS = 120_000;

const later = () => Date.now() + LATER_MS;

function seeded(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % most;
  };
}

/** Files as they are, whatever was kept. */
async function readFresh(options: ConstructorParameters<typeof ServiceFiles>[0]) {
  return readConfigFiles(options).catch((error: unknown) => String(error));
}

/** Writes until the clock of the file system has ticked, so that the file has another stamp. */
function writeInNextTick(path: string, text: string, write = () => writeFileSync(path, text)): void {
  const before = statSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs;
  for (let now = before; now === before; now = statSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs)
    write();
}

/** A configuration of PostgreSQL, which includes a file, files of a directory, and one that need not exist. */
function makeFiles() {
  const dir = tempDir();
  mkdirSync(join(dir, 'conf.d'));
  const main = join(dir, 'postgresql.conf');
  writeFileSync(main, "port = 5000\ninclude 'a.conf'\ninclude_dir 'conf.d'\ninclude_if_exists 'maybe.conf'\n");
  writeFileSync(join(dir, 'a.conf'), 'a = 1\n');
  writeFileSync(join(dir, 'conf.d/b.conf'), 'b = 1\n');
  return { dir, main, options: { configFile: main, configFiles: [], maxBytes: 100_000 } };
}

describe('the files of a configuration', () => {
  it('are not read again while all of them are unchanged, the included ones too', async () => {
    const { options } = makeFiles();
    const files = new ServiceFiles(options, later);
    const first = await files.read();
    expect(await files.read()).toBe(first);
    expect(first).toEqual(await readFresh(options));
  });

  it.each([
    ['the main file', ({ main }) => writeInNextTick(main, 'port = 5001\n')],
    ['an included file, with the same length', ({ dir }) => writeInNextTick(join(dir, 'a.conf'), 'a = 2\n')],
    [
      'an included file, whose time is set back',
      ({ dir }) => {
        const path = join(dir, 'a.conf');
        const { atime, mtime } = statSync(path);
        writeInNextTick(path, 'a = 3\n');
        utimesSync(path, atime, mtime);
      },
    ],
    ['a new file in an included directory', ({ dir }) => writeInNextTick(join(dir, 'conf.d'), '', add(dir))],
    ['a file that was missing', ({ dir }) => writeFileSync(join(dir, 'maybe.conf'), 'c = 1\n')],
    [
      'a file in which PostgreSQL keeps changes',
      ({ dir }) => writeFileSync(join(dir, 'postgresql.auto.conf'), 'd = 1\n'),
    ],
    ['a file that is gone', ({ dir }) => unlinkSync(join(dir, 'a.conf'))],
    [
      'another file in its place',
      ({ dir }) => {
        writeFileSync(join(dir, 'new'), 'a = 4\n');
        renameSync(join(dir, 'new'), join(dir, 'a.conf'));
      },
    ],
    [
      'a link to another file in its place',
      ({ dir }) => {
        writeFileSync(join(dir, 'target'), 'a = 5\n');
        unlinkSync(join(dir, 'a.conf'));
        symlinkSync(join(dir, 'target'), join(dir, 'a.conf'));
      },
    ],
  ] as [string, (files: ReturnType<typeof makeFiles>) => void][])(
    'are read again after a change: %s',
    async (_what, change) => {
      const made = makeFiles();
      const files = new ServiceFiles(made.options, later);
      const first = await files.read();
      change(made);
      const second = await files.read();
      expect(second).not.toEqual(first);
      expect(second).toEqual(await readFresh(made.options));
    },
  );

  it('that were changed a moment ago are not kept: another change may leave no trace', async () => {
    const { main, options } = makeFiles();
    const files = new ServiceFiles(options);
    for (let port = 1000; port < 1400; port++) {
      writeFileSync(main, `port = ${port}\n`);
      expect((await files.read()).files[0]?.text).toBe(`port = ${port}\n`);
    }
  });

  it('are those on disk whatever is done to them in between', async () => {
    for (let seed = 1; seed <= runs(4); seed++) {
      const random = seeded(seed);
      const made = makeFiles();
      const { dir, options } = made;
      const names = ['postgresql.conf', 'a.conf', 'maybe.conf', 'conf.d/b.conf', 'conf.d/c.conf'];
      let aheadMs = 0;
      const files = new ServiceFiles(options, () => Date.now() + aheadMs);
      for (let step = 0; step < 60; step++) {
        // Far behind its last change a file is trusted; then the next change has another stamp, as in reality.
        if (aheadMs > 0) writeInNextTick(`${dir}.clock`, 'x');
        aheadMs = random(2) * LATER_MS;
        const path = join(dir, names[random(names.length)] ?? '');
        const kind = random(5);
        const text = path.endsWith('postgresql.conf')
          ? `port = ${1000 + random(9)}\ninclude 'a.conf'\ninclude_dir 'conf.d'\ninclude_if_exists 'maybe.conf'\n`
          : `x = ${random(9)}\n`;
        if (kind === 0 && !path.endsWith('postgresql.conf')) rmSync(path, { force: true });
        else if (kind === 1) {
          writeFileSync(`${path}.new`, text);
          renameSync(`${path}.new`, path);
        } else if (kind === 2) {
          rmSync(`${path}.old`, { force: true });
          if (statSync(path, { throwIfNoEntry: false })) linkSync(path, `${path}.old`);
        } else if (kind === 3) writeFileSync(path, text);
        const read = await files.read().catch((error: unknown) => String(error));
        expect(read, `seed ${seed}, step ${step}`).toEqual(await readFresh(options));
      }
      rmSync(`${dir}.clock`, { force: true });
    }
  });
});

function add(dir: string): () => void {
  let number = 0;
  return () => writeFileSync(join(dir, `conf.d/new${number++}.conf`), 'n = 1\n');
}
