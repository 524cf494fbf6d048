export { createMcpServer } from './create-mcp-server.ts';
export { type StdioOptions, serveMcpOnStdio } from './serve-stdio.ts';
