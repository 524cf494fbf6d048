import { extname } from 'node:path';

/** `2026-11-15T00-21-26.600`: UTC, without the colons that some file systems do not allow. */
const STAMP = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

/** Names made by `temporaryName`. */
const TEMPORARY = /^\.(.*)\.(\d{1,10})-[0-9a-f]{8}\.tmp$/s;

export interface RotatedName {
  readonly name: string;
  /** The name without `.gz`: the same for both forms of one file. */
  readonly plainName: string;
  readonly rotatedAtMs: number;
  readonly isCompressed: boolean;
}

/** Names of rotated files of `fileName`: names that do not match exactly are not ours. */
export class RotatedNames {
  readonly #prefix: string;
  readonly #extension: string;

  constructor(fileName: string) {
    this.#extension = extname(fileName);
    this.#prefix = `${fileName.slice(0, fileName.length - this.#extension.length)}-`;
  }

  /** The name of a file rotated at this time. */
  at(rotatedAtMs: number): string {
    return `${this.#prefix}${toStamp(rotatedAtMs)}${this.#extension}`;
  }

  parse(name: string): RotatedName | undefined {
    const isCompressed = name.endsWith('.gz');
    const plainName = isCompressed ? name.slice(0, -'.gz'.length) : name;
    if (!plainName.startsWith(this.#prefix) || !plainName.endsWith(this.#extension)) return undefined;
    const rotatedAtMs = parseStamp(plainName.slice(this.#prefix.length, plainName.length - this.#extension.length));
    return rotatedAtMs === undefined ? undefined : { name, plainName, rotatedAtMs, isCompressed };
  }

  /** The process id in the name of a temporary file; undefined for any other name. */
  parseTemporary(name: string): number | undefined {
    const [, target = '', pid] = TEMPORARY.exec(name) ?? [];
    return this.parse(target)?.isCompressed ? Number(pid) : undefined;
  }
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
