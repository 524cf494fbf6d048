export type { CheckResult } from './check-result.ts';
export { type DoctorReport, runDoctor } from './run-doctor.ts';
