export { LEVEL_NAMES, LEVELS } from '@porthole/logs/query';
