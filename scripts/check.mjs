import { CHECKS, runCheck } from './checks.mjs';
import { generateProto } from './proto.mjs';
import { install } from './steps.mjs';

install();
generateProto();
const failed = CHECKS.filter((check) => !runCheck(check));
console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.map(({ name }) => name).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
