import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifyBundle } from './verify.ts';

interface Stored {
  name: string;
  text: string;
  /** Another name, in front of the content. */
  localName?: string;
}

/** An archive without compression. */
function zip(files: readonly Stored[], { between = '' } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, text, localName = name } of files) {
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt32LE(text.length, 18);
    header.writeUInt32LE(text.length, 22);
    header.writeUInt16LE(localName.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt32LE(text.length, 20);
    entry.writeUInt32LE(text.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, Buffer.from(name));
    const part = Buffer.concat([header, Buffer.from(localName + text + between)]);
    parts.push(part);
    at += part.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}

function manifest(names: readonly string[], text: string): Stored {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const entries = names.map((name) => ({ name, bytes: text.length, sha256, problems: [] }));
  const content = { format: 'porthole-bundle', formatVersion: 1, entries, missing: [], members: [], isComplete: true };
  return { name: 'manifest.json', text: JSON.stringify(content) };
}

function verify(bytes: Buffer) {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-verify-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'a.zip'), bytes);
  return verifyBundle(join(dir, 'a.zip'));
}

const A = { name: 'a', text: 'x' };

it('an archive of the listed files is intact', async () => {
  expect((await verify(zip([A, manifest(['a'], 'x')]))).entries).toHaveLength(1);
});

it.each([
  ['two manifests', zip([A, manifest(['a', 'b'], 'y'), manifest(['a'], 'x')])],
  ['a file twice', zip([{ name: 'a', text: 'y' }, A, manifest(['a'], 'x')])],
  ['names that differ by case', zip([A, { name: 'A', text: 'x' }, manifest(['a', 'A'], 'x')])],
  ['a manifest in capitals', zip([A, { name: 'MANIFEST.json', text: 'x' }, manifest(['a', 'MANIFEST.json'], 'x')])],
  ['another name in front of the content', zip([{ ...A, localName: 'b' }, manifest(['a'], 'x')])],
  ['data before it', Buffer.concat([Buffer.from('#!/bin/sh\n'), zip([A, manifest(['a'], 'x')])])],
  ['data behind it', Buffer.concat([zip([A, manifest(['a'], 'x')]), Buffer.from('x')])],
  ['another archive before it', Buffer.concat([zip([A]), zip([A, manifest(['a'], 'x')])])],
  ['data between its files', zip([A, manifest(['a'], 'x')], { between: 'x' })],
])('an archive with %s is damaged', async (_, bytes) => {
  await expect(verify(bytes)).rejects.toThrow('the bundle is damaged');
});
