export { type CreateNodeOptions, createNode } from './create-node.ts';
export { StartError } from './errors.ts';
export type { EmbeddedHttp, FetchContext, HandlerContext } from './http/embedded/embedded-http.ts';
export type { EmbeddedNode, NodeOptions } from './open-node.ts';
export type { Logger } from './own-log/logger.ts';
export type { PartialSettings, Settings } from './settings/settings.ts';
export { SettingsError } from './settings/settings-error.ts';
export { type RunningNode, type StartNodeOptions, startNode } from './start-node.ts';
