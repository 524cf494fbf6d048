import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from './regex.ts';
import { requiredText } from './required-text.ts';

/** Patterns with a text each of them matches, so that most cases say something. */
interface Sample {
  pattern: string;
  text: string;
}

const LETTERS = ['a', 'b', 'K', 's', '7', ' ', '-', '/', '"', ',', '}', ']', 'é', '\t', '😀'];

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
);

function repeated({ pattern, text }: Sample, times: string, alone: boolean): Sample {
  if (times === '') return { pattern, text };
  const unit = alone ? pattern : `(${pattern})`;
  const count = times.startsWith('{2') ? 2 : times.startsWith('{1') || times.startsWith('+') ? 1 : 0;
  return { pattern: unit + times, text: text.repeat(count) };
}

const { sample } = fc.letrec<{ sample: Sample; item: Sample }>((tie) => ({
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
    fc.constantFrom({ pattern: '(?i)', text: '' }, { pattern: '^', text: '\n' }, { pattern: '\\b', text: '' }),
  ),
}));

test('a text in which a regex is found holds what the regex is said to require', async () => {
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(
      sample,
      fc.array(fc.constantFrom(...LETTERS)),
      fc.boolean(),
      async (made, around, caseSensitive) => {
        const regex = await compileRegex(made.pattern, { caseSensitive }).catch(() => undefined);
        const required = requiredText(made.pattern);
        const inOtherCase = caseSensitive ? made.text : made.text.toUpperCase();
        for (const text of [made.text, inOtherCase, around.join(''), around.join('') + made.text + around.join('')]) {
          if (!regex?.test(text)) continue;
          matched++;
          if (caseSensitive) expect(text).toContain(required);
          else expect(text.toLowerCase()).toContain(required.toLowerCase());
        }
      },
    ),
    { numRuns: 3000 },
  );
  expect(matched).toBeGreaterThan(2000);
});
