import type { NodeClient } from '@porthole/client';
import type { JsonSchema } from '@porthole/contract';
import { CONFIG_TOOLS } from './config-tools.ts';
import { FIELD_TOOLS } from './field-tools.ts';
import { RECORD_TOOLS } from './record-tools.ts';
import type { ToolResult } from './tool-result.ts';

/** What a tool works with. */
export interface ToolContext {
  client: NodeClient;
  signal: AbortSignal;
}

/** A question that an assistant may ask. All are read-only, bounded, and say what their result is the whole of. */
export interface Tool {
  name: string;
  title: string;
  /** For the assistant: what it returns and when to use it. */
  description: string;
  /** The properties of its arguments. */
  input: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** `args` match the schema. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>;
}

export const TOOLS: readonly Tool[] = [...CONFIG_TOOLS, ...RECORD_TOOLS, ...FIELD_TOOLS];
