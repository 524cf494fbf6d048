/** Built and written at once. */
const BLOCK_BYTES = 4 * 1024 ** 2;

/** The last line takes what is left; no line is shorter than this. */
const MIN_LAST_LINE_BYTES = 200;

export const FIRST_TIME_MS = Date.UTC(2026, 0, 1);
export const MS_PER_LINE = 7;

const SOURCES = ['tsdb/memdb.go:112', 'replica/partition.go:78', 'query/pipeline.go:240', 'rpc/server.go:61'];
const COMPONENTS = ['[memdb] [flush]', '[replica] [channel]', '[query] [leaf]', '[rpc] [stream]'];
const MESSAGES = [
  'flush of family finished',
  'replica channel is behind the leader, sending from the last acknowledged sequence',
  'query served',
  'stream of client closed',
];

/** What a log says, beside its ordinary lines. */
export interface LineMix {
  /** `hash` looks irregular and is the same for the same number. */
  levelFor(number: number, hash: number): string;
  /** The whole text behind the level of a line that is out of the ordinary. */
  specialFor?(number: number): string | undefined;
}

/** One error in a hundred lines, evenly spread: the more of them, the less a reader can leave out. */
export const EVEN_MIX: LineMix = {
  levelFor: (_, hash) => (hash % 101 === 0 ? 'ERROR' : hash % 17 === 0 ? 'WARN' : 'INFO'),
};

/** Lines in the contract's format, the same on every run: exactly so many bytes, the last one a line feed. */
export function* logLines(sizeBytes: number, mix: LineMix = EVEN_MIX): Generator<Buffer, void, undefined> {
  let left = sizeBytes;
  let block = '';
  for (let number = 0; left > 0; number++) {
    const line = logLine(number, mix);
    const isLast = left < line.length + MIN_LAST_LINE_BYTES;
    const text = isLast ? lastLine(number, left, mix) : line;
    block += text;
    left -= text.length;
    if (isLast || block.length >= BLOCK_BYTES) {
      yield Buffer.from(block, 'latin1'); // every character is ASCII
      block = '';
    }
  }
}

function logLine(number: number, mix: LineMix): string {
  // A multiplicative hash: looks irregular, needs no state.
  const hash = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  const special = mix.specialFor?.(number);
  if (special !== undefined) return `${timeAndLevel(number, hash, mix)}\t${special}\n`;
  return `${lineHead(number, hash, mix)}\t{"shard":${hash % 64},"family":"2026010${1 + (hash % 9)}","bytes":${hash >>> 6},"took":"${hash % 900}ms"}\n`;
}

function lastLine(number: number, sizeBytes: number, mix: LineMix): string {
  return `${lineHead(number, 0, mix).padEnd(sizeBytes - 1, '.')}\n`;
}

function lineHead(number: number, hash: number, mix: LineMix): string {
  const kind = hash & 3;
  return `${timeAndLevel(number, hash, mix)}\t${SOURCES[kind]}\t${COMPONENTS[kind]}: ${MESSAGES[kind]}`;
}

function timeAndLevel(number: number, hash: number, mix: LineMix): string {
  const time = new Date(FIRST_TIME_MS + number * MS_PER_LINE).toISOString();
  return `${time.slice(0, 10)} ${time.slice(11, 23)}\t${mix.levelFor(number, hash)}`;
}
