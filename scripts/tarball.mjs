import { gunzipSync } from 'node:zlib';

/* Reads the archives npm serves. Plain JavaScript: it runs before anything is installed. */

const BLOCK = 512;

/** The files of a package's tarball: path inside the package -> bytes. Links and folders are left out: npm installs no links. */
export function filesOfTarball(compressed) {
  const bytes = gunzipSync(compressed);
  const files = new Map();
  let longName;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const header = bytes.subarray(at, at + BLOCK);
    const size = Number.parseInt(textOf(header, 124, 12), 8);
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    const type = String.fromCharCode(header[156]);
    // Names over 100 bytes come before their file, in one of two ways.
    if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(content.toString('utf8'))?.[1];
    else if (type === 'L') longName = textOf(content, 0, content.length);
    else if (type !== 'g') {
      const prefix = textOf(header, 257, 5) === 'ustar' ? textOf(header, 345, 155) : '';
      const path = longName ?? `${prefix === '' ? '' : `${prefix}/`}${textOf(header, 0, 100)}`;
      // The first folder has any name.
      if (type === '0' || type === '\0') files.set(path.slice(path.indexOf('/') + 1), content);
      longName = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function textOf(bytes, start, length) {
  const text = bytes.toString('utf8', start, start + length);
  const end = text.indexOf('\0');
  return (end === -1 ? text : text.slice(0, end)).trim();
}
