import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClientHello } from '../../../server/work/forwards/entry/names/client-hello.ts';
import { helloWith, inRecordsOf, realClientHello, serverName } from '../../harness/client-hello.ts';

const NAME = '01a1fba0-5b1e-7354-a8b1-996d0b28db1a.forward.example.net';
const named = (name: string | undefined): object => ({ state: 'complete', value: { serverName: name }, length: 0 });

/** GREASE (RFC 8701) and an encrypted ClientHello that means nothing, as browsers send them. */
const GREASE = [
  { type: 0x0a0a, content: Buffer.alloc(0) },
  { type: 0xfe0d, content: Buffer.alloc(250, 9) },
];

describe('a ClientHello', () => {
  it.each<[string, object]>([
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
    ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['ALPN', { ALPNProtocols: ['h2', 'http/1.1'] }],
  ])('of a real client says the name it asks for: %s', async (_what, options) => {
    expect(parseClientHello(await realClientHello({ servername: NAME, ...options }))).toEqual(named(NAME));
  });

  it('asks for no name, or sends no extension at all', async () => {
    expect(parseClientHello(await realClientHello({ servername: '' }))).toEqual(named(undefined));
    const bare = helloWith([]);
    // Without the length of the extensions; the lengths before it are two less.
    const cut = Buffer.from(bare.subarray(0, -2));
    cut.writeUInt16BE(cut.readUInt16BE(3) - 2, 3);
    cut.writeUIntBE(cut.readUIntBE(6, 3) - 2, 6, 3);
    expect(parseClientHello(cut)).toEqual(named(undefined));
  });

  it('is read in lower case, with GREASE around it', () => {
    expect(parseClientHello(helloWith([...GREASE, serverName('A.Example.NET'), ...GREASE]))).toEqual(named('a.example.net'));
  });

  it('is found however it is cut into records and segments', async () => {
    const hello = await realClientHello({ servername: NAME });
    for (const size of [Math.ceil(hello.length / 60), 100, 333, hello.length - 6, hello.length]) {
      const bytes = inRecordsOf(hello, size);
      for (let end = 0; end < bytes.length; end += 1)
        expect(parseClientHello(bytes.subarray(0, end)), `${end}`).toEqual({ state: 'incomplete' });
      expect(parseClientHello(bytes)).toEqual(named(NAME));
      // Early data, or a second message, may follow at once.
      expect(parseClientHello(Buffer.concat([bytes, Buffer.alloc(20_000, 23)]))).toEqual(named(NAME));
    }
  });

  it.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
    ['TLS of another kind', Buffer.from('160301000401000000', 'hex')],
    ['a ServerHello', Buffer.from('16030300040200000000', 'hex')],
    ['an empty record', Buffer.from('1603010000', 'hex')],
    ['an alert', Buffer.from('15030100020100', 'hex')],
    ['a record that is too long', Buffer.from('160301ffff', 'hex')],
    ['a message that is too long', Buffer.from('160301400001ffffff', 'hex')],
    ['two names', helloWith([serverName('a.example'), serverName('b.example')])],
    ['a name without letters', helloWith([serverName('')])],
    ['a name that ends beyond its extension', helloWith([{ type: 0, content: Buffer.from('000800000961622e', 'hex') }])],
    [
      'an extension that ends beyond the message',
      Buffer.concat([helloWith([{ type: 7, content: Buffer.alloc(3) }]).subarray(0, -4), Buffer.from('ffff0000', 'hex')]),
    ],
    ['more records than anybody needs', inRecordsOf(helloWith([{ type: 21, content: Buffer.alloc(500) }]), 4)],
  ])('is refused: %s', (_what, bytes) => {
    expect(parseClientHello(bytes)).toMatchObject({ state: 'refused' });
  });

  it('of any bytes at all is settled within 17 kB, without an error', () => {
    const noise = fc.uint8Array({ minLength: 17_000, maxLength: 17_000 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(noise, fc.boolean(), (bytes, likeTls) => {
        if (likeTls) Buffer.from('1603014000010020', 'hex').copy(bytes);
        expect(parseClientHello(bytes).state).not.toBe('incomplete');
      }),
    );
  });

  it('with any bit turned over is read or refused, never an error', async () => {
    const hello = await realClientHello({ servername: NAME });
    fc.assert(
      fc.property(fc.nat(hello.length - 1), fc.nat(7), (at, bit) => {
        const broken = Buffer.from(hello);
        broken[at] = broken[at]! ^ (1 << bit);
        expect(['complete', 'refused', 'incomplete']).toContain(parseClientHello(broken).state);
      }),
      { numRuns: 500 },
    );
  });
});
