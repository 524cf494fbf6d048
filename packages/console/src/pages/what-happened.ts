/* One script: who opens one of these is likely to open the other. */

// What every page needs is then one script, instead of one for every set of pages that share a part of it.
import '../start.tsx';

export { IncidentsPage } from './incidents/incidents-page.tsx';
export { OverviewPage } from './overview/overview-page.tsx';
