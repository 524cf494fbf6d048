import type { Codec, ParseContext } from './codecs.ts';
import type { Query } from './query.ts';

/** Why something has no counterpart for a parameter. */
export interface Absent {
  absent: string;
}

/** A flag of the CLI, as its help describes it. What values it takes follows from the codec. */
export interface CliFlag {
  /** Without dashes. */
  long: string;
  short?: string;
  /** Name of its value; without one the flag is a switch. */
  value?: string;
  about: string;
  /** Where it is not that of the API. */
  default?: string;
}

/**
 * One row of the parameter table. Parsers, encoders, the OpenAPI document, docs/http-api.md and the gRPC mapping are
 * derived from these rows.
 */
export interface Parameter {
  name: string;
  /** `query` unless given. */
  in?: 'query' | 'header' | 'path';
  required?: true;
  /** Name of the value in the parsed request. */
  field: string;
  codec: Codec<unknown>;
  /** Markdown, for OpenAPI and the docs. */
  meaning: string;
  /** What an absent parameter means. */
  default?: unknown;
  /** The default as docs show it, where that is not the encoded value. */
  defaultText?: string;
  /** Field of the request message, or of its filter. */
  proto: string | Absent;
  cli: CliFlag | Absent;
}

type ValueOf<Row extends Parameter> = Exclude<ReturnType<Row['codec']['parse']>, undefined>;

type WithDefault<Row extends Parameter> = Row extends { default: unknown } ? Row : never;

/** The parsed values of some parameters by their fields. Those with a default are always present. */
export type ParameterValues<Rows extends readonly Parameter[]> = {
  [Row in Rows[number] as Row['field']]?: ValueOf<Row>;
} & { [Row in WithDefault<Rows[number]> as Row['field']]: ValueOf<Row> };

/** Some or all values, for writing. */
type SomeValues<Rows extends readonly Parameter[]> = {
  [Row in Rows[number] as Row['field']]?: ValueOf<Row> | undefined;
};

export interface ParseOptions extends ParseContext {
  /** What errors call a parameter; its quoted name unless given. */
  label?: (row: Parameter) => string;
}

/** How errors of the API name a parameter. */
export function quotedName({ name }: Parameter): string {
  return `"${name}"`;
}

/** Makes loose input strict. What is absent and has no default is absent in the result. */
export function parseParameters<const Rows extends readonly Parameter[]>(
  rows: Rows,
  query: Query,
  { label = quotedName, ...context }: ParseOptions = {},
): ParameterValues<Rows> {
  const values = rows.flatMap((row) => {
    const value = row.codec.parse(query.getAll(row.name), label(row), context) ?? row.default;
    return value === undefined ? [] : [[row.field, value] as const];
  });
  return Object.fromEntries(values) as ParameterValues<Rows>;
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

/** Values as parameters of a URL, in the order of the table: what `parseParameters` reads back as the same values. */
export function encodeParameters<const Rows extends readonly Parameter[]>(
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
