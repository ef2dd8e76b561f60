import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolError, SentenceParser } from '../../simulator/api/sentence-parser.ts';
import { decodeLength, encodeLength, encodeSentence, prefixBytes } from '../../simulator/api/words.ts';

function parse(chunks: readonly Buffer[], limits?: ConstructorParameters<typeof SentenceParser>[0]): string[][] {
  const sentences: string[][] = [];
  const parser = new SentenceParser(limits);
  for (const chunk of chunks) parser.push(chunk, (words) => sentences.push(words));
  return sentences;
}

describe('word lengths', () => {
  it.each([
    [0, '00'],
    [0x7f, '7f'],
    [0x80, '8080'],
    [0x3fff, 'bfff'],
    [0x4000, 'c04000'],
    [0x1f_ffff, 'dfffff'],
    [0x20_0000, 'e0200000'],
    [0xfff_ffff, 'efffffff'],
    [0x1000_0000, 'f010000000'],
    [0xffff_ffff, 'f0ffffffff'],
  ])('%i is written as %s, and read back', (length, hex) => {
    const prefix = encodeLength(length);
    expect(prefix.toString('hex')).toBe(hex);
    expect(prefixBytes(prefix[0] ?? 0)).toBe(prefix.length);
    expect(decodeLength(prefix)).toBe(length);
  });

  it('knows no length beyond four bytes', () => {
    expect(() => encodeLength(0x1_0000_0000)).toThrow(RangeError);
  });

  it.each([0xf8, 0xfc, 0xff])('cannot continue after the reserved control byte %i', (byte) => {
    expect(() => parse([Buffer.from([byte])])).toThrow(new ProtocolError('control-byte'));
  });
});

describe('sentences', () => {
  it('come out the same however the bytes are cut', () => {
    const words = fc.array(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 4 }), fc.array(fc.nat(200), { maxLength: 20 }), (sentences, cuts) => {
        const bytes = Buffer.concat(sentences.map(encodeSentence));
        const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
        const chunks = [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length));
        expect(parse(chunks)).toEqual(parse([bytes]));
      }),
    );
  });

  it('may hold a word of every length form that fits', () => {
    for (const length of [1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000]) {
      expect(parse([encodeSentence(['x'.repeat(length)])])[0]?.[0]?.length).toBe(length);
    }
  });

  it('are swallowed when empty', () => {
    expect(parse([Buffer.from([0, 0, 0]), encodeSentence(['/login']), Buffer.from([0])])).toEqual([['/login']]);
  });

  it('carry any text: equals signs, line ends, letters of every script', () => {
    const words = ['/x', '=a==b=\r\n', '=naïve=ščř 日本語'];
    expect(parse([encodeSentence(words)])).toEqual([words]);
  });

  it.each([
    ['a word beyond the limit', 'word-too-long', Buffer.from([0xf0, 0x10, 0, 0, 0])],
    ['too many words', 'sentence-too-long', Buffer.concat(Array.from({ length: 5 }, () => Buffer.from([1, 65])))],
    [
      'too many bytes in all',
      'sentence-too-long',
      Buffer.concat(Array.from({ length: 3 }, () => Buffer.concat([Buffer.from([5]), Buffer.from('12345')]))),
    ],
  ] as const)('refuse %s', (_name, fault, bytes) => {
    expect(() => parse([bytes], { wordBytes: 10, sentenceBytes: 12, words: 4 })).toThrow(new ProtocolError(fault));
  });
});
