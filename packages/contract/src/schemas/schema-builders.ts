/** JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

export type Properties = { readonly [name: string]: JsonSchema };

/** An object with exactly these fields, and of the optional ones any: our answers add none. */
export function exactObject(description: string, properties: Properties, optional: Properties = {}): JsonSchema {
  return {
    type: 'object',
    description,
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** An exact object with more fields, or with others in their place. */
export function extendedObject(
  base: JsonSchema,
  description: string,
  properties: Properties,
  optional: Properties = {},
): JsonSchema {
  const { properties: known, required, ...rest } = base as JsonSchema & { properties: Properties; required: string[] };
  return {
    ...rest,
    description,
    properties: { ...known, ...properties, ...optional },
    required: [...new Set([...required, ...Object.keys(properties)])],
  };
}

/** An object of any names, each with a value of this schema. */
export const mapOf = (values: JsonSchema, description: string): JsonSchema => ({
  type: 'object',
  additionalProperties: values,
  description,
});

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const nullableText = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
export const integer = (description: string): JsonSchema => ({ type: 'integer', description });
export const nullableInteger = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });
export const bool = (description: string): JsonSchema => ({ type: 'boolean', description });
export const oneOf = (description: string, values: readonly string[]): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
});
export const listOf = (items: JsonSchema, description?: string): JsonSchema => ({
  type: 'array',
  items,
  ...(description && { description }),
});
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
