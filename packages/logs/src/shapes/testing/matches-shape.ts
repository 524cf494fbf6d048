/** Whether the first line of a message is one that the shape stands for: `*` is any text, white space counts as one space. */
export function matchesShape(shape: string, message: string): boolean {
  const [line = ''] = message.split('\n', 1);
  const text = line
    .split(/[\0- ]+/)
    .filter((word) => word !== '')
    .join(' ');
  const [first = '', ...rest] = shape.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
