import { PortholeError } from '../errors/errors.ts';
import type { Codec, ParseContext, Query } from './codecs.ts';

/**
 * One row of the parameter table: what parsers and encoders need. Browsers load these rows; what only docs, help and
 * gRPC need is in `parameter-docs.ts`, and joined to the rows by `documentParameters`.
 */
export interface ParameterRow {
  name: string;
  /** `query` unless given. */
  in?: 'query' | 'header' | 'path';
  required?: true;
  /** Name of the value in the parsed request. */
  field: string;
  codec: Codec<unknown>;
  /** What an absent parameter means. */
  default?: unknown;
  /** Key of its docs, where that is not its name. */
  docs?: string;
}

/** Why something has no counterpart for a parameter. */
interface Absent {
  absent: string;
}

/** A flag of the CLI. Whether it repeats and which values it takes follows from the codec. */
interface CliFlag {
  /** Without dashes. */
  long: string;
  short?: string;
  /** Placeholder of its value in help; without one the flag is a switch. */
  value?: string;
  /** What a switch sets the parameter to; `true` unless given. */
  on?: string;
  about: string;
  /** As help shows it, where it is not that of the API; empty: none is shown. */
  default?: string;
}

/** What a parameter is outside of parsers: in the docs, in gRPC and in the CLI. */
export interface ParameterDocs {
  /** Markdown, for OpenAPI and the docs. */
  meaning: string;
  /** The default as docs show it, where that is not the encoded value. */
  defaultText?: string;
  /** Field of the request message, or of its filter. */
  proto: string | Absent;
  cli: CliFlag | Absent;
}

/** A parameter with everything that is known about it. */
export interface Parameter extends ParameterRow, ParameterDocs {}

export type DocsKey<Row extends ParameterRow> = Row extends { docs: infer Key extends string } ? Key : Row['name'];

/** The docs of some rows; does not compile with one missing. */
export type DocsOf<Rows extends readonly ParameterRow[]> = {
  readonly [Row in Rows[number] as DocsKey<Row>]: ParameterDocs;
};

type ValueOf<Row extends ParameterRow> = Exclude<ReturnType<Row['codec']['parse']>, undefined>;

/** What an encoder takes, which may be more. */
type WrittenOf<Row extends ParameterRow> = Parameters<Row['codec']['encode']>[0];
type WithDefault<Row extends ParameterRow> = Row extends { default: unknown } ? Row : never;

/** The parsed values of some parameters by their fields. Those with a default are always present. */
export type ParameterValues<Rows extends readonly ParameterRow[]> = {
  [Row in Rows[number] as Row['field']]?: ValueOf<Row>;
} & { [Row in WithDefault<Rows[number]> as Row['field']]: ValueOf<Row> };

/** Some or all values, for writing. */
type SomeValues<Rows extends readonly ParameterRow[]> = {
  [Row in Rows[number] as Row['field']]?: WrittenOf<Row> | undefined;
};

export interface ParseOptions extends ParseContext {
  /** What errors call a parameter; its quoted name unless given. */
  label?: (row: ParameterRow) => string;
}

/** How errors of the API name a parameter. */
export function quotedName({ name }: ParameterRow): string {
  return `"${name}"`;
}

/** Makes loose input strict. What is absent and has no default is absent in the result. */
export function parseParameters<const Rows extends readonly ParameterRow[]>(
  rows: Rows,
  query: Query,
  { label = quotedName, ...context }: ParseOptions = {},
): ParameterValues<Rows> {
  // A plain loop: building entries first took a twentieth of a request for a short tail.
  const values: Record<string, unknown> = {};
  for (const row of rows) {
    const value = row.codec.parse(query.getAll(row.name), label(row), context) ?? row.default;
    if (value !== undefined) values[row.field] = value;
  }
  return values as ParameterValues<Rows>;
}

/** Values as parameters of a URL, in the order of the table: what `parseParameters` reads back as the same values. */
export function encodeParameters<const Rows extends readonly ParameterRow[]>(
  rows: Rows,
  values: SomeValues<Rows>,
): URLSearchParams {
  const query = new URLSearchParams();
  for (const row of rows) {
    const value = (values as Readonly<Record<string, unknown>>)[row.field];
    if (value !== undefined) for (const text of row.codec.encode(value)) query.append(row.name, text);
  }
  return query;
}

/** What an absent parameter means, as docs and help show it. */
export function formatDefault({ codec, default: value, defaultText }: Parameter): string | undefined {
  return defaultText ?? (value === undefined ? undefined : codec.encode(value).join(', '));
}

/** The meaning and the default, as Markdown. */
export function describeParameter(parameter: Parameter): string {
  const byDefault = formatDefault(parameter);
  return byDefault === undefined ? parameter.meaning : `${parameter.meaning} Default: \`${byDefault}\`.`;
}

/** Enough for a cursor over ten thousand logs. */
export const MAX_BODY_BYTES = 1024 ** 2;

/** Parameters as a JSON object, read back by `parseBodyParameters`. A repeated name has a list. */
export function encodeBodyParameters(query: URLSearchParams): string {
  const names = [...new Set(query.keys())];
  return JSON.stringify(
    Object.fromEntries(
      names.map((name) => {
        const values = query.getAll(name);
        return [name, values.length === 1 ? values[0] : values];
      }),
    ),
  );
}

/** The parameters in the body of a request: names with a string, a number, a boolean or a list of strings. */
export function parseBodyParameters(text: string): [name: string, value: string][] {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new PortholeError('BAD_REQUEST', 'invalid request body: expected a JSON object of parameters');
  return Object.entries(body).flatMap(([name, value]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.map((each): [string, string] => [name, toText(name, each)]);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PortholeError('BAD_REQUEST', 'invalid request body: expected JSON', { cause });
  }
}

function toText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const message = `the parameter ${JSON.stringify(name.slice(0, 60))} of the request body must be a string, a number, true or false`;
  throw new PortholeError('BAD_REQUEST', message);
}
