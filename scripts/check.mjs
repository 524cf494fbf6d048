import { CHECKS, runChecks } from './checks.mjs';
import { generateProto } from './proto.mjs';
import { generateSchemas } from './schemas.mjs';
import { install } from './steps.mjs';

await install();
generateProto();
await generateSchemas();
const passed = await runChecks(CHECKS);
const failed = CHECKS.filter((_check, index) => !passed[index]);
console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.map(({ name }) => name).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
