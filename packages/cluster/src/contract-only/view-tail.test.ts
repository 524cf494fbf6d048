import { createClient } from '@porthole/client';
import { createZone, Scrubbing, WorkerPool } from '@porthole/logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { ContractNode } from './contract-node.ts';

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
