/** Long enough for every name we know of, short enough for every file system. */
const MAX_NAME_LENGTH = 120;

/** Names that mean devices on Windows, where a bundle may be unpacked. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Names for the files of an archive, which is unpacked by whoever gets it: neither the id of a member nor the name of a
 * log file can lead out of its folder, hide, or be taken for another one, whatever the file system thinks of case.
 */
export class EntryNames {
  readonly #taken = new Set<string>();

  /** A path of these parts; another one each time. What is asked of `ending` stays at its end. */
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
