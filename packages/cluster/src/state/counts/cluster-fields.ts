import {
  type ClusterFields,
  type MemberSelection,
  mergeFields,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { FieldSummary, Fields, FieldsQuery } from '@porthole/logs/types';
import { describeUncertainty } from '../../fan-out/clock-steps.ts';
import { chooseMembers, type QueriedMember, queryMembers, type StateDeps, toCall } from '../query-members.ts';
import { correctedQuery, countedRange, isCount, memberBudget, withTruncation } from './counting.ts';

/** Maximum fields of a node. As many are requested: one that is rare everywhere may be frequent overall. */
const MAX_FIELDS = 1000;

/** The fields of the records of all members. */
export async function clusterFields(
  deps: StateDeps,
  request: FieldsQuery & MemberSelection,
  options: SearchOptions = {},
): Promise<ClusterFields> {
  const peers = chooseMembers(deps, request);
  const call = async ({ member, state, clock }: QueriedMember, callOptions: SearchOptions) => {
    const query = { ...correctedQuery(request, { member, clock }), limit: MAX_FIELDS };
    const fields = await state.logFields(query, { ...toCall(callOptions), ...memberBudget(deps, options) });
    check(fields);
    return { id: member.id, clock, fields, doubt: describeUncertainty(clock, request) };
  };
  const responses = await queryMembers(deps, peers, call, {
    ...(options.signal && { signal: options.signal }),
    countOf: ({ fields }) => fields.records,
  });
  const found = responses.flatMap(({ value }) => value ?? []);
  return {
    ...mergeFields(found, request),
    counted: countedRange(found.map(({ clock, fields: { end } }) => ({ clock, end }))),
    members: responses.map(({ value, report }) => withTruncation(report, value?.fields.end, value?.doubt)),
  };
}

/** Responses of members are untrusted. */
function check({ fields, totalFields, records, isSample }: Fields): void {
  const isRight =
    fields.length <= MAX_FIELDS &&
    [totalFields, records].every(isCount) &&
    typeof isSample === 'boolean' &&
    fields.every(isField);
  if (!isRight) throw new PortholeError('BAD_ANSWER', 'invalid fields in the response');
}

function isField({ name, types, records, distinct, isDistinctExact, examples }: FieldSummary): boolean {
  const areTexts = [...types, ...examples].every((text) => typeof text === 'string');
  const areCounts = [records, distinct].every(isCount);
  return typeof name === 'string' && areTexts && areCounts && typeof isDistinctExact === 'boolean';
}
