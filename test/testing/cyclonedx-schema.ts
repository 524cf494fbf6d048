/** What the schema of CycloneDX 1.6 demands of the parts we use, with its own patterns; and no other parts. */
const COMPONENT = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'name', 'version', 'bom-ref', 'purl', 'licenses'],
  properties: {
    type: { enum: ['application', 'library'] },
    'bom-ref': { type: 'string', minLength: 1 },
    group: { type: 'string' },
    name: { type: 'string', minLength: 1 },
    version: { type: 'string', maxLength: 1024 },
    purl: { type: 'string', pattern: '^pkg:npm/(%40[a-z0-9._-]+/)?[a-z0-9._-]+@[0-9][0-9A-Za-z.+-]*$' },
    scope: { enum: ['required', 'optional', 'excluded'] },
    hashes: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['alg', 'content'],
        properties: { alg: { const: 'SHA-512' }, content: { type: 'string', pattern: '^[a-fA-F0-9]{128}$' } },
      },
    },
    licenses: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        oneOf: [
          {
            type: 'object',
            additionalProperties: false,
            required: ['license'],
            properties: {
              license: {
                type: 'object',
                additionalProperties: false,
                required: ['id'],
                properties: { id: { enum: ['MIT', 'ISC', 'OFL-1.1', '0BSD', 'BSD-3-Clause', 'Apache-2.0'] } },
              },
            },
          },
          {
            type: 'object',
            additionalProperties: false,
            required: ['expression'],
            properties: { expression: { type: 'string' } },
          },
        ],
      },
    },
    properties: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'value'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
      },
    },
  },
};

const REFS = { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } };

/** A bill of materials as ours are. */
export const BILL = {
  type: 'object',
  additionalProperties: false,
  required: ['bomFormat', 'specVersion', 'serialNumber', 'version', 'metadata', 'components', 'dependencies'],
  properties: {
    $schema: { const: 'http://cyclonedx.org/schema/bom-1.6.schema.json' },
    bomFormat: { const: 'CycloneDX' },
    specVersion: { const: '1.6' },
    serialNumber: {
      type: 'string',
      pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    },
    version: { type: 'integer', minimum: 1 },
    metadata: {
      type: 'object',
      additionalProperties: false,
      required: ['component', 'tools', 'lifecycles'],
      properties: {
        timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
        lifecycles: { const: [{ phase: 'build' }] },
        tools: {
          type: 'object',
          additionalProperties: false,
          properties: {
            components: {
              type: 'array',
              items: { type: 'object', required: ['type', 'name'], properties: { type: { const: 'application' } } },
            },
          },
        },
        component: COMPONENT,
      },
    },
    components: { type: 'array', uniqueItems: true, items: COMPONENT },
    dependencies: {
      type: 'array',
      uniqueItems: true,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['ref'],
        properties: { ref: { type: 'string', minLength: 1 }, dependsOn: REFS },
      },
    },
  },
};
