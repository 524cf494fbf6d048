/** Long enough for all known names, short enough for every file system. */
const MAX_NAME_LENGTH = 120;

/** Device names on Windows, where a bundle may be unpacked. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Safe names for the files of an archive: neither the id of a member nor the name of a log file can lead out of its folder,
 * be hidden, or collide with another one, even on case-insensitive file systems.
 */
export class EntryNames {
  readonly #taken = new Set<string>();

  /** A unique path of these parts, with this ending. */
  take(parts: readonly string[], ending = ''): string {
    const path = parts.map(safePart).join('/');
    for (let count = 1; ; count++) {
      const name = `${path}${count === 1 ? '' : `-${count}`}${ending}`;
      const key = name.toLowerCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return name;
    }
  }
}

function safePart(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+|\.+$/g, '_')
    .slice(0, MAX_NAME_LENGTH);
  return plain === '' || DEVICE.test(plain) ? `_${plain}` : plain;
}
