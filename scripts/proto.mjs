import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow, isNewerThan } from './modified.mjs';

/*
 * Makes what speaks gRPC needs of its .proto files: the types of all messages, and the descriptor that is loaded. Part of
 * the build; `node scripts/proto.mjs` alone makes it anew where it is older than its sources.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Numbers of 64 bits are numbers where ours are small enough, texts where others choose them: etcd's lease ids. Our own
 * messages have the names of our objects, `timeMs` for `time_ms`, so that these need not be copied into them.
 */
const TARGETS = [
  { sources: 'proto', output: 'packages/server/src/grpc/generated', int64: 'number', isCamel: true },
  { sources: 'packages/cluster/proto', output: 'packages/cluster/src/membership/etcd/generated', int64: 'string' },
];

/** Only the descriptor of the health service is made, for reflection: what is made of it at run time is refused by strict clients. */
const HEALTH = {
  sources: 'node_modules/grpc-health-check/proto',
  descriptor: 'packages/server/src/grpc/generated/health-descriptor.ts',
};

const SCALARS = {
  TYPE_BOOL: 'boolean',
  TYPE_BYTES: 'Uint8Array',
  TYPE_DOUBLE: 'number',
  TYPE_INT32: 'number',
  TYPE_STRING: 'string',
};

/** Does nothing where the output is newer than everything it is made of. */
export function generateProto() {
  for (const target of TARGETS) generate(target);
  const { sources, descriptor } = HEALTH;
  if (isNewerThan(join(ROOT, descriptor), inputs(sources))) return;
  writeFileSync(join(ROOT, descriptor), `${noticeOf(sources)}${descriptorModule(describe(sources, 'binpb'))}`);
}

function generate({ sources, output, int64, isCamel }) {
  const folder = join(ROOT, output);
  const messages = join(folder, 'messages.ts');
  const descriptor = join(folder, 'descriptor.ts');
  if ([messages, descriptor].every((output) => isNewerThan(output, inputs(sources)))) return;
  mkdirSync(folder, { recursive: true });
  const notice = noticeOf(sources);
  const files = JSON.parse(describe(sources, 'json').toString()).file;
  const binary = describe(sources, 'binpb');
  if (isCamel) for (const field of files.flatMap(fieldsIn)) field.name = field.jsonName;
  const scalars = { ...SCALARS, TYPE_INT64: int64 };
  writeFileSync(messages, `${notice}\n${files.flatMap((file) => declarations(file, scalars)).join('\n\n')}\n`);
  const loaded = isCamel ? base64Constant('LOADED_BASE64', withJsonNames(binary)) : '';
  writeFileSync(descriptor, `${notice}${descriptorModule(binary)}${loaded}`);
}

function fieldsIn({ messageType = [] }) {
  return messageType.flatMap(({ field = [] }) => field);
}

/** The descriptor with the names that fields have in JSON, as the library that loads it reads and writes descriptors. */
function withJsonNames(binary) {
  const loader = createRequire(import.meta.url).resolve('@grpc/proto-loader');
  const { FileDescriptorSet } = createRequire(loader)('protobufjs/ext/descriptor');
  const set = FileDescriptorSet.decode(binary);
  for (const field of set.file.flatMap(fieldsIn)) field.name = field.jsonName;
  return Buffer.from(FileDescriptorSet.encode(set).finish());
}

function noticeOf(sources) {
  return `// Made by scripts/proto.mjs from ${sources}/; do not edit.\n`;
}

/** The sources and this program. */
function inputs(sources) {
  return [fileURLToPath(import.meta.url), ...filesBelow(join(ROOT, sources))];
}

/** A FileDescriptorSet of everything in the folder. */
function describe(sources, format) {
  const buf = createRequire(import.meta.url).resolve('@bufbuild/buf/bin/buf');
  const options = ['--as-file-descriptor-set', '--exclude-source-info', '-o', `-#format=${format}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [buf, 'build', join(ROOT, sources), ...options]);
  if (status !== 0) throw new Error(`buf build ${sources} failed:\n${stderr}`);
  return stdout;
}

function descriptorModule(bytes) {
  return base64Constant('DESCRIPTOR_BASE64', bytes);
}

function base64Constant(name, bytes) {
  const lines = bytes.toString('base64').match(/.{1,110}/g) ?? [];
  return `export const ${name} = [\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('');\n`;
}

function declarations({ messageType = [], enumType = [], service = [] }, scalars) {
  const messages = messageType.map((message) => messageDeclaration(message, scalars));
  return [...enumType.map(enumDeclaration), ...messages, ...service.map(serviceDeclaration)];
}

function enumDeclaration({ name, value }) {
  return `export type ${name} = ${value.map((member) => `'${member.name}'`).join(' | ')};`;
}

function messageDeclaration({ name, field = [] }, scalars) {
  const fields = field.map((one) => fieldDeclaration(one, scalars));
  return `export interface ${name}Message {\n${fields.join('')}}`;
}

/** What can be left out may also be given as `null`: it is written as absent. */
function fieldDeclaration({ name, label, type, typeName, oneofIndex }, scalars) {
  const one = scalars[type] ?? nameOf(typeName, type === 'TYPE_MESSAGE');
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

/** Messages are distinguished from the values they are made of. */
function nameOf(typeName = '', isMessage) {
  return `${typeName.split('.').at(-1)}${isMessage ? 'Message' : ''}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generateProto();
