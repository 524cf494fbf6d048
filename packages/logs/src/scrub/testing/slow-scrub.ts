/** Levels of escapes, and bytes for each byte of a needle, that are recognised. */
const DEPTH = 3;
const MAX_GROWTH = 12;

/** What one character stands for. */
type Way = { byte: number } | { unit: number };

interface Sign {
  ways: readonly Way[];
  end: number;
}

/** The slow, obvious reference: tries every needle at every position, with every meaning of each character. */
export function slowScrub(text: Buffer, needles: readonly Buffer[]): Buffer {
  const masked = Buffer.from(text);
  const slow = new SlowText(text);
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      if (!/[\r\n]/.test(needle.toString('latin1'))) masked.fill('*', at, at + needle.length);
    }
    for (const start of escapedStarts(text, needle)) {
      const end = slow.matchEnd(start, needle);
      if (end > start) masked.fill('*', start, end);
    }
  }
  return masked;
}

/** Where one with escapes may start: its first escape is no further away than its length. */
function escapedStarts(text: Buffer, needle: Buffer): Set<number> {
  const starts = new Set<number>();
  for (const { index } of text.toString('latin1').matchAll(/[%&+\\]/g)) {
    for (let start = Math.max(0, index - needle.length); start <= index; start++) starts.add(start);
  }
  return starts;
}

class SlowText {
  readonly #text: Buffer;
  readonly #known = new Map<number, Sign | undefined>();

  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Where the longest form of the needle that starts there ends; -1 if there is none. */
  matchEnd(start: number, needle: Buffer): number {
    let longest = -1;
    let fronts = new Set([`${start}:0`]);
    while (fronts.size > 0) {
      const next = new Set<string>();
      for (const front of fronts) {
        const [at = 0, matched = 0] = front.split(':').map(Number);
        if (at - start > needle.length * MAX_GROWTH) continue;
        if (matched === needle.length) longest = Math.max(longest, at);
        else
          for (const { bytes, end } of this.#waysOn(at))
            if (needle.subarray(matched, matched + bytes.length).equals(bytes))
              next.add(`${end}:${matched + bytes.length}`);
      }
      fronts = next;
    }
    return longest;
  }

  #waysOn(at: number): { bytes: Buffer; end: number }[] {
    if ([undefined, 10, 13].includes(this.#text[at])) return [];
    return Array.from({ length: DEPTH + 1 }, (_, depth) => this.#signAt(at, depth)).flatMap((sign, depth) =>
      (sign?.ways ?? []).flatMap((way) => this.#wayBytes(way, { end: sign?.end ?? 0, depth })),
    );
  }

  #wayBytes(way: Way, { end, depth }: { end: number; depth: number }): { bytes: Buffer; end: number }[] {
    if ('byte' in way) return [{ bytes: Buffer.from([way.byte]), end }];
    const { unit } = way;
    if (unit < 0xd800 || unit > 0xdbff) return [{ bytes: Buffer.from(String.fromCodePoint(unit)), end }];
    const other = this.#signAt(end, depth);
    const [low] = (other?.ways ?? []).flatMap((each) => ('unit' in each ? [each.unit] : []));
    if (low === undefined || low < 0xdc00 || low > 0xdfff) return [];
    return [{ bytes: Buffer.from(String.fromCharCode(unit, low)), end: other?.end ?? end }];
  }

  #signAt(at: number, depth: number): Sign | undefined {
    const key = at * (DEPTH + 1) + depth;
    if (!this.#known.has(key)) this.#known.set(key, this.#readSign(at, depth));
    return this.#known.get(key);
  }

  #readSign(at: number, depth: number): Sign | undefined {
    const raw = this.#text[at];
    if (raw === undefined) return undefined;
    if (depth === 0) return { ways: [{ byte: raw }], end: at + 1 };
    let signs = '';
    /** Letters and digits of an escape are not escaped themselves. */
    let plain = '';
    const ends: number[] = [];
    for (let next = at; ends.length < 12; next = ends.at(-1) ?? next) {
      const sign = this.#signAt(next, depth - 1);
      if (!sign) break;
      const [way] = sign.ways;
      signs += way && 'byte' in way ? String.fromCharCode(way.byte) : '\uffff';
      plain += next === at || sign.end === next + 1 ? signs.at(-1) : '\uffff';
      ends.push(sign.end);
    }
    const found = ESCAPE.exec(plain) ?? /^\\(?<sign>[ -/:-@[-^`{-~])/.exec(signs);
    const ways = found?.groups && parseWays(found.groups);
    return ways ? { ways, end: ends[found[0].length - 1] ?? at } : this.#signAt(at, depth - 1);
  }
}

const ESCAPE =
  /^(?:(?:%|\\)u(?<unit>[0-9a-fA-F]{4})|%(?<byte>[0-9a-fA-F]{2})|\\U(?<point>[0-9a-fA-F]{8})|\\x(?<either>[0-9a-fA-F]{2})|\\(?<octal>[0-3][0-7]{2})|\\(?<letter>[abefnrtv])|\\(?<sign>[ -/:-@[-^`{-~])|&#(?<decimal>\d{1,7});|&#x(?<hex>[0-9a-fA-F]{1,6});|&(?<name>amp|lt|gt|quot|apos);|(?<plus>\+))/;

const LETTERS = { a: 7, b: 8, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11 } as const;
const NAMES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" } as const;

function parseWays(groups: Record<string, string | undefined>): Way[] | undefined {
  const { unit, byte, point, either, octal, letter, sign, decimal, hex, name, plus } = groups;
  if (plus) return [{ byte: 32 }];
  if (sign) return [{ byte: sign.charCodeAt(0) }];
  if (letter) return [{ byte: LETTERS[letter as keyof typeof LETTERS] }];
  if (name) return [{ byte: NAMES[name as keyof typeof NAMES].charCodeAt(0) }];
  if (byte) return [{ byte: Number.parseInt(byte, 16) }];
  if (octal) return [{ byte: Number.parseInt(octal, 8) }];
  const code = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(unit ?? point ?? either ?? hex ?? '', 16);
  if (code > 0x10_ffff) return undefined;
  if (code < 0x80) return [{ byte: code }];
  return either ? [{ byte: code }, { unit: code }] : [{ unit: code }];
}
