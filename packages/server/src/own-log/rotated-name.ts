import { extname } from 'node:path';

/** `2026-11-15T00-21-26.600`: UTC, without the colons that some file systems do not allow. */
const STAMP = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;
const STAMP_CHARS = 23;

/** The ending of names made by `temporaryName`. */
const TEMPORARY_TAIL = /^\.(\d{1,10})-[0-9a-f]{8}\.tmp$/;

export interface RotatedName {
  readonly name: string;
  /** The name without `.gz`: the same for both forms of one file. */
  readonly plainName: string;
  readonly rotatedAtMs: number;
  readonly isCompressed: boolean;
}

/** Names of rotated files of `fileName`: names that do not match exactly are not ours. */
export interface RotatedNames {
  plainName(rotatedAtMs: number): string;
  parse(name: string): RotatedName | undefined;
  /** The process id in the name of a temporary file; undefined for any other name. */
  parseTemporary(name: string): number | undefined;
}

export function createRotatedNames(fileName: string): RotatedNames {
  const extension = extname(fileName);
  const prefix = `${fileName.slice(0, fileName.length - extension.length)}-`;
  const parse = (name: string): RotatedName | undefined => {
    const isCompressed = name.endsWith('.gz');
    const plainName = isCompressed ? name.slice(0, -'.gz'.length) : name;
    if (!plainName.startsWith(prefix) || !plainName.endsWith(extension)) return undefined;
    const rotatedAtMs = parseStamp(plainName.slice(prefix.length, plainName.length - extension.length));
    return rotatedAtMs === undefined ? undefined : { name, plainName, rotatedAtMs, isCompressed };
  };
  return {
    plainName: (rotatedAtMs) => `${prefix}${toStamp(rotatedAtMs)}${extension}`,
    parse,
    parseTemporary: (name) => {
      const targetChars = prefix.length + STAMP_CHARS + extension.length + '.gz'.length;
      const target = parse(name.slice(1, 1 + targetChars));
      const pid = TEMPORARY_TAIL.exec(name.slice(1 + targetChars))?.[1];
      return name.startsWith('.') && target?.isCompressed && pid !== undefined ? Number(pid) : undefined;
    },
  };
}

/** Hidden, with process id and a random part, so that two processes never write the same one. */
export function temporaryName(compressedName: string): string {
  const chance = Math.floor(Math.random() * 0x1_0000_0000);
  return `.${compressedName}.${process.pid}-${chance.toString(16).padStart(8, '0')}.tmp`;
}

function toStamp(timeMs: number): string {
  return new Date(timeMs).toISOString().replaceAll(':', '-').slice(0, -'Z'.length);
}

function parseStamp(text: string): number | undefined {
  const match = STAMP.exec(text);
  if (!match) return undefined;
  const timeMs = Date.parse(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`);
  // Date.parse accepts the 30th of February; our names never have it.
  return !Number.isNaN(timeMs) && toStamp(timeMs) === text ? timeMs : undefined;
}
