import fc from 'fast-check';

/** Numbers that a parser of doubles preserves, and others. */
const NUMBERS = [
  '0',
  '-0',
  '7',
  '1.0',
  '1.50',
  '-3',
  '0.1',
  '1e3',
  '1E+2',
  '1e400',
  '-1e-400',
  '9007199254740993',
  '12345678901234567890',
  '-9223372036854775808',
  '0.30000000000000004',
  '3.141592653589793238462643',
];

/** Keys that an object sorts, hides or already has, and those that are special to the JSON format. */
const KEYS = [
  'a',
  'b',
  '1',
  '10',
  '9',
  '4294967295',
  '__proto__',
  'constructor',
  'toString',
  'contextText',
  'type',
  '',
];

/** Text of a string, in all ways it may be escaped. */
const CHARACTERS = ['x', 'é', '😀', '\\u0041', '\\/', '\\"', '\\\\', '\\n', '\\ud800', '\\udc00', '\\u0000', '{', ','];

const string = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 6 }).map((parts) => `"${parts.join('')}"`);

const number = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const space = fc.constantFrom('', '', '', ' ', '  ');

const key = fc.oneof(
  fc.constantFrom(...KEYS).map((name) => JSON.stringify(name)),
  string,
);

/** A JSON object as text, on one line. */
export const randomJsonObject: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    number,
    string,
    fc.constantFrom('true', 'false', 'null', `${'['.repeat(60)}1.0${']'.repeat(60)}`),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
    .map(
      ([members, gap]) => `{${members.map(([name, value]) => `${gap}${name}${gap}:${gap}${value}`).join(',')}${gap}}`,
    ),
})).object;

/** Every token of JSON text: strings by their value, everything else as written. The slow, obvious reference. */
export function jsonTokens(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  return tokens.map((token) => (token.startsWith('"') ? `string ${String(JSON.parse(token))}` : token));
}
