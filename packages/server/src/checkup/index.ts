export { type Checkup, checkUp } from './checkup.ts';
export type { Finding } from './finding.ts';
