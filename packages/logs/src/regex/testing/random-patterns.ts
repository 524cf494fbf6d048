import fc from 'fast-check';
import { LogError } from '../../log-error.ts';

/** Patterns with a text that each of them matches, so that most cases are meaningful. */
export interface Sample {
  pattern: string;
  text: string;
}

export const LETTERS = ['a', 'b', 'K', 's', '7', ' ', '-', '/', '"', ',', '}', ']', 'é', '\t', '😀'];

const atom: fc.Arbitrary<Sample> = fc.oneof(
  fc.constantFrom(...LETTERS).map((text) => ({ pattern: text === ']' || text === '}' ? `\\${text}` : text, text })),
  fc
    .constantFrom('.', '*', '+', '?', '|', '(', ')', '[', '{', '\\', '^', '$')
    .map((text) => ({ pattern: `\\${text}`, text })),
  fc.constantFrom(
    { pattern: '.', text: 'z' },
    { pattern: '\\d', text: '3' },
    { pattern: '\\w', text: '_' },
    { pattern: '\\s', text: ' ' },
    { pattern: '\\S', text: '!' },
    { pattern: '\\t', text: '\t' },
    { pattern: '\\n', text: '\n' },
    { pattern: '\\x41', text: 'A' },
    { pattern: '\\x{1F600}', text: '😀' },
    { pattern: '\\pL', text: 'q' },
    { pattern: '\\Qa.b\\E', text: 'a.b' },
    { pattern: '[abc]', text: 'b' },
    { pattern: '[^abc]', text: 'd' },
    { pattern: '[]x]', text: ']' },
    { pattern: '[^]x]', text: 'y' },
    { pattern: '[\\]x]', text: 'x' },
    { pattern: '[[:alpha:]_]', text: '_' },
    { pattern: '[[:^alpha:]]', text: '1' },
    { pattern: '[[:]', text: ':' },
    { pattern: 'a{,5}', text: 'a{,5}' },
    { pattern: 'a{x', text: 'a{x' },
    { pattern: '\\101', text: 'A' },
    { pattern: '[^\\W]', text: 'x' },
    { pattern: '[^\\S\\n]', text: ' ' },
    { pattern: '[^k]', text: 's' },
    { pattern: '[a-f0-9é]', text: 'é' },
    { pattern: '[\\x{100}-\\x{3000}]', text: '\u212a' },
    { pattern: '\\x{17f}', text: 's' },
    { pattern: '\\W', text: 'ä' },
    { pattern: '\\D', text: '\ufffd' },
    { pattern: '(?s:.)', text: '\n' },
    { pattern: '(?i:kS)', text: 'Ks' },
    { pattern: '(?-i:aB)', text: 'aB' },
    { pattern: '(?P<n>b)', text: 'b' },
    { pattern: '(?<n2>b)', text: 'b' },
  ),
);

const quantifier = fc.constantFrom(
  '',
  '',
  '',
  '?',
  '*',
  '+',
  '{2}',
  '{0}',
  '{0,1}',
  '{1,}',
  '??',
  '*?',
  '+?',
  '{0,2}?',
  '{3,40}',
  '{20}',
);

function repeated({ pattern, text }: Sample, times: string, alone: boolean): Sample {
  if (times === '') return { pattern, text };
  const unit = alone ? pattern : `(${pattern})`;
  const count =
    times === '{20}'
      ? 20
      : times.startsWith('{3')
        ? 5
        : times.startsWith('{2')
          ? 2
          : times.startsWith('{1') || times.startsWith('+')
            ? 1
            : 0;
  return { pattern: unit + times, text: text.repeat(count) };
}

export const { sample } = fc.letrec<{ sample: Sample; item: Sample }>((tie) => ({
  sample: fc.array(tie('item'), { minLength: 1, maxLength: 5, depthIdentifier: 'pattern' }).map((parts) => ({
    pattern: parts.map(({ pattern }) => pattern).join(''),
    text: parts.map(({ text }) => text).join(''),
  })),
  item: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'pattern' },
    fc.tuple(atom, quantifier).map(([one, times]) => repeated(one, times, one.pattern.length === 1)),
    fc
      .tuple(tie('sample'), quantifier)
      .map(([group, times]) => repeated({ ...group, pattern: `(${group.pattern})` }, times, true)),
    fc.tuple(tie('sample'), tie('sample')).map(([a, b]) => ({ pattern: `(${a.pattern}|${b.pattern})`, text: b.text })),
    fc.tuple(tie('sample')).map(([{ pattern, text }]) => ({ pattern: `(?:${pattern})`, text })),
    fc.constantFrom(
      { pattern: '(?i)', text: '' },
      { pattern: '^', text: '\n' },
      { pattern: '$\n', text: '\n' },
      { pattern: '$', text: '' },
      { pattern: '\\b', text: '' },
      { pattern: '\\B', text: '' },
      { pattern: '\\A', text: '' },
      { pattern: '\\z', text: '' },
    ),
  ),
}));

/** Patterns that take other engines forever, or that need large automata. */
export const HARD_PATTERNS = [
  ...['(a+)+$', '(a|aa)+$', '(.*)*Q', '(a*)*b$', '(a|a?)+Q', '(a?){30}a{30}!', '([a-z]+)*\\d$', '(x+x+)+y'],
  ...['a.{30}b.{30}c', '(a|b)*a(a|b){12}7', '[^a]{5}a[^b]{0,200}b{3}', '((a{0,5}){0,5}){0,5}b', '(?s)a.{100,200}b'],
  ...[
    '(\\w+\\s){3}\\w+$',
    '^(.|\\n)*7$',
    '\\b\\w+\\b.*\\b7\\b',
    '(^|b)a(b|$)',
    '$^',
    '',
    '()',
    'a|',
    '\\n\\z',
    'b\\n$',
  ],
];

/** For random patterns that are invalid or too complex. */
export function rejectedByEngine(error: unknown): undefined {
  if (!(error instanceof LogError)) throw error;
}
