const HOUR_MS = 3_600_000;

/** Offsets in hours of zone abbreviations; `NaN` for those that mean different zones. */
const HOURS: Readonly<Record<string, number>> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  UCT: 0,
  WET: 0,
  WEST: 1,
  BST: 1,
  CET: 1,
  CEST: 2,
  MEZ: 1,
  MESZ: 2,
  EET: 2,
  EEST: 3,
  SAST: 2,
  MSK: 3,
  PKT: 5,
  WIB: 7,
  HKT: 8,
  SGT: 8,
  AWST: 8,
  JST: 9,
  KST: 9,
  ACST: 9.5,
  AEST: 10,
  AEDT: 11,
  NZST: 12,
  NZDT: 13,
  BRT: -3,
  EST: -5,
  EDT: -4,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  AKST: -9,
  AKDT: -8,
  HST: -10,
  CST: Number.NaN,
  IST: Number.NaN,
  AST: Number.NaN,
  GST: Number.NaN,
};

export const ZONE_NAMES: readonly string[] = Object.keys(HOURS);

const LONGEST = Math.max(...Object.keys(HOURS).map((name) => name.length));

const OFFSETS_BY_KEY = new Map(
  Object.entries(HOURS).map(([name, hours]) => [nameKey(Buffer.from(name), 0, name.length), hours * HOUR_MS]),
);

/** A table with 1 for each byte that is the last letter of a name: not one of INFO or WARN, which often follow a time. */
const LAST_LETTERS = new Uint8Array(256);
for (const name of Object.keys(HOURS)) LAST_LETTERS[name.charCodeAt(name.length - 1)] = 1;

/** The offset of the zone abbreviation `[start, end)`; `NaN` if it is ambiguous, `undefined` if it is not known. */
export function zoneNameOffset(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end <= start || end - start > LONGEST || LAST_LETTERS[bytes[end - 1] ?? 0] === 0) return undefined;
  return OFFSETS_BY_KEY.get(nameKey(bytes, start, end));
}

function nameKey(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let at = start; at < end; at++) key = key * 256 + (bytes[at] ?? 0);
  return key;
}
