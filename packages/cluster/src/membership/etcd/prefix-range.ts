/** All keys that begin with a prefix, as etcd wants it: from the prefix to the first text behind all of them. */
export function prefixRange(prefix: string): { key: Buffer; range_end: Buffer } {
  const key = Buffer.from(prefix);
  const end = Buffer.from(key);
  // Prefixes end with "/", so the last byte can always be one more.
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return { key, range_end: end };
}
