import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeLength, encodeWord, FramingError, parseAttribute, SentenceDecoder } from '../../../agent/routers/routeros-api/framing.ts';
import { sentence, word } from './scripted-router.ts';

function decode(...chunks: Buffer[]): string[][] {
  const decoder = new SentenceDecoder();
  const sentences: string[][] = [];
  for (const chunk of chunks) decoder.push(chunk, (words) => sentences.push(words));
  return sentences;
}

describe('length prefixes', () => {
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
  ])('%i is written as %s', (length, hex) => {
    expect(encodeLength(length).toString('hex')).toBe(hex);
  });

  it('counts bytes, not letters', () => {
    expect(encodeWord('=name=Zürich').toString('hex')).toBe(`0d${Buffer.from('=name=Zürich').toString('hex')}`);
  });

  it.each([0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000])('a word of %i bytes comes back', (length) => {
    const text = 'x'.repeat(length);
    expect(decode(sentence('!re', text))[0]?.[1]).toHaveLength(length);
  });

  it('reads the five-byte form of a short word', () => {
    expect(decode(Buffer.from('f000000002486900', 'hex'))).toEqual([['Hi']]);
  });

  it.each([0xf8, 0xff])('cannot go on after the reserved control byte %i', (byte) => {
    expect(() => decode(Buffer.of(byte, 1, 2, 3))).toThrow(FramingError);
  });

  it('refuses a sentence beyond the limit as soon as its length is known', () => {
    expect(() => decode(Buffer.from('e8000000', 'hex'))).toThrow('8 MiB');
    expect(() => decode(Buffer.alloc(5000, word('a'), 'latin1'), Buffer.alloc(5000, word('a')))).toThrow('4096 words');
  });
});

describe('sentences', () => {
  it('are decoded the same for any split of the stream', () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 5 }), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sentences, cuts) => {
        const bytes = Buffer.concat(sentences.map((each) => sentence(...each)));
        const chunks: Buffer[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = cuts[i % cuts.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(decode(...chunks)).toEqual(sentences);
      }),
      { numRuns: 200 },
    );
  });

  it('are skipped when empty', () => {
    expect(decode(Buffer.of(0, 0), sentence('!done'), Buffer.of(0))).toEqual([['!done']]);
  });

  it('with text in the code page of an old Winbox are still readable', () => {
    const cafe = Buffer.from([...Buffer.from('=comment=caf'), 0xe9]);
    expect(decode(sentence('!re', cafe))).toEqual([['!re', '=comment=café']]);
  });

  it('keep a real replacement character', () => {
    expect(decode(sentence('=a=\uFFFD'))).toEqual([['=a=\uFFFD']]);
  });
});

describe('an attribute word', () => {
  it.each([
    ['=name=value', ['name', 'value']],
    ['=comment=a=b=c', ['comment', 'a=b=c']],
    ['=name=', ['name', '']],
    ['=.id=*1A', ['.id', '*1A']],
    ['=flag', ['flag', '']],
    ['!re', undefined],
    ['.tag=1', undefined],
  ])('%s', (text, expected) => {
    expect(parseAttribute(text)).toEqual(expected);
  });
});
