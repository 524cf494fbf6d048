import { createClient } from '@porthole/client';
import { createZone, Scrubbing, WorkerPool } from '@porthole/logs';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeLindb, renderView } from '../testing/fake-lindb.ts';
import { ContractNode } from './contract-node.ts';
import { joinTail } from './fetch-tail.ts';

const join = (known: string, tail: string, grownBytes: number): string | undefined => {
  const bytes = Buffer.from(tail);
  const joined = joinTail(Buffer.from(known), bytes, { grownBytes });
  return joined && bytes.subarray(joined.at).toString();
};

describe('what follows what is known', () => {
  it.each([
    ['the known lines come first', 'a\nb\n', 'a\nb\nc\n', 2, 'c\n'],
    ['only the last known line is there', 'a\nb\n', 'b\nc\nd\n', 4, 'c\nd\n'],
    ['nothing is new', 'a\nb\n', 'a\nb\n', 0, ''],
    ['nothing of it is there', 'a\nb\n', 'c\nd\n', 4, undefined],
    ['the last known line was not finished', 'a\nbe', 'a\nbegin\nc\n', 6, 'gin\nc\n'],
    ['the node had ended a line that was not finished', 'a\nbe\n', 'a\nbegin\nc\n', 5, 'gin\nc\n'],
    ['lines repeat: the sizes say how many are new', 'x\nx\nx\n', 'x\nx\nx\nx\n', 4, 'x\nx\n'],
    ['lines repeat and the node added a newline', 'x\nx\n', 'x\nx\nx\n', 1, 'x\n'],
    ['the tail starts before what is known', 'b\nc\n', 'a\nb\nc\nd\n', 2, 'd\n'],
    ['it starts before, and more was written since', 'b\nc\n', 'a\nb\nc\nd\ne\n', 2, 'd\ne\n'],
    ['what is known is only the end of another line', 'b\n', 'ab\nc\n', 4, undefined],
    ['lines begin alike: part of one is no proof', 'q\n10:00 ', '10:00 a\n10:00 b\n10:00 c\n', 3, undefined],
    ['it ends within a line that goes on', 'a\nb\n', 'b\nb\n', 2, 'b\n'],
  ])('%s', (_name, known, tail, grown, rest) => {
    expect(join(known, tail, grown)).toBe(rest);
  });
});

/** At least the last line. */
function lastLines(known: Buffer, bytes: number): Buffer {
  const from = Math.min(known.length - bytes, known.lastIndexOf(10, -2) + 1);
  return from <= 0 ? known : known.subarray(known.indexOf(10, from - 1) + 1);
}

/** A log is read by what LinDB sends of it, again and again; every line must arrive once. */
it('a log that grows is put together again, whatever is written between a list and a view', () => {
  // Numbered as logs have times: lines of their own, and some that repeat.
  const text = fc.array(fc.constantFrom('a', 'b', 'same line', 'longer line of a log'), {
    minLength: 1,
    maxLength: 12,
  });
  const step = fc.record({
    listed: text,
    raced: fc.option(text, { nil: [] }),
    overlap: fc.integer({ min: 40, max: 400 }),
    keptBytes: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(text, fc.array(step, { maxLength: 6 }), fc.boolean(), (first, steps, isNumbered) => {
      let number = 0;
      const linesOf = (lines: readonly string[]) =>
        lines.map((line) => (isNumbered ? `${number++} ${line}\n` : `${line}\n`));
      let disk = Buffer.from(['head\n', ...linesOf(first)].join(''));
      let known = renderView(disk, disk.length);
      let size = disk.length;
      for (const { listed, raced, overlap, keptBytes } of steps) {
        disk = Buffer.concat([disk, Buffer.from(linesOf(listed).join(''))]);
        const listedSize = disk.length;
        // If lines cannot be distinguished, a race looks like a repetition.
        if (isNumbered) disk = Buffer.concat([disk, Buffer.from(linesOf(raced).join(''))]);
        const grownBytes = listedSize - size;
        const tail = renderView(disk, grownBytes + overlap);
        const joined = joinTail(lastLines(known, keptBytes), tail, { grownBytes });
        if (joined === undefined) {
          // Only where the view does not reach back to a known line.
          expect(grownBytes + overlap - (disk.length - size)).toBeLessThan(40);
          return;
        }
        known = Buffer.concat([known, tail.subarray(joined.at)]);
        size = listedSize;
      }
      const all = disk.subarray('head\n'.length).toString();
      expect(all.startsWith(known.toString())).toBe(true);
      if (!isNumbered) expect(known.toString()).toBe(all);
    }),
    { numRuns: runs(250) },
  );
});

const LONG = 70_000;

function contractNode(fake: FakeLindb, scrubbing = new Scrubbing()): ContractNode {
  const threads = new WorkerPool(0, { scansHere: true });
  const client = createClient({ url: fake.url, retries: 0 });
  const node = new ContractNode({ node: client, zone: createZone('UTC'), threads, scrubbing });
  onTestFinished(async () => {
    await node.close();
    await threads.close();
  });
  return node;
}

async function view(node: ContractNode, sizeBytes: number): Promise<string> {
  const { chunks } = await node.viewLog({ file: 'a.log', sizeBytes });
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString();
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_unused, index) => `line ${from + index} äöü\n`).join('');

/** The end of a file as a Porthole node serves it. */
function trueTail(text: string, sizeBytes: number): string {
  const bytes = Buffer.from(text);
  const from = bytes.length - sizeBytes;
  if (from <= 0) return text;
  const start = bytes.indexOf('\n', from - 1) + 1;
  if (start > 0 && start < bytes.length) return bytes.subarray(start).toString();
  const whole = [...bytes.subarray(from)].findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(from + whole).toString();
}

/** What LinDB can be made to send: all but the first line and what is before or in a line that is too long. */
function servable(text: string): string {
  const all = text.split('\n').slice(1, -1);
  const last = all.findLastIndex((line) => Buffer.byteLength(line) >= 65_536);
  return `${all.slice(last + 1).join('\n')}\n`;
}

const FILES = {
  'short lines': lines(0, 5000),
  'a line too long near the end': `${lines(0, 3000)}${'x'.repeat(LONG)}\n${lines(3000, 3010)}`,
  'a line too long far from the end': `${lines(0, 300)}${'x'.repeat(2 * LONG)}\n${lines(300, 9000)}`,
  'lines that are nearly too long': `${lines(0, 10)}${`${'y'.repeat(65_000)}\n`.repeat(4)}${lines(10, 20)}`,
  'several lines too long': `${lines(0, 10)}${`${'z'.repeat(LONG)}\n${lines(10, 20)}`.repeat(3)}`,
};
const SIZES = [1, 5, 13, 14, 15, 100, 4096, 65_535, 65_536, 65_537, 100_000, 131_072, 1_048_576];

describe('the viewed end of a file of a contract-only node', () => {
  it.each(Object.entries(FILES))('is that of the file, whatever its size: %s', async (_name, text) => {
    const fake = await FakeLindb.start({ 'a.log': text });
    const node = contractNode(fake);
    const available = servable(text);
    for (const size of SIZES) {
      const expected = trueTail(text, size);
      const shown = await view(node, size);
      expect(shown, `size ${size}`).toBe(expected.length <= available.length ? expected : available);
    }
  });

  it('is the same of a node that begins views within a line', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 5000) });
    fake.viewAsIs = true;
    const node = contractNode(fake);
    for (const size of SIZES) expect(await view(node, size), `size ${size}`).toBe(trueTail(lines(0, 5000), size));
  });

  it('has no secret, nor the rest of one, wherever it begins', async () => {
    const secret = 'Zx81-spectrum-9000';
    const text = `first\n${`login with ${secret} ok\n`.repeat(5000)}`;
    const fake = await FakeLindb.start({ 'a.log': text });
    const scrubbing = new Scrubbing();
    scrubbing.add([secret]);
    const node = contractNode(fake, scrubbing);
    for (let size = 1; size < 40; size++) {
      const shown = await view(node, size);
      expect(shown, `size ${size}`).toBe(trueTail(text.replaceAll(secret, '*'.repeat(secret.length)), size));
    }
  });

  it('is refused rather than empty if nothing of it is served', async () => {
    for (const text of ['the only line\n', `${lines(0, 100)}${'x'.repeat(LONG)}\n`]) {
      const node = contractNode(await FakeLindb.start({ 'a.log': text }));
      await expect(view(node, 100), text.slice(0, 20)).rejects.toMatchObject({ code: 'LOG_FILE_UNREADABLE' });
    }
    expect(await view(contractNode(await FakeLindb.start({ 'a.log': '' })), 100)).toBe('');
  });

  it('fails at its end if it is long and ends before that of the file', async () => {
    const size = 12 * 1024 ** 2;
    const [before, after] = [lines(0, 400_000), lines(400_000, 800_000)];
    const whole = contractNode(await FakeLindb.start({ 'a.log': before + after }));
    const shown = await view(whole, size);
    expect((before + after).endsWith(shown)).toBe(true);
    expect(Buffer.byteLength(shown)).toBeGreaterThan(size - 100);
    const cut = contractNode(await FakeLindb.start({ 'a.log': `${before}${'x'.repeat(LONG)}\n${after}` }));
    await expect(view(cut, size)).rejects.toMatchObject({ code: 'LOG_FILE_UNREADABLE' });
  });
});
