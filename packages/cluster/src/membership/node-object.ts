import { type NodeObject, PortholeError, parseJson } from '@porthole/contract';

const MAX_TEXT = 256;
const MAX_PORT = 65_535;

/** Maximum size of a value; real ones have a few hundred bytes. */
const MAX_VALUE_BYTES = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Parses a value of a registry. Throws BAD_ANSWER: anyone with access can write anything there. */
export function readJsonObject(value: Uint8Array): Fields {
  if (value.length > MAX_VALUE_BYTES) throw refusal(`its value has ${value.length} bytes`);
  const parsed = parseJson(Buffer.from(value.buffer, value.byteOffset, value.length).toString());
  if (isObject(parsed)) return parsed;
  // The message of the parser would repeat a part of the value.
  throw refusal('its value is not a JSON object');
}

/** Decodes the node object of the contract. Throws BAD_ANSWER. */
export function readNodeObject(value: unknown): NodeObject {
  if (!isObject(value)) throw refusal('node is not an object');
  return {
    hostIp: readText(value, 'hostIp'),
    hostName: readText(value, 'hostName'),
    grpcPort: readPort(value, 'grpcPort'),
    httpPort: readPort(value, 'httpPort'),
    version: readText(value, 'version'),
    onlineTime: readTime(value, 'onlineTime'),
  };
}

export function refusal(message: string): PortholeError {
  return new PortholeError('BAD_ANSWER', message);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Other versions may omit fields. */
function readText(fields: Fields, name: string): string {
  const value = fields[name] ?? '';
  if (typeof value !== 'string' || value.length > MAX_TEXT || /\p{Cc}/u.test(value)) {
    throw refusal(`${name} is not a plain text of at most ${MAX_TEXT} characters`);
  }
  return value;
}

function readPort(fields: Fields, name: string): number {
  const value = fields[name] ?? 0;
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > MAX_PORT) throw refusal(`${name} is not a port`);
  return Number(value);
}

function readTime(fields: Fields, name: string): number {
  const value = fields[name] ?? 0;
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw refusal(`${name} is not a timestamp`);
  return Number(value);
}
