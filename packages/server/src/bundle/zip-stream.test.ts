import { createHash } from 'node:crypto';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { readZip } from './testing/read-zip.ts';
import { ZipStream } from './zip-stream.ts';

const TIME = Date.parse('2026-11-15T12:00:00Z');

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

async function collect(zip: ZipStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of zip.chunks()) parts.push(chunk);
  return Buffer.concat(parts);
}

describe('an archive that is written while it is read', () => {
  it('has what was added, in its order, each with the time of the archive', async () => {
    const zip = new ZipStream(TIME);
    const reading = collect(zip);
    const first = await zip.add('a/first.txt', pieces('one ', 'two'));
    await zip.add('empty', pieces());
    await zip.add('last', pieces('three'));
    zip.end();
    expect(first).toEqual({ bytes: 7, sha256: createHash('sha256').update('one two').digest('hex') });
    expect(readZip(await reading).map((file) => ({ ...file, content: file.content.toString() }))).toEqual([
      { name: 'a/first.txt', content: 'one two', timeMs: TIME },
      { name: 'empty', content: '', timeMs: TIME },
      { name: 'last', content: 'three', timeMs: TIME },
    ]);
  });

  it('copies what it is given: memory that is used again does no harm', async () => {
    const zip = new ZipStream(TIME);
    const lent = Buffer.alloc(1000);
    const chunks = (async function* () {
      for (let round = 0; round < 200; round++) yield lent.fill(round % 256);
    })();
    const reading = collect(zip);
    await zip.add('lent', chunks);
    zip.end();
    const [file] = readZip(await reading);
    expect(file?.content.every((byte, index) => byte === Math.floor(index / 1000) % 256)).toBe(true);
  });

  it('has every byte of files that are compressed piece by piece, however they come', async () => {
    const zip = new ZipStream(TIME);
    const reading = collect(zip);
    // Half of it is noise, which does not become smaller.
    const noise = createHash('shake256', { outputLength: 700_000 }).update('noise').digest();
    const whole = Buffer.concat([noise, Buffer.alloc(700_000, 'a line of a log\n')]);
    const lengths = [1, 999, 65_536, 262_144, 262_145, whole.length];
    for (const length of lengths) {
      const chunks = (async function* () {
        for (let at = 0; at < whole.length; at += length) yield whole.subarray(at, at + length);
      })();
      const sha256 = createHash('sha256').update(whole).digest('hex');
      expect(await zip.add(`in ${length}`, chunks)).toEqual({ bytes: whole.length, sha256 });
    }
    zip.end();
    const files = readZip(await reading);
    expect(files.map(({ content }) => content.equals(whole))).toEqual(lengths.map(() => true));
  });

  it('continues after a file that failed, which ends where it failed', async () => {
    const zip = new ZipStream(TIME);
    const reading = collect(zip);
    const broken = (async function* () {
      yield Buffer.from('so far');
      throw new Error('it broke');
    })();
    await expect(zip.add('broken', broken)).rejects.toThrow('it broke');
    await zip.add('next', pieces('well'));
    zip.end();
    expect(readZip(await reading).map(({ name, content }) => [name, content.toString()])).toEqual([
      ['broken', 'so far'],
      ['next', 'well'],
    ]);
  });

  it('takes no more than a few blocks while nobody reads', async () => {
    const zip = new ZipStream(TIME);
    let taken = 0;
    let isReturned = false;
    const endless = (async function* () {
      try {
        for (;;) {
          taken++;
          // Noise, which stays as large as it is.
          yield createHash('shake256', { outputLength: 65_536 }).update(String(taken)).digest();
        }
      } finally {
        isReturned = true;
      }
    })();
    const adding = zip.add('endless', endless);
    await eventually(() => expect(taken).toBeGreaterThan(2));
    let before = 0;
    await eventually(() => {
      const isStill = before === taken;
      before = taken;
      expect(isStill).toBe(true);
    });
    expect(taken).toBeLessThan(40);
    zip.discard();
    await adding;
    expect(isReturned).toBe(true);
  });

  it('that fails is never a whole one', async () => {
    const zip = new ZipStream(TIME);
    const reading = collect(zip);
    await zip.add('a', pieces('a'));
    zip.fail(new Error('no more'));
    await expect(reading).rejects.toThrow('no more');
  });
});
