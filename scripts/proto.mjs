import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Makes what the gRPC door needs of proto/: the types of all messages, and the descriptor the server loads. Part of the
 * build; `node scripts/proto.mjs` alone makes it anew where it is older than its sources.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'proto');
const OUTPUT = join(ROOT, 'packages/server/src/grpc/generated');
const MESSAGES = join(OUTPUT, 'messages.ts');
const DESCRIPTOR = join(OUTPUT, 'descriptor.ts');
const NOTICE = '// Made by scripts/proto.mjs from proto/; do not edit.\n';

const SCALARS = {
  TYPE_BOOL: 'boolean',
  TYPE_BYTES: 'Uint8Array',
  TYPE_DOUBLE: 'number',
  TYPE_INT32: 'number',
  TYPE_INT64: 'number',
  TYPE_STRING: 'string',
};

/** Does nothing where the output is newer than everything it is made of. */
export function generateProto() {
  const sources = [fileURLToPath(import.meta.url), ...filesBelow(SOURCES)];
  const newest = Math.max(...sources.map(modifiedMs));
  if (Math.min(modifiedMs(MESSAGES), modifiedMs(DESCRIPTOR)) > newest) return;
  mkdirSync(OUTPUT, { recursive: true });
  const files = JSON.parse(describe('json').toString()).file;
  writeFileSync(MESSAGES, `${NOTICE}\n${files.flatMap(declarations).join('\n\n')}\n`);
  writeFileSync(DESCRIPTOR, descriptorModule(describe('binpb')));
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
}

function modifiedMs(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

/** A FileDescriptorSet of everything in proto/. */
function describe(format) {
  const buf = createRequire(import.meta.url).resolve('@bufbuild/buf/bin/buf');
  const options = ['--as-file-descriptor-set', '--exclude-source-info', '-o', `-#format=${format}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [buf, 'build', SOURCES, ...options]);
  if (status !== 0) throw new Error(`buf build proto failed:\n${stderr}`);
  return stdout;
}

function descriptorModule(bytes) {
  const lines = bytes.toString('base64').match(/.{1,110}/g) ?? [];
  return `${NOTICE}export const DESCRIPTOR_BASE64 = [\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('');\n`;
}

function declarations({ messageType = [], enumType = [], service = [] }) {
  return [...enumType.map(enumDeclaration), ...messageType.map(messageDeclaration), ...service.map(serviceDeclaration)];
}

function enumDeclaration({ name, value }) {
  return `export type ${name} = ${value.map((member) => `'${member.name}'`).join(' | ')};`;
}

function messageDeclaration({ name, field = [] }) {
  return `export interface ${name}Message {\n${field.map(fieldDeclaration).join('')}}`;
}

/** What can be left out may also be given as `null`: it is written as absent. */
function fieldDeclaration({ name, label, type, typeName, oneofIndex }) {
  const one = SCALARS[type] ?? nameOf(typeName, type === 'TYPE_MESSAGE');
  if (one === undefined) throw new Error(`field ${name}: no TypeScript type is known for ${type}`);
  if (label === 'LABEL_REPEATED') return `  ${name}: ${one}[];\n`;
  const mayBeAbsent = oneofIndex !== undefined || type === 'TYPE_MESSAGE';
  return mayBeAbsent ? `  ${name}?: ${one} | null | undefined;\n` : `  ${name}: ${one};\n`;
}

function serviceDeclaration({ name, method }) {
  const rows = method.map(({ name: methodName, inputType, outputType, serverStreaming = false }) => {
    const types = `request: ${nameOf(inputType, true)}; response: ${nameOf(outputType, true)}`;
    return `  ${methodName}: { ${types}; stream: ${serverStreaming} };\n`;
  });
  return `export interface ${name}Methods {\n${rows.join('')}}`;
}

/** Messages are told apart from the values they are made of. */
function nameOf(typeName = '', isMessage) {
  return `${typeName.split('.').at(-1)}${isMessage ? 'Message' : ''}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generateProto();
