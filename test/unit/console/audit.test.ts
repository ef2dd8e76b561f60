import { describe, expect, it } from 'vitest';
import { queryOf, readAuditSearch } from '../../../console/src/pages/settings/audit/search.ts';
import { deedOf, outcomeOf, whyNot } from '../../../console/src/pages/settings/audit/words.ts';
import { targetOf, withoutIds } from '../../../console/src/pages/settings/audit/target-words.ts';
import { showTimesIn } from '../../../console/src/parts/times.ts';
import { PUBLIC_ROUTES } from '../../harness/route-table.ts';

const WRITES = PUBLIC_ROUTES.filter(({ method }) => method !== 'GET').map(
  ({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
);

const FORWARD = 'POST /api/routers/:router_id/transient-forwarding';

describe('words of the audit log', () => {
  it.each(WRITES)('tell what %s did', (action) => {
    expect(deedOf(action)).not.toBe(action);
  });

  it('leave an action that a newer control plane added as it is', () => {
    expect(deedOf('POST /api/rockets/:id')).toBe('POST /api/rockets/:id');
  });

  it('are silent about what was done, and say why something was refused', () => {
    expect(outcomeOf(FORWARD, 200)).toBeUndefined();
    expect(outcomeOf(FORWARD, 403)).toBe('not allowed');
    expect(outcomeOf(FORWARD, 503)).toBe('agent, router or control plane not available');
    expect(outcomeOf(FORWARD, 504)).toBe('the outcome is unknown');
  });

  it.each([
    ['export, binary (backup 019aca8e-7c3f-7000-8000-1c7a1d1d2b11)', 'export, binary'],
    ['to 192.168.88.1:22 for 203.0.113.7/32 (forward 019aca8e-7c3f-7000-8000-1c7a1d1d2b11)', 'to 192.168.88.1:22 for 203.0.113.7/32'],
    ['silence 019aca8e-7c3f-7000-8000-1c7a1d1d2b11: new mast', 'silence: new mast'],
    ['invitation 019aca8e-7c3f-7000-8000-1c7a1d1d2b11 for ada@example.org as viewer', 'invitation for ada@example.org as viewer'],
    ['level read: a port (ether5) is down', 'level read: a port (ether5) is down'],
  ])('leave the id out of "%s"', (detail, said) => {
    expect(withoutIds(detail)).toBe(said);
  });

  it('say of what was refused that it could not be done, and why', () => {
    expect(deedOf(FORWARD, 422)).toBe('could not open a forward');
    expect(whyNot(FORWARD, 422)).toBe('the input was wrong');
    expect(whyNot('POST /api/synchronous/:router_id', 422)).toBe('the command was refused');
    expect(deedOf('failed login', 401)).toBe('tried to sign in with a wrong password');
    // Nobody knows whether it was done.
    expect(deedOf(FORWARD, 504)).toBe('opened a forward');
  });

  it.each(WRITES)('have the verb of what could not be done by %s', (action) => {
    expect(deedOf(action, 409)).toMatch(/^could not /);
  });

  it('call records by their names, and show neither paths nor ids of what is known', () => {
    const id = '01a1fb9c-376e-7279-a064-482cecad7b5b';
    const names = new Map([[id, 'Depot Madrid']]);
    expect(targetOf('PATCH /api/sites/:site_id', `/api/sites/${id}`, names)).toBe('Depot Madrid');
    expect(targetOf('PATCH /api/sites/:site_id', `/api/sites/${id}`, new Map())).toBeNull();
    expect(targetOf('PATCH /api/me/notification-settings', '/api/me/notification-settings', names)).toBeNull();
    expect(targetOf('PUT /arp/devices/:mac', '/arp/devices/dc%3Aa6%3a32:3d:b9:04', names)).toBe('device dc:a6:32:3d:b9:04');
    expect(targetOf('login', 'Signalbox console', names)).toBe('Signalbox console');
    expect(targetOf('POST /api/rockets/:id', '/api/rockets/7', names)).toBe('/api/rockets/7');
  });
});

describe('the filter of the audit log', () => {
  it('ignores what is no filter', () => {
    expect(readAuditSearch({ actor: '', action: 5, from: 'yesterday', to: '2031-05-02', q: 'x' })).toEqual({ to: '2031-05-02' });
  });

  it.each([
    // A day of the browser, of an office nine hours ahead, of one that changes its clocks on that day, and of one that does it at midnight.
    [undefined, '2031-05-01', new Date(2031, 4, 1).toISOString(), new Date(2031, 4, 2).toISOString()],
    ['Asia/Tokyo', '2031-05-01', '2031-04-30T15:00:00.000Z', '2031-05-01T15:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z', '2026-03-29T21:00:00.000Z'],
  ])('asks for a whole day of the zone in which times are shown (%s)', (zone, day, since, until) => {
    showTimesIn(zone);
    try {
      expect(queryOf({ from: day, to: day })).toEqual({ since, until });
    } finally {
      showTimesIn(undefined);
    }
  });

  it('leaves out a day that is none', () => {
    expect(queryOf({ from: '0000-99-99x' })).toEqual({});
  });
});
