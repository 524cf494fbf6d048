import {
  type ConfigLanguage,
  type ConfigLeaf,
  type ConfigTree,
  DocumentBuilder,
  FormatError,
  MAX_DEPTH,
  plainValue,
  type TextRange,
  type TreeEntry,
  type TreeLeaf,
  withoutMark,
} from './config-document.ts';

/**
 * XML as configurations use it: elements are tables or values, attributes are values, an element given again is a list.
 * The root element is not a part of keys, and Hadoop's `<property>` is a key and its value. A document type is skipped:
 * entities other than the five of XML are never expanded.
 */
export const XML: ConfigLanguage = {
  plainMask: '******',
  hasDirectives: false,
  hasLooseComments: false,
  repeatsAdd: true,
  statement: /</,
  read: (source) => readXml(withoutMark(source), true),
  readPart(text) {
    try {
      return readXml(text, false);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return undefined;
    }
  },
};

const TOKEN =
  /<!--([\s\S]*?)-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE\b(?:[^<>[]|\[[^\]]*\])*>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** An element that is open. */
interface Element {
  name: string;
  path: readonly string[];
  entries: TreeEntry<ConfigLeaf>[];
  start: number;
  /** Its text, without blanks around it. */
  texts: (TextRange & { value: string })[];
  hasElements: boolean;
}

function readXml(text: string, hasRoot: boolean) {
  const builder = new DocumentBuilder(text);
  const root: Element = { name: '', path: [], entries: [], start: 0, texts: [], hasElements: false };
  const stack = [root];
  let isRootSeen = false;
  const top = () => stack.at(-1) ?? root;
  const addText = (start: number, end: number, decode: (raw: string) => string) => {
    const raw = text.slice(start, end);
    if (raw.trim() === '') return;
    const from = start + raw.search(/\S/);
    top().texts.push({ start: from, end: start + raw.trimEnd().length, value: decode(raw.trim()) });
  };
  const close = () => {
    const element = stack.pop() ?? root;
    const isTop = hasRoot && stack.length === 1;
    const node = closeElement(builder, element);
    if (!isTop) top().entries.push({ names: [element.name], node });
    else if (node.kind === 'table') root.entries.push(...node.entries);
    else throw new FormatError('XML without settings');
    joinProperty(element, top());
  };
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('<', at);
    addText(at, next < 0 ? text.length : next, decoded);
    if (next < 0) break;
    TOKEN.lastIndex = next;
    const token = TOKEN.exec(text);
    if (!token) throw new FormatError(`not valid XML (offset ${next})`);
    at = next + token[0].length;
    const [whole, comment, data, closing, opening, attributes = '', isEmpty] = token;
    if (comment !== undefined) {
      addComment(builder, { start: next + 4, end: at - 3 });
    } else if (data !== undefined) addText(next + 9, at - 3, (raw) => raw);
    else if (closing !== undefined) {
      if (stack.length === 1 || top().name !== closing) throw new FormatError(`not valid XML (offset ${next})`);
      close();
    } else if (opening !== undefined) {
      if (hasRoot && stack.length === 1 && isRootSeen) throw new FormatError('not valid XML: more than one root');
      isRootSeen = true;
      if (stack.length > MAX_DEPTH) throw new FormatError('nested too deeply');
      const isRoot = hasRoot && stack.length === 1;
      top().hasElements = true;
      const path = isRoot ? [] : [...top().path, opening];
      const element: Element = { name: opening, path, entries: [], start: next, texts: [], hasElements: false };
      const from = next + whole.indexOf(attributes, 1 + opening.length);
      for (const match of attributes.matchAll(ATTRIBUTE)) {
        const value = match[2] ?? match[3] ?? '';
        const start = from + match.index + match[0].length - 1 - value.length;
        const name = match[1] ?? '';
        const node = builder.leaf(
          [...path, name],
          { start, end: start + value.length },
          { value: decoded(value), isQuoted: true },
        );
        element.entries.push({ names: [name], node });
      }
      stack.push(element);
      if (isEmpty === '/') close();
    }
  }
  if (stack.length > 1 || (hasRoot && !isRootSeen)) throw new FormatError('not valid XML: an element has no end');
  builder.entries.push(...root.entries);
  builder.statements.sort((a, b) => a.start - b.start);
  return builder.build(XML);
}

function closeElement(builder: DocumentBuilder, element: Element): ConfigTree<ConfigLeaf> {
  const { path, entries, texts, start } = element;
  if (element.hasElements || (entries.length > 0 && texts.length === 0)) {
    // Text among elements is no value.
    for (const range of texts) addComment(builder, range);
    return { kind: 'table', entries };
  }
  const range = { start: texts[0]?.start ?? start, end: texts.at(-1)?.end ?? start };
  const value = texts.map((text) => text.value).join('');
  const isAsWritten = value === builder.text.slice(range.start, range.end);
  const leafPath = entries.length > 0 ? [...path, 'text'] : path;
  const leaf = builder.leaf(leafPath, range, { value: isAsWritten ? plainValue(value) : value }, start);
  return entries.length > 0 ? { kind: 'table', entries: [...entries, { names: ['text'], node: leaf }] } : leaf;
}

function addComment(builder: DocumentBuilder, { start, end }: TextRange): void {
  for (const line of builder.text.slice(start, end).matchAll(/[^\n]+/g))
    builder.comment(start + line.index, start + line.index + line[0].length);
}

/** Hadoop: `<property><name>a.b</name><value>c</value></property>` is `"a.b" = "c"`. */
function joinProperty({ name, path }: Element, parent: Element): void {
  if (name !== 'property') return;
  const property = parent.entries.at(-1);
  if (property?.node.kind !== 'table') return;
  const find = (wanted: string): TreeLeaf<ConfigLeaf> | undefined => {
    const node = property.node.kind === 'table' && property.node.entries.find(({ names }) => names[0] === wanted)?.node;
    return node && node.kind === 'leaf' ? node : undefined;
  };
  const [key, value] = [find('name'), find('value')];
  if (!key?.text || !value) return;
  value.leaf.path = [...path.slice(0, -1), key.text];
  parent.entries.splice(-1, 1, { names: [key.text], node: value });
}

const ENTITIES = new Map(Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }));

function decoded(raw: string): string {
  return raw.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));/g, (entity, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : -1;
    if (code >= 0) return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    return ENTITIES.get(name) ?? entity;
  });
}
