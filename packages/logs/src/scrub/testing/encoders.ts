/** How a program writes a secret into a log, and how a reader of the log decodes it. */
export interface Encoder {
  name: string;
  encode(text: string): string;
  decode(text: string): string;
}

/** Bytes that do not match `kept` as `%XX`, like `quote` of Python and the encoders of Go. */
function percent(kept: RegExp, { lower = false } = {}): (text: string) => string {
  return (text) =>
    [...Buffer.from(text)]
      .map((byte) => {
        const sign = String.fromCharCode(byte);
        if (byte < 0x80 && kept.test(sign)) return sign;
        const digits = byte.toString(16).padStart(2, '0');
        return `%${lower ? digits : digits.toUpperCase()}`;
      })
      .join('');
}

function codes(text: string, escaped: RegExp, { upper = false } = {}): string {
  return text.replace(escaped, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${upper ? digits.toUpperCase() : digits}`;
  });
}

function json(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function parseJson(text: string): string {
  return JSON.parse(`"${text}"`);
}

function unquote(text: string): string {
  return decodeURIComponent(text);
}

function unquotePlus(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

const UNRESERVED = /[\w.~-]/;

/** The names say whose rules they follow; written from their documentation. */
export const ENCODERS: readonly Encoder[] = [
  { name: 'as it is', encode: (text) => text, decode: (text) => text },
  { name: 'Python quote', encode: percent(/[\w.~/-]/), decode: unquote },
  { name: 'Python quote_plus', encode: (text) => percent(/[\w.~ -]/)(text).replaceAll(' ', '+'), decode: unquotePlus },
  { name: 'Go UserPassword', encode: percent(/[\w.~$&+,;=-]/), decode: unquote },
  { name: 'Go PathEscape', encode: percent(/[\w.~$&+:=@-]/), decode: unquote },
  { name: 'Go QueryEscape', encode: (text) => percent(/[\w.~ -]/)(text).replaceAll(' ', '+'), decode: unquotePlus },
  { name: 'encodeURIComponent', encode: encodeURIComponent, decode: unquote },
  { name: 'WHATWG userinfo', encode: percent(/[\w.~!$&'()*+,-]/), decode: unquote },
  { name: 'lower-case hex', encode: percent(UNRESERVED, { lower: true }), decode: unquote },
  { name: 'every byte as %XX', encode: percent(/^$/), decode: unquote },
  {
    name: 'URL in URL',
    encode: (text) => percent(UNRESERVED)(percent(UNRESERVED)(text)),
    decode: (text) => unquote(unquote(text)),
  },
  { name: 'JSON', encode: json, decode: parseJson },
  { name: 'gson', encode: (text) => codes(json(text), /[<>&='\u2028\u2029]/g), decode: parseJson },
  {
    name: 'PHP json_encode',
    encode: (text) => codes(json(text).replaceAll('/', '\\/'), /[^\0-\x7f]/g),
    decode: parseJson,
  },
  {
    name: 'System.Text.Json',
    encode: (text) =>
      codes(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '\\u0022'), /[<>&'+`]|[^\0-\x7f]/g, { upper: true }),
    decode: parseJson,
  },
  { name: 'Python json.dumps', encode: (text) => codes(json(text), /[^\0-\x7f]/g), decode: parseJson },
  { name: 'every unit as \\uXXXX', encode: (text) => codes(text, /[\s\S]/g), decode: parseJson },
  { name: 'JSON in JSON', encode: (text) => json(json(text)), decode: (text) => parseJson(parseJson(text)) },
  {
    name: 'gson in PHP',
    encode: (text) => json(codes(json(text), /[<>&=']/g)).replaceAll('/', '\\/'),
    decode: (text) => parseJson(parseJson(text)),
  },
  {
    name: 'URL in gson',
    encode: (text) => codes(json(percent(UNRESERVED)(text)), /[<>&=%]/g),
    decode: (text) => unquote(parseJson(text)),
  },
  {
    name: 'JSON in URL',
    encode: (text) => percent(UNRESERVED)(codes(json(text), /[<>&=+/]/g)),
    decode: (text) => parseJson(unquote(text)),
  },
];

/**
 * Each character literally or as one of two escapes, selected by the numbers: no encoder does this, but any combination
 * may occur.
 */
export function mixed(text: string, choices: readonly number[]): string {
  return [...text]
    .map((character, index) => {
      const choice = choices.length === 0 ? 0 : (choices[index % choices.length] ?? 0) % 4;
      if (choice === 1) return percent(/^$/, { lower: index % 2 === 0 })(character);
      if (choice === 2) return codes(character, /[\s\S]/g, { upper: index % 2 === 0 });
      return choice === 3 ? percent(UNRESERVED)(character) : character;
    })
    .join('');
}
