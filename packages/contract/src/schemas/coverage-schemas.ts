import type { Coverage, Missing } from '../coverage.ts';
import { MISSING_OUTCOMES } from './member-schemas.ts';
import { bool, exactObject, listOf, nullableInteger, nullableText, oneOf, ref } from './schema-builders.ts';

/** The field of responses that say how much of the answer they are. */
export const coverageField = { coverage: ref('Coverage') };

export const COVERAGE_SCHEMAS = {
  Coverage: exactObject<Coverage>(
    'How much of the answer the response is. Only of a complete one may anybody say that something is not there.',
    {
      askedFromMs: nullableInteger(
        'Epoch milliseconds of the start of the time range that was asked for, by the clock of the responding node. Null: no limit.',
      ),
      askedToMs: nullableInteger('Epoch milliseconds of its end. Null: no limit.'),
      missing: listOf(ref('Missing'), 'What the response lacks of it.'),
      isComplete: bool('Whether nothing is missing.'),
    },
  ),
  Missing: exactObject<Missing>('A part of the answer that is not in the response.', {
    node: nullableText('Id of the member whose part it is; null if it is not of one member.'),
    reason: oneOf('Why: the outcome of a member, or what kept the rest from being read.', [
      ...MISSING_OUTCOMES,
      'limit',
      'time budget',
      'cancelled',
      'unreadable',
      'part',
      'archive',
      'registry',
    ]),
    detail: nullableText('The cause, for people.'),
    asOfMs: nullableInteger('Epoch milliseconds of the earlier state that is shown instead; null if there is none.'),
    isExpected: bool('Nothing to worry about: the member has left in order.'),
  }),
};
