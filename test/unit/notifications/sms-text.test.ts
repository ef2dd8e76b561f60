import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fits, septetsOf, smsText } from '../../../server/outbound/notifications/channels/sms-text.ts';
import { agentAway, endOf, messageOf, routerOffline } from '../../harness/notify/views.ts';

const of = (name: string, locale: 'en' | 'de' | 'es' = 'en'): string => smsText(messageOf(routerOffline(name), { locale }).text);

test('a text message is the subject, and the link if there is room', () => {
  const text = messageOf(agentAway()).text;
  expect(smsText({ ...text, url: 'https://s.example.com/t/1' })).toBe(
    'Signalbox: Depot Madrid: agent away since 08:31, 500 routers not visible https://s.example.com/t/1',
  );
  expect(smsText({ ...text, url: `https://${'x'.repeat(100)}.example.com` })).toBe(
    'Signalbox: Depot Madrid: agent away since 08:31, 500 routers not visible',
  );
});

test('letters outside the alphabet lose their accents, and what it has stays', () => {
  expect(of('Málaga', 'es')).toContain('Malaga (Depot Madrid): sin conexion desde las 08:31');
  expect(of('Köln–Süd', 'de')).toContain('Köln-Süd (Depot Madrid): offline seit 08:31 Uhr');
  expect(smsText(messageOf(endOf(agentAway()), { locale: 'es' }).text)).toContain('Resuelto: Depot Madrid: el agente estuvo sin contacto');
});

test('another script makes the segment short', () => {
  const text = of('мост-1');
  expect(septetsOf(text)).toBeUndefined();
  expect(text.length).toBeLessThanOrEqual(70);
  expect(text).toMatch(/^Signalbox: мост-1 \(Depot Madrid\)/);
});

test('a name does not become a link', () => {
  expect(of('evil.com')).toContain('evil. com');
});

test('every message is one segment', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('en' as const, 'de' as const, 'es' as const),
      (name, locale) => {
        const text = of(name, locale);
        return fits(text) && text.startsWith('Signalbox: ');
      },
    ),
    { numRuns: 200 },
  );
});

test.each([
  ['a', 1],
  ['€', 2],
  ['[x]', 5],
  ['é', 1],
  ['á', undefined],
  ['', 0],
])('%j has %s septets', (text, septets) => {
  expect(septetsOf(text)).toBe(septets);
});
