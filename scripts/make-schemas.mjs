import { dirname, join } from 'node:path';
import { API, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';

/*
 * JSON schemas (2020-12) of TypeScript types, by the compiler itself. Interfaces and unions that the file exports have a
 * schema of their own, to which others refer; all other types are written where they are used. Comments are descriptions,
 * and no field may be without one. response-types.ts lists the tags.
 */

/** The schemas of these types and of all that they refer to, by name. The file is one of the project. */
export function makeSchemas(names, { project: config, file }) {
  const api = new API();
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    return new SchemaMaker(project, join(dirname(config), file)).make(names);
  } finally {
    api.close();
  }
}

class SchemaMaker {
  #checker;
  #project;
  /** The exported types by name, and the names of those that get a schema of their own. */
  #exports = new Map();
  #names = new Map();
  #schemas = new Map();

  constructor(project, file) {
    this.#project = project;
    this.#checker = project.checker;
    const module = this.#checker.getSymbolAtLocation(project.program.getSourceFile(file));
    for (const found of this.#checker.getExportsOfModule(module)) {
      const symbol = found.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(found) : found;
      if (!(symbol.flags & (SymbolFlags.Interface | SymbolFlags.TypeAlias))) continue;
      const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
      this.#exports.set(found.name, { symbol, type });
      if (this.#isStructure(type)) this.#names.set(type.id, found.name);
    }
  }

  make(names) {
    for (const name of names) this.#add(name);
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(name) {
    if (this.#schemas.has(name)) return;
    const { symbol, type } = this.#exports.get(name) ?? fail(`no type named ${name} is exported`);
    this.#schemas.set(name, undefined);
    const description = this.#text(symbol) || fail(`the type ${name} has no comment`);
    this.#schemas.set(name, { description, ...this.#inline(type, { path: name }) });
  }

  /** Objects with fields, and unions of them. */
  #isStructure(type) {
    if (type.isUnionType()) return type.getTypes().some((each) => each.isObjectType());
    if (!type.isObjectType() || this.#checker.isArrayType(type)) return false;
    return this.#checker.getIndexInfosOfType(type).length === 0;
  }

  /** `context`: the path for errors, the tags of the field, and the symbol that declares its values. */
  #schema(type, context) {
    const whole = this.#names.get(type.id);
    const name = whole ?? this.#names.get(this.#checker.getNonNullableType(type).id);
    if (name === undefined) return this.#inline(type, context);
    this.#add(name);
    const reference = { $ref: `#/components/schemas/${name}` };
    const isNullable = whole === undefined && partsOf(type).some(({ flags }) => flags & TypeFlags.Null);
    return isNullable ? { oneOf: [reference, { type: 'null' }] } : reference;
  }

  #inline(type, context) {
    if (type.flags & TypeFlags.Unknown) return {};
    if (isObject(type)) return this.#object(type, context);
    const parts = partsOf(type).filter(({ flags }) => !(flags & TypeFlags.Undefined));
    const objects = parts.filter(isObject).map((part) => this.#schema(part, context));
    const scalars = parts.filter((part) => !isObject(part));
    const symbol = this.#checker.getNonNullableType(type).getAliasSymbol();
    const scalar = scalars.length > 0 ? [this.#scalar(scalars, symbol ? { ...context, symbol } : context)] : [];
    const all = [...objects, ...scalar];
    return all.length === 1 ? all[0] : { oneOf: all };
  }

  #scalar(parts, { path, tags = {}, symbol }) {
    const isNullable = parts.some(({ flags }) => flags & TypeFlags.Null);
    const literals = parts.filter((part) => part.isLiteralType()).map(({ value }) => value);
    const types = new Set(literals.map((value) => typeof value));
    if (parts.some(({ flags }) => flags & TypeFlags.String)) types.add('string');
    // What may be a text, too, is a value of somebody else, which need not be whole.
    const numbers = types.size > 0 || tags.asType === 'number' ? 'number' : 'integer';
    if (parts.some(({ flags }) => flags & TypeFlags.Number)) types.add(numbers);
    const values = types.has('boolean') && literals.length === 2 ? [] : this.#inOrder(literals, symbol);
    if (types.size === 0 && !isNullable) fail(`the type of ${path} has no JSON schema`);
    if (values.length === 1 && !isNullable) return { const: values[0] };
    const all = [...types, ...(isNullable ? ['null'] : [])];
    return {
      type: all.length === 1 ? all[0] : all,
      ...(values.length > 0 && { enum: [...values, ...(isNullable ? [null] : [])] }),
      ...(tags.minimum !== undefined && { minimum: Number(tags.minimum) }),
    };
  }

  #object(type, context) {
    if (this.#checker.isArrayType(type)) {
      return { type: 'array', items: this.#schema(this.#checker.getTypeArguments(type)[0], context) };
    }
    if (this.#checker.isTupleType(type)) fail(`the type of ${context.path} has no JSON schema`);
    const [index] = this.#checker.getIndexInfosOfType(type);
    if (index !== undefined) return { type: 'object', additionalProperties: this.#schema(index.valueType, context) };
    const fields = this.#checker.getPropertiesOfType(type);
    const properties = fields.map((field) => [field.name, this.#field(field, context)]);
    const [part] = type.isIntersectionType() ? type.getTypes() : [];
    return {
      ...(part && { description: this.#text(part.getSymbol()) }),
      type: 'object',
      properties: Object.fromEntries(properties),
      required: fields.filter((field) => this.#isAlways(field)).map(({ name }) => name),
      additionalProperties: false,
    };
  }

  #isAlways(field) {
    return !(field.flags & SymbolFlags.Optional) || 'required' in this.#tags(field);
  }

  #field(field, parent) {
    const path = `${parent.path}.${field.name}`;
    const type = this.#checker.getTypeOfSymbol(field);
    // The fields of a mapped type have no declarations: their tags are those of what has this type.
    const isMapped = field.declarations.length === 0;
    const schema = this.#schema(
      type,
      isMapped ? { ...parent, path } : { path, tags: this.#tags(field), symbol: field },
    );
    const description = this.#text(field) || this.#text(this.#checker.getNonNullableType(type).getAliasSymbol());
    if (description !== '') return { ...schema, description };
    const { $ref } = schema.items ?? schema;
    if ($ref === undefined && schema.const === undefined && !isMapped) fail(`${path} has no comment`);
    return schema;
  }

  /** As they are declared: the compiler has the values of a union in the order of the alphabet. */
  #inOrder(values, symbol) {
    if (values.length < 2) return values;
    const text = symbol.declarations.map((declaration) => declaration.resolve(this.#project).getText()).join();
    return [...values].sort((a, b) => text.indexOf(`'${a}'`) - text.indexOf(`'${b}'`));
  }

  #text(symbol) {
    if (symbol === undefined) return '';
    return this.#checker.getDocumentationCommentOfSymbol(symbol).replaceAll(/\s*\n\s*/g, ' ');
  }

  #tags(symbol) {
    return Object.fromEntries(this.#checker.getJsDocTagsOfSymbol(symbol).map(({ name, text = '' }) => [name, text]));
  }
}

function isObject(type) {
  return type.isObjectType() || type.isIntersectionType();
}

function partsOf(type) {
  return type.isUnionType() ? type.getTypes() : [type];
}

function fail(message) {
  throw new Error(`schemas of responses: ${message}`);
}
