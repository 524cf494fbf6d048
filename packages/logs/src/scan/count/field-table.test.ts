import { expect, it } from 'vitest';
import { FieldTable } from './field-table.ts';

it('types that only a few values seem to have are left out', () => {
  const table = new FieldTable();
  const count = (text: string, times: number) => {
    for (let time = 0; time < times; time++) table.count([{ name: 'trace', text, kind: 'string' }]);
  };
  count('50177f0e', 90);
  count('13', 6);
  count('12345678', 1);
  count('1234567d', 3);
  expect(table.summaries(1)).toMatchObject([{ types: ['text', 'number'], records: 100, distinct: 4 }]);
});
