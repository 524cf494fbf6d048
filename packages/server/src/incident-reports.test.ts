import { findIncident } from '@porthole/cluster';
import { incidentSource } from '@porthole/cluster/testing';
import type { Incident, Standout } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import {
  generateIncident,
  INCIDENT_NAMES,
  judgeIncident,
  openIncident,
  QUIET_NAMES,
  type ReportItem,
  type ReportView,
} from './testing/index.ts';

/** One of each kind is enough here: `SEEDS=1,2,3` tries others. */
const SEEDS = (process.env.SEEDS ?? '1').split(',').map(Number);

function toItem({ nodes, event, keys, pattern, record, shares }: Standout): ReportItem {
  return {
    nodes,
    ...(event && { event: { kind: event, keys } }),
    ...(pattern !== null && { pattern: `${pattern} ${record?.message ?? ''}` }),
    fields: shares.map(({ field, value }) => ({ name: field, value })),
  };
}

function toView({ isUnusual, standouts, steps, fromMs }: Incident): ReportView {
  const firstNode = steps.find(({ kind }) => kind === 'first-error')?.nodes[0];
  return {
    isQuiet: !isUnusual,
    items: standouts.map(toItem),
    ...(firstNode !== undefined && { firstNode }),
    ...(fromMs !== null && { startMs: fromMs }),
  };
}

it.each([...INCIDENT_NAMES, ...QUIET_NAMES].flatMap((name) => SEEDS.map((seed) => [name, seed] as const)))(
  'a report of %s (%d) has its cause among the first three, or says that it was quiet',
  async (name, seed) => {
    const made = generateIncident(name, seed);
    const opened = await openIncident(made);
    onTestFinished(() => opened.close());
    const { fromMs, toMs } = made;
    const incident = await findIncident(incidentSource(opened.states), { fromMs, toMs }, { withValues: true });
    const { isRight, detail } = judgeIncident(toView(incident), made.truth);
    expect({ isRight, detail }).toEqual({ isRight: true, detail: 'right' });
  },
);
