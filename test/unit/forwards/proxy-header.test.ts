import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '../../../server/work/forwards/entry/names/crc32c.ts';
import { parseProxyHeader } from '../../../server/work/forwards/entry/names/proxy-header.ts';
import { proxyHeader } from '../../harness/proxy-header.ts';

/** Written down by hand from the specification, so that test and parser do not share a mistake. */
const IPV4 = Buffer.from('0d0a0d0a000d0a515549540a 21 11 000c cb007107 0a000001 9c40 01bb'.replaceAll(' ', ''), 'hex');

describe('a PROXY header', () => {
  it('says who the client is', () => {
    const value = { kind: 'client', address: '203.0.113.7', port: 40_000 };
    expect(parseProxyHeader(IPV4)).toEqual({ state: 'complete', value, length: IPV4.length });
  });

  it('carries IPv6 as well', () => {
    const header = proxyHeader({ source: '2001:db8::7', port: 5 });
    expect(parseProxyHeader(header)).toMatchObject({ value: { kind: 'client', address: '2001:db8::7', port: 5 }, length: 52 });
  });

  it('may be followed by anything, and by TLVs that mean nothing here', () => {
    const tlvs = [
      { type: 0x02, value: Buffer.from('example.net') },
      { type: 0xea, value: Buffer.alloc(0) },
      { type: 0x20, value: Buffer.alloc(300, 7) },
    ];
    const header = proxyHeader({ tlvs, checksum: 'right' });
    expect(parseProxyHeader(Buffer.concat([header, Buffer.from('GET /')]))).toMatchObject({ state: 'complete', length: header.length });
  });

  it('tells an IPv4 client as one, also when it is written as IPv6', () => {
    expect(parseProxyHeader(proxyHeader({ source: '::ffff:203.0.113.7' }))).toMatchObject({ value: { address: '203.0.113.7' } });
  });

  it('of the load balancer itself names no client, whatever it contains', () => {
    const header = proxyHeader({ command: 0x20, family: 0x00 });
    expect(parseProxyHeader(header)).toEqual({ state: 'complete', value: { kind: 'local' }, length: header.length });
  });

  it.each([
    ['version 1', Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 40000 443\r\n')],
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['another command', proxyHeader({ command: 0x22 })],
    ['another version', proxyHeader({ command: 0x31 })],
    ['a client without an address', proxyHeader({ family: 0x00 })],
    ['a datagram', proxyHeader({ family: 0x12 })],
    ['a socket of the proxy’s own machine', proxyHeader({ family: 0x31 })],
    ['addresses that are cut off', proxyHeader({ family: 0x21 })],
    ['a wrong checksum', proxyHeader({ checksum: 'wrong' })],
    [
      'a TLV that ends beyond the header',
      Buffer.concat([proxyHeader().subarray(0, 15), Buffer.from([15]), proxyHeader().subarray(16), Buffer.from([4, 0, 9])]),
    ],
    ['more than anybody sends', proxyHeader({ tlvs: [{ type: 0x04, value: Buffer.alloc(5000) }] }).subarray(0, 16)],
  ])('is refused: %s', (_what, bytes) => {
    expect(parseProxyHeader(bytes)).toMatchObject({ state: 'refused' });
  });

  it('is the same however it was cut, and never taken for complete before it is', () => {
    const source = fc.oneof(fc.ipV4(), fc.ipV6());
    const tlvs = fc.array(
      fc.record({ type: fc.integer({ min: 0x20, max: 0xff }), value: fc.uint8Array({ maxLength: 60 }).map((b) => Buffer.from(b)) }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(source, fc.nat(65_535), tlvs, fc.boolean(), fc.uint8Array({ maxLength: 20 }), (address, port, all, summed, rest) => {
        const header = proxyHeader({ source: address, port, tlvs: all, ...(summed ? { checksum: 'right' } : {}) });
        const bytes = Buffer.concat([header, rest]);
        for (let end = 0; end < header.length; end += 1) expect(parseProxyHeader(bytes.subarray(0, end)).state).toBe('incomplete');
        for (let end = header.length; end <= bytes.length; end += 1) {
          expect(parseProxyHeader(bytes.subarray(0, end))).toMatchObject({ state: 'complete', length: header.length, value: { port } });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('that is any bytes at all is settled by 4 kB, without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 5000, maxLength: 5000 }), fc.boolean(), (noise, signed) => {
        const bytes = signed ? Buffer.concat([IPV4.subarray(0, 12), noise]) : Buffer.from(noise);
        expect(parseProxyHeader(bytes).state).not.toBe('incomplete');
      }),
    );
  });
});

it('the checksum is the one of RFC 3720', () => {
  expect(crc32c(Buffer.alloc(32)).toString(16)).toBe('8a9136aa');
  expect(crc32c(Buffer.from('123456789')).toString(16)).toBe('e3069283');
});
