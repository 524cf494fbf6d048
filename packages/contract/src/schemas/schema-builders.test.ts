import { expect, it } from 'vitest';
import { anyOf, constant, exactObject, extendedObject, integer, oneOf, type Schema, text } from './schema-builders.ts';

interface Sample {
  name: string;
  kind: 'a' | 'b';
  size?: number;
}

const SIZE = { size: integer('Its size.') };

it('an exact object requires its fields and allows no others', () => {
  const fields = { name: text('Its name.'), kind: oneOf('Its kind.', ['a', 'b']) };
  const schema: Schema<Sample> = exactObject<Sample>('A sample.', fields, SIZE);
  expect(schema).toMatchObject({ required: ['name', 'kind'], additionalProperties: false });
  const extended: Schema<Sample & { node: string }> = extendedObject<Sample, { node: string }>(schema, 'More.', {
    node: text('Its node.'),
  });
  expect(extended).toMatchObject({ required: ['name', 'kind', 'node'], description: 'More.' });
});

it('a schema that does not fit its type does not compile', () => {
  const name = text('Its name.');
  const kind = oneOf('Its kind.', ['a', 'b']);
  // @ts-expect-error a field is missing
  exactObject<Sample>('A sample.', { name }, SIZE);
  // @ts-expect-error no field has this name
  exactObject<Sample>('A sample.', { name, kind, other: name }, SIZE);
  // @ts-expect-error the type of a field is another
  exactObject<Sample>('A sample.', { name: integer('Its name.'), kind }, SIZE);
  // @ts-expect-error a value of the union is missing
  exactObject<Sample>('A sample.', { name, kind: oneOf('Its kind.', ['a']) }, SIZE);
  // @ts-expect-error a field that may be absent is missing
  exactObject<Sample>('A sample.', { name, kind });
  // @ts-expect-error a member of the union is missing
  const union: Schema<'a' | 'b'> = anyOf('One of them.', [constant('a')]);
  expect(union).toEqual({ description: 'One of them.', oneOf: [{ const: 'a' }] });
});
