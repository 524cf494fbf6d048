/*
 * The parts of a ZIP archive, whose lengths and hashes come behind the content of each file. Archives stay below 4 GiB
 * (`bundle.max-bytes`): all lengths have 32 bits. Writing fails for a longer one.
 */

/** One file that was written. */
export interface ZipEntry {
  name: Buffer;
  crc32: number;
  packedBytes: number;
  bytes: number;
  /** Where its header starts in the archive. */
  offset: number;
}

/** Names are UTF-8, and lengths come behind the content. */
const FLAGS = 0x0808;
const DEFLATED = 8;

/** The version of the format that a reader needs. */
const NEEDS = 20;

/** By a Unix system, which has modes. */
const MADE_BY = (3 << 8) | NEEDS;

/** No access for others: bundles are attached to tickets and unpacked in shared places. */
const FILE_MODE = 0o100640;

export function localHeader(name: Buffer, timeMs: number): Buffer {
  const extra = timeField(timeMs);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(NEEDS, 4);
  writeCommon(head.subarray(6), { name, extra, timeMs });
  return Buffer.concat([head, name, extra]);
}

/** What is known when the content was written. */
export function dataDescriptor({ crc32, packedBytes, bytes }: ZipEntry): Buffer {
  const part = Buffer.alloc(16);
  part.writeUInt32LE(0x08074b50, 0);
  part.writeUInt32LE(crc32, 4);
  part.writeUInt32LE(packedBytes, 8);
  part.writeUInt32LE(bytes, 12);
  return part;
}

/** The directory at the end of an archive, which starts at `offset`. */
export function directory(
  entries: readonly ZipEntry[],
  { offset, timeMs }: { offset: number; timeMs: number },
): Buffer {
  const heads = Buffer.concat(entries.map((entry) => directoryEntry(entry, timeMs)));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(heads.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([heads, end]);
}

function directoryEntry({ name, crc32, packedBytes, bytes, offset }: ZipEntry, timeMs: number): Buffer {
  const extra = timeField(timeMs);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(MADE_BY, 4);
  head.writeUInt16LE(NEEDS, 6);
  writeCommon(head.subarray(8), { name, extra, timeMs });
  head.writeUInt32LE(crc32, 16);
  head.writeUInt32LE(packedBytes, 20);
  head.writeUInt32LE(bytes, 24);
  head.writeUInt32LE(FILE_MODE * 2 ** 16, 38);
  head.writeUInt32LE(offset, 42);
  return Buffer.concat([head, name, extra]);
}

/** What both headers of a file have, without lengths and hash. */
function writeCommon(head: Buffer, { name, extra, timeMs }: { name: Buffer; extra: Buffer; timeMs: number }): void {
  const time = new Date(timeMs);
  head.writeUInt16LE(FLAGS, 0);
  head.writeUInt16LE(DEFLATED, 2);
  head.writeUInt16LE((time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1), 4);
  head.writeUInt16LE(((time.getFullYear() - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate(), 6);
  head.writeUInt16LE(name.length, 20);
  head.writeUInt16LE(extra.length, 22);
}

/** The time in seconds and UTC: the other one is local and even. */
function timeField(timeMs: number): Buffer {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field[4] = 1;
  field.writeInt32LE(Math.floor(timeMs / 1000) | 0, 5);
  return field;
}
