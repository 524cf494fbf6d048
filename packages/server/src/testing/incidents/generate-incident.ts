import type { Incident } from './incident.ts';
import { IncidentMaker } from './incident-maker.ts';
import { OPEN_INCIDENTS, type Scenario } from './open-incidents.ts';
import { QUIET_HOURS } from './quiet-hours.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = { ...OPEN_INCIDENTS, ...QUIET_HOURS };

/** Names of what goes wrong, and of hours in which nothing does. */
export const INCIDENT_NAMES = Object.keys(OPEN_INCIDENTS);
export const QUIET_NAMES = Object.keys(QUIET_HOURS);

/** The same incident for the same scenario and seed. */
export function generateIncident(scenario: string, seed: number): Incident {
  const write = SCENARIOS[scenario];
  if (!write) throw new Error(`no scenario is named ${JSON.stringify(scenario)}`);
  const make = new IncidentMaker(seed + 1000 * Object.keys(SCENARIOS).indexOf(scenario));
  return make.finish(scenario, seed, write(make));
}
