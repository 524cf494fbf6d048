import type { ResponseTypes } from './response-types.ts';

/** JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

declare const OF: unique symbol;

/** The schema of values of one type; one that does not fit its type does not compile. The type exists only there. */
export type Schema<T> = JsonSchema & { readonly [OF]?: (value: T) => T };

type OptionalKey<T, Key extends keyof T> = object extends Pick<T, Key> ? Key : never;

/** One schema for every field that is always present. */
export type Fields<T> = { readonly [Key in keyof T as Exclude<Key, OptionalKey<T, Key>>]: Schema<T[Key]> };

/** One schema for every field that may be absent. */
export type OptionalFields<T> = {
  readonly [Key in keyof T as OptionalKey<T, Key>]-?: Schema<Exclude<T[Key], undefined>>;
};

/** Nothing to give where no field may be absent. */
type OptionalArgument<T> = object extends OptionalFields<T> ? [] : [optional: OptionalFields<T>];

/** An object with exactly these fields and any of the optional ones: our responses add none. */
export function exactObject<T extends object>(
  description: string,
  fields: Fields<T>,
  ...[optional]: OptionalArgument<T>
): Schema<T> {
  return {
    type: 'object',
    description,
    properties: { ...fields, ...optional },
    required: Object.keys(fields),
    additionalProperties: false,
  };
}

/** An exact object with more fields, or with others in their place. */
export function extendedObject<Base extends object, More extends object>(
  base: Schema<Base>,
  description: string,
  fields: Fields<More>,
  ...[optional]: OptionalArgument<More>
): Schema<Omit<Base, keyof More> & More> {
  const { properties: known, required, ...rest } = base as JsonSchema & { properties: object; required: string[] };
  return {
    ...rest,
    description,
    properties: { ...known, ...fields, ...optional },
    required: [...new Set([...required, ...Object.keys(fields)])],
  };
}

/** An object of any names, each with a value of this schema. */
export const mapOf = <T>(values: Schema<T>, description: string): Schema<Record<string, T>> => ({
  type: 'object',
  additionalProperties: values,
  description,
});

export const text = (description: string): Schema<string> => ({ type: 'string', description });
export const nullableText = (description: string): Schema<string | null> => ({ type: ['string', 'null'], description });
export const integer = (description: string): Schema<number> => ({ type: 'integer', description });
export const nullableInteger = (description: string): Schema<number | null> => ({
  type: ['integer', 'null'],
  description,
});
export const number = (description: string): Schema<number> => ({ type: 'number', description });
export const bool = (description: string): Schema<boolean> => ({ type: 'boolean', description });
/** Present and true, or absent. */
export const mark = (description: string): Schema<true> => ({ const: true, description });
export const constant = <const T extends string | number>(value: T): Schema<T> => ({ const: value });
/** Values whose form is not described: those of configurations. */
export const anyValue = <T>(description: string): Schema<T> => ({ description });

export const oneOf = <const T extends string>(description: string, values: readonly T[]): Schema<T> => ({
  type: 'string',
  enum: values,
  description,
});

export const listOf = <T>(items: Schema<T>, description?: string): Schema<T[]> => ({
  type: 'array',
  items,
  ...(description && { description }),
});

/** A value of any of these schemas. */
export const anyOf = <const Schemas extends readonly JsonSchema[]>(
  description: string,
  schemas: Schemas,
): Schema<TypeOf<Schemas[number]>> => ({ description, oneOf: schemas });

type TypeOf<S> = S extends { readonly [OF]?: (value: infer T) => unknown } ? T : never;

export const nullable = <T>(schema: Schema<T>, description: string): Schema<T | null> => ({
  description,
  oneOf: [schema, { type: 'null' }],
});

export const ref = <Name extends keyof ResponseTypes>(name: Name): Schema<ResponseTypes[Name]> => ({
  $ref: `#/components/schemas/${name}`,
});
