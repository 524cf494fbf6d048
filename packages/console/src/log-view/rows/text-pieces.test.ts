import { describe, expect, test } from 'vitest';
import { textPieces } from './record-text.ts';

const every = (wanted: string) => (text: string) =>
  [...text.matchAll(new RegExp(wanted, 'g'))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
const plain = (text: string) => ({ text, classes: '', isMatch: false });
const match = (text: string) => ({ text, classes: '', isMatch: true });

describe('a text in pieces', () => {
  test('is one piece without matches, and none for an empty text', () => {
    expect(textPieces('abc', null)).toEqual([plain('abc')]);
    expect(textPieces('', null)).toEqual([]);
  });

  test('has matches as pieces of their own', () => {
    expect(textPieces('xay', every('a'))).toEqual([plain('x'), match('a'), plain('y')]);
    expect(textPieces('a', every('a'))).toEqual([match('a')]);
  });

  test('keeps all text of a line full of matches or colours, but highlights only the first ones', () => {
    for (const text of ['a'.repeat(1000), '\u001b[31ma\u001b[32m'.repeat(1000)]) {
      const pieces = textPieces(text, every('a'));
      expect(pieces.length).toBeLessThan(60);
      expect(pieces.map((piece) => piece.text).join('')).toBe('a'.repeat(1000));
    }
  });

  test('ignores empty matches', () => {
    expect(textPieces('abc', () => [{ start: 1, end: 1 }])).toEqual([plain('abc')]);
  });

  test('has terminal colours as classes, and matches across them', () => {
    expect(textPieces('\u001b[31mred\u001b[0m text', every('d t'))).toEqual([
      { text: 're', classes: 'ansi-red', isMatch: false },
      { text: 'd', classes: 'ansi-red', isMatch: true },
      match(' t'),
      plain('ext'),
    ]);
  });

  test('makes invisible characters visible', () => {
    expect(textPieces('a\u202eb\u0000', null)).toEqual([plain('a⇄b␀')]);
  });
});
