import { expect, test } from 'vitest';
import { otherServerBase, webSocketBase } from '../../../agent/link/channel-servers.ts';

const base = (server: string, own: string): string => otherServerBase(server, webSocketBase(own)).href;

test.each([
  ['https://node-2.example.com', 'https://signalbox.example.com', 'wss://node-2.example.com/'],
  ['wss://signalbox.example.com/node-2?a#b', 'wss://signalbox.example.com', 'wss://signalbox.example.com/node-2'],
  ['http://10.0.0.2:8080', 'http://10.0.0.1:8080', 'ws://10.0.0.2:8080/'],
  ['https://node-2.example.com', 'http://10.0.0.1:8080', 'wss://node-2.example.com/'],
  ['http://127.0.0.1:8081', 'http://localhost:8080', 'ws://127.0.0.1:8081/'],
])('channels are dialled to %s by an agent of %s', (server, own, expected) => {
  expect(base(server, own)).toBe(expected);
});

test.each([
  ['not an address', 'node-2', 'https://signalbox.example.com'],
  ['another protocol', 'file:///etc/passwd', 'https://signalbox.example.com'],
  ['less protection than its own', 'http://node-2.example.com', 'https://signalbox.example.com'],
  ['a password', 'https://user:secret@node-2.example.com', 'https://signalbox.example.com'],
  ['a user name', 'https://user@node-2.example.com', 'https://signalbox.example.com'],
  ['its own machine', 'https://127.0.0.1', 'https://signalbox.example.com'],
  ['its own machine by a number', 'https://2130706433', 'https://signalbox.example.com'],
  ['its own machine by name', 'https://db.localhost', 'https://signalbox.example.com'],
  ['its own machine by IPv6', 'https://[::1]', 'https://signalbox.example.com'],
  ['its own machine by a mapped address', 'https://[::ffff:127.0.0.1]', 'https://signalbox.example.com'],
  ['every address', 'https://0.0.0.0', 'https://signalbox.example.com'],
])('an agent refuses channels to %s', (_what, server, own) => {
  expect(() => base(server, own)).toThrow(expect.objectContaining({ code: 'refused' }));
});
