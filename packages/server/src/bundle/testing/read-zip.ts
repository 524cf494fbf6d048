import { crc32, inflateRawSync } from 'node:zlib';

export interface ZippedFile {
  name: string;
  content: Buffer;
  /** Epoch ms, of whole seconds. */
  timeMs: number;
}

/** The files of an archive in the order they are written, by its directory. Throws for what is not a whole archive. */
export function readZip(archive: Buffer): ZippedFile[] {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new Error('the archive has no end');
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    if (archive.readUInt32LE(at) !== 0x02014b50) throw new Error('no entry where one should be');
    const [nameLength, extraLength] = [archive.readUInt16LE(at + 28), archive.readUInt16LE(at + 30)];
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const extra = archive.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const packed = contentAt(archive, archive.readUInt32LE(at + 42), archive.readUInt32LE(at + 20));
    const content = archive.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    if (content.length !== archive.readUInt32LE(at + 24)) throw new Error(`${name} has another length`);
    if (crc32(content) !== archive.readUInt32LE(at + 16)) throw new Error(`${name} has another checksum`);
    at += 46 + nameLength + extraLength + archive.readUInt16LE(at + 32);
    return { name, content, timeMs: extra.readUInt32LE(5) * 1000 };
  });
}

function contentAt(archive: Buffer, header: number, length: number): Buffer {
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  return archive.subarray(start, start + length);
}
