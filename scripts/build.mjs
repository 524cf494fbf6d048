import { build, install } from './steps.mjs';

install();
await build();
