import { SCHEMAS, type SchemaName } from '@porthole/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';

const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({
  $id: 'porthole',
  components: { schemas: SCHEMAS },
});

/** What keeps a value from being exactly of a schema; nothing where it is. */
export function schemaProblems(value: unknown, schema: SchemaName): string[] {
  const check = ajv.compile({ $ref: `porthole#/components/schemas/${schema}` });
  check(value);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
