/* One script: who opens one of these is likely to open the other. */

export { IncidentsPage } from './incidents/incidents-page.tsx';
export { OverviewPage } from './overview/overview-page.tsx';
