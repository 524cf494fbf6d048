/* Frames written byte by byte, without the code that is tested. */

/** The parts of a frame of records, as a member may send them. */
export interface FrameParts {
  ends: readonly number[];
  times: readonly number[];
  offsets: readonly number[];
  /** Empty where there is one file. */
  originOf: readonly number[];
  files: readonly string[];
  text: string | Buffer;
}

/** What the head of a frame may say instead of the truth. */
export interface FrameLies {
  version?: number;
  kind?: number;
  origins?: number;
  records?: number;
  nameBytes?: number;
  textBytes?: number;
}

export function frameBytes(
  { ends, times, offsets, originOf, files, text }: FrameParts,
  { version = 1, kind = 1, ...lies }: FrameLies = {},
): Buffer {
  const names = Buffer.from(files.map((file) => `${file}\0`).join(''));
  const lines = Buffer.from(text);
  return Buffer.concat([
    Buffer.of(version, kind),
    u16(lies.origins ?? files.length),
    u32(lies.records ?? ends.length),
    u32(lies.nameBytes ?? names.length),
    u32(lies.textBytes ?? lines.length),
    ...ends.map(u32),
    ...times.map(f64),
    ...offsets.map(f64),
    ...originOf.map(u16),
    names,
    lines,
  ]);
}

export function endFrameBytes(line: string): Buffer {
  const text = Buffer.from(`${line}\n`);
  return Buffer.concat([Buffer.of(1, 2), u16(0), u32(0), u32(0), u32(text.length), text]);
}

/** A response with these lines, the last of which is its end. The columns are those that the lines say, if they say any. */
export function framedLines(lines: readonly string[]): Buffer {
  const records = lines.slice(0, -1);
  const end = endFrameBytes(lines.at(-1) ?? '');
  if (records.length === 0) return end;
  const said = records.map(saidBy);
  const files = [...new Set(said.map(({ file }) => file))];
  let position = 0;
  const parts = {
    ends: records.map((line) => (position += Buffer.byteLength(line) + 1)),
    times: said.map(({ timeMs }) => timeMs),
    offsets: said.map(({ offset }) => offset),
    originOf: files.length > 1 ? said.map(({ file }) => files.indexOf(file)) : [],
    files,
    text: records.map((line) => `${line}\n`).join(''),
  };
  return Buffer.concat([frameBytes(parts), end]);
}

function saidBy(line: string): { file: string; timeMs: number; offset: number } {
  const { file, timeMs, offset } = fieldsOf(line);
  return {
    file: typeof file === 'string' ? file : 'a.log',
    timeMs: typeof timeMs === 'number' && Math.abs(timeMs) <= 8.64e15 ? timeMs : Number.NaN,
    offset: typeof offset === 'number' && offset >= 0 ? offset : 0,
  };
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {}; // a line that is no JSON says nothing
  }
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function f64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}
