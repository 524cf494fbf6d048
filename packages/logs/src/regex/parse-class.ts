import { addAll, addRange, type CharSet, emptySet, escapedSet, namedSet, negated } from './char-set.ts';
import { type PatternReader, UnknownSyntax } from './pattern-reader.ts';

/** Parses a class whose opening bracket has been read. */
export function parseClass(reader: PatternReader, { fold }: { fold: boolean }): CharSet {
  const isNegated = reader.take('^');
  const set = emptySet();
  // A leading closing bracket is a plain character.
  for (let isFirst = true; isFirst || !reader.take(']'); isFirst = false) {
    const part = namedPart(reader, fold);
    if (part) {
      addAll(set, part);
      continue;
    }
    const first = code(reader);
    const isRange = reader.sees('-') && !reader.sees('-]');
    if (isRange) reader.take('-');
    const last = isRange ? code(reader) : first;
    if (last < first) throw new UnknownSyntax();
    addRange(set, [first, last], { fold });
  }
  return isNegated ? negated(set) : set;
}

/** A named class within the class. */
function namedPart(reader: PatternReader, fold: boolean): CharSet | undefined {
  const named = reader.takeMatch(/^\[:(\^?)(\w+):\]/);
  if (named) {
    const set = namedSet(named[2] ?? '', { fold });
    if (!set) throw new UnknownSyntax();
    return named[1] === '^' ? negated(set) : set;
  }
  const escaped = reader.takeMatch(/^\\([dDwWsS])/);
  return escaped ? escapedSet(escaped[1] ?? '', { fold }) : undefined;
}

function code(reader: PatternReader): number {
  return reader.take('\\') ? reader.escapedCode() : reader.next();
}
