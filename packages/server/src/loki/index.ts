export { nanoseconds, recordOptions, toStreams } from './log-query.ts';
export { parseLogql } from './logql.ts';
export { answerLoki, parseLimit, parseTime, requiredText } from './loki-requests.ts';
export { Streams } from './streams.ts';
