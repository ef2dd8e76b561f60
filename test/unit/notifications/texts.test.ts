import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanDetail, cleanName } from '../../../server/outbound/notifications/texts/clean.ts';
import { fitRows } from '../../../server/outbound/notifications/texts/rows.ts';
import { LOCALES, MAX_ITEMS } from '../../../server/outbound/notifications/texts/types.ts';
import type { Cause } from '../../../server/platform/notices/causes.ts';
import type { MessageKind, ThreadSubject, ThreadView } from '../../../server/outbound/notifications/texts/types.ts';
import { MAX_SUBJECT_CHARS, writeText } from '../../../server/outbound/notifications/texts/write.ts';
import {
  agentAway,
  CORE,
  endOf,
  FIRST_AT,
  HOSTILE_NAMES,
  HOUR,
  MADRID,
  MINUTE,
  named,
  reader,
  routerOffline,
  storm,
  SUBJECTS,
  viewOf,
} from '../../harness/notify/views.ts';

const KINDS: readonly MessageKind[] = [
  'open',
  'update',
  'resolve',
  'reminder',
  'still_open',
  'was_away',
  'digest',
  'escalation',
  'acknowledged',
  'test',
];
const plain = (text: string): string => text.replaceAll('\u2060', '').replaceAll('\u00A0', ' ').replaceAll('\u202F', ' ');

/** Subject and sentences as a person reads them. */
function read(view: ThreadView, locale: 'en' | 'de' | 'es' = 'en', timeZone?: string): string[] {
  const { subject, first, lines } = writeText(view, reader(locale, timeZone));
  return [subject, first, ...lines].map(plain);
}

describe('the zone of the times in a subject', () => {
  const zoneOf = (view: ThreadView, timeZone?: string) => writeText(view, reader('en', timeZone)).subjectTimeZone;

  test('is that of the site, and without a site that of the reader', () => {
    expect(zoneOf(agentAway(), 'Asia/Tokyo')).toBe('Europe/Madrid');
    expect(zoneOf({ ...agentAway(), siteTimeZone: null }, 'Asia/Tokyo')).toBe('Asia/Tokyo');
  });

  test('is named for each subject with a time, and for no other', () => {
    for (const [subject, kind] of SUBJECTS.flatMap((one) => KINDS.map((each) => [one, each] as const))) {
      const view = viewOf(subject, { kind, siteTimeZone: null, endedAt: kind === 'resolve' ? FIRST_AT + HOUR : null });
      const [here, there] = ['UTC', 'Asia/Kathmandu'].map((zone) => writeText(view, reader('en', zone)));
      expect(here!.subjectTimeZone, here!.subject).toBe(here!.subject === there!.subject ? null : 'UTC');
    }
  });
});

describe('an agent with 500 routers', () => {
  test('is away', () => {
    expect(read(agentAway())).toEqual([
      'Depot Madrid: agent away since 08:31, 500 routers not visible',
      'Depot Madrid: agent away since 08:31, 500 routers not visible.',
      '500 routers cannot be seen while the agent is away. Whether they work is not known.',
      'The agent is a-madrid.',
    ]);
  });

  test('is away, in German and Spanish', () => {
    expect(read(agentAway(), 'de').slice(0, 3)).toEqual([
      'Depot Madrid: Agent nicht erreichbar seit 08:31 Uhr, 500 Router nicht sichtbar',
      'Depot Madrid: Agent nicht erreichbar seit 08:31 Uhr, 500 Router nicht sichtbar.',
      'Ohne den Agenten sind 500 Router nicht zu sehen. Ob sie arbeiten, ist nicht bekannt.',
    ]);
    expect(read(agentAway(), 'es').slice(0, 3)).toEqual([
      'Depot Madrid: agente sin contacto desde las 08:31, 500 routers sin vigilancia',
      'Depot Madrid: agente sin contacto desde las 08:31, 500 routers sin vigilancia.',
      'Sin el agente no se ven 500 routers. No se sabe si funcionan.',
    ]);
  });

  test('is back', () => {
    expect(read(endOf(agentAway()))).toEqual([
      'Over: Depot Madrid: agent was away from 08:31 to 08:44, 13 min',
      'Depot Madrid: agent was away from 08:31 to 08:44, 13 min.',
      'All 500 routers can be seen again.',
      'The agent is a-madrid.',
    ]);
    expect(read(endOf(agentAway()), 'de')[0]).toBe('Vorbei: Depot Madrid: Agent war nicht erreichbar von 08:31 Uhr bis 08:44 Uhr, 13 Min.');
    expect(read(endOf(agentAway()), 'es')[0]).toBe(
      'Resuelto: Depot Madrid: el agente estuvo sin contacto desde las 08:31 hasta las 08:44, 13 min',
    );
    expect(writeText(endOf(agentAway()), reader()).tone).toBe('good');
  });

  test('is back, and some routers are not: that is no good news', () => {
    const view = endOf(agentAway(), { stillOpen: 3 });
    expect(read(view).slice(0, 3)).toEqual([
      'Depot Madrid: agent is back, 3 of 500 routers still offline',
      'Depot Madrid: agent is back, 3 of 500 routers still offline.',
      'Depot Madrid: agent was away from 08:31 to 08:44, 13 min.',
    ]);
    expect(writeText(view, reader()).tone).toBe('critical');
    expect(read(view, 'de')[0]).toBe('Depot Madrid: Agent wieder da, 3 von 500 Routern noch offline');
    expect(read(view, 'es')[0]).toBe('Depot Madrid: el agente ha vuelto, 3 de 500 routers siguen sin conexión');
  });

  test('hides one router or none', () => {
    expect(read(agentAway(1))[2]).toBe('1 router cannot be seen while the agent is away. Whether they work is not known.');
    expect(read(agentAway(0))[0]).toBe('Depot Madrid: agent away since 08:31');
  });
});

test('a sentence that ends with a short word has one full stop', () => {
  expect(writeText(endOf(routerOffline()), reader('de')).first).toMatch(/13 Min\.$/);
  expect(writeText(endOf(routerOffline()), reader('de')).first).not.toMatch(/\.\.$/);
});

describe('a subject', () => {
  const opening = (subject: ThreadSubject, changes: Partial<ThreadView> = {}): string => read(viewOf(subject, changes))[0]!;

  test.each<[string, string]>([
    ['router', 'core-1 (Depot Madrid): WAN down since 08:31'],
    ['site', 'Depot Madrid: 12 of 14 routers offline since 08:31'],
    ['agent_routers', 'a-madrid: 12 of 14 routers offline since 08:31'],
    ['jobs', 'core-1 (Depot Madrid): 2 jobs failed, 1 job expired'],
    ['campaign', 'Campaign Upgrade 7.15: stopped itself, 5 failed, 10 completed'],
    ['forward', 'plc (core-1): forward lost'],
    ['config', 'core-1 (Depot Madrid): configuration changed, 12 lines added, 3 removed'],
    ['agent_revoked', 'a-madrid (Depot Madrid): agent revoked'],
    ['delivery', 'Team Northwind: messages to Ops room (Slack, https://hooks.slack.com/…/•••) fail since 08:31'],
    ['server', 'Signalbox server: contact lost with 480 of 512 agents at once since 08:31'],
    ['storm', '37 sites, 812 routers affected since 08:31'],
    ['several', '500 routers: 450 jobs failed, 50 jobs expired'],
    ['held_back', '12 more messages not sent'],
    ['digest', '14 events from 07:31 to 08:31, 1 hr'],
  ])('%s is understood on a lock screen', (type, expected) => {
    const subject = SUBJECTS.find((one) => one.type === type)!;
    expect(opening(subject, type === 'digest' ? { kind: 'digest', itemCount: 14 } : {})).toBe(expected);
  });

  test.each<[Partial<ThreadView>, string]>([
    [{ kind: 'update' }, 'Update: core-1 (Depot Madrid): offline since 08:31'],
    [{ kind: 'reminder' }, 'Still open: core-1 (Depot Madrid): offline since 08:31'],
    [{ kind: 'still_open' }, 'Still open: core-1 (Depot Madrid): offline since 08:31'],
    [{ kind: 'escalation' }, 'Not taken over: core-1 (Depot Madrid): offline since 08:31'],
    [{ kind: 'acknowledged', acknowledgedBy: 'Ana Ruiz' }, 'Ana Ruiz has taken this over: core-1 (Depot Madrid): offline since 08:31'],
    [
      { kind: 'was_away', endedAt: FIRST_AT + 2 * HOUR + 5 * MINUTE },
      'Over: core-1 (Depot Madrid): offline from 08:31 to 10:36, 2 hr 5 min',
    ],
    [{ kind: 'update', flapping: { times: 3, withinMs: 40 * MINUTE } }, 'Comes and goes: core-1 (Depot Madrid): offline since 08:31'],
    [
      { kind: 'update', flapping: { times: 3, withinMs: 40 * MINUTE, now: 'quiet' } },
      'Quiet again: core-1 (Depot Madrid): offline since 08:31',
    ],
    [
      { kind: 'update', flapping: { times: 3, withinMs: 40 * MINUTE, now: 'open' } },
      'Stays open: core-1 (Depot Madrid): offline since 08:31',
    ],
  ])('%j says what kind of news it is', (changes, expected) => {
    expect(read({ ...routerOffline(), ...changes })[0]).toBe(expected);
  });

  test('an address that fails names whose it is, why, and who hears of it', () => {
    const view = viewOf(SUBJECTS.find(({ type }) => type === 'delivery')!);
    expect(read(view).slice(2)).toEqual([
      'The receiver says that this address is no longer in use.',
      'The message was from the group On call.',
      'Nothing more is sent there until somebody has confirmed the address again.',
    ]);
    expect(writeText(view, reader()).labels.reason).toBe('You get this because you are an administrator of the team Northwind.');
  });

  test('a message about the address asks for nothing else', () => {
    expect(read(viewOf({ type: 'test', group: named('Night shift'), by: 'Ana Ruiz' }, { kind: 'test' }))).toEqual([
      'Test: Signalbox can reach you here',
      'Signalbox can reach you here.',
      'Ana Ruiz has tested the notification group Night shift. Nothing has happened to your network.',
    ]);
    expect(read(viewOf({ type: 'proof', code: '493017', by: 'Ana Ruiz', validMs: 10 * MINUTE }))[3]).toBe(
      'Type in this code within 10 minutes: 493017',
    );
  });
});

describe('times', () => {
  test('of what has no end are those at which it happened, and of a list of such: one time each', () => {
    const at = FIRST_AT + HOUR;
    const closed = viewOf({ type: 'forward', forward: named('plc'), router: CORE, change: 'closed' }, { lastAt: at, at });
    expect(read(closed)[1]).toBe('plc (core-1): forward closed at 09:31.');
    const job = { text: 'add user', router: null, site: null, openedAt: at, resolvedAt: at };
    const jobs = viewOf(
      SUBJECTS.find(({ type }) => type === 'jobs')!,
      { lastAt: at, at, items: [job, job], itemCount: 2 },
    );
    expect(read(jobs)[1]).toBe('core-1 (Depot Madrid): 2 jobs failed at 09:31, 1 job expired.');
    expect(writeText(jobs, reader()).rows).toEqual(['add user, at 09:31', 'add user, at 09:31']);
  });

  test('are those of the site, with the reader’s in brackets when they differ', () => {
    expect(read(routerOffline(), 'en', 'Pacific/Auckland')[1]).toBe('core-1 (Depot Madrid): offline since 08:31 (20:31 Auckland).');
    expect(read(routerOffline(), 'de', 'Europe/London')[1]).toBe('core-1 (Depot Madrid): offline seit 08:31 Uhr (07:31 London).');
    // Another zone with the same time.
    expect(read(routerOffline(), 'en', 'Europe/Paris')[1]).toBe('core-1 (Depot Madrid): offline since 08:31.');
  });

  test('of another day have a date', () => {
    const later = { ...routerOffline(), kind: 'reminder' as const, at: FIRST_AT + 26 * HOUR };
    expect(read(later)[1]).toBe('core-1 (Depot Madrid): offline since 23 Nov, 08:31.');
    expect(read(later, 'de')[1]).toBe('core-1 (Depot Madrid): offline seit dem 23. Nov., 08:31 Uhr.');
    expect(read(later, 'es')[1]).toBe('core-1 (Depot Madrid): sin conexión desde el 23 nov, 08:31.');
    expect(read(later).at(-1)).toBe('Open for 1 day 2 hr.');
  });

  test('at one o’clock are singular in Spanish', () => {
    const night = viewOf(
      { type: 'router', router: CORE, site: MADRID, fault: 'router_offline', detail: '' },
      { firstAt: Date.UTC(2026, 10, 23, 0, 5) },
    );
    expect(read({ ...night, at: night.firstAt + 1000 }, 'es')[1]).toBe('core-1 (Depot Madrid): sin conexión desde la 01:05.');
  });

  test('in the hour that happens twice differ from the reader’s', () => {
    // 25 October 2026: clocks in Madrid go back from 03:00 to 02:00.
    const firstAt = Date.UTC(2026, 9, 25, 1, 30);
    const view = { ...routerOffline(), firstAt, at: firstAt + 1000 };
    expect(read(view, 'en', 'UTC')[1]).toBe('core-1 (Depot Madrid): offline since 02:30 (01:30 UTC).');
  });

  test('without a site are the reader’s', () => {
    expect(read(storm(), 'en', 'Europe/London')[1]).toBe('37 sites, 812 routers affected since 07:31.');
  });
});

describe('the list', () => {
  test('of a storm names sites with their routers, and says how many are missing', () => {
    const text = writeText(storm(), reader());
    expect(text.rows).toHaveLength(MAX_ITEMS);
    expect(text.rows[0]).toBe('Depot 1: 60 routers');
    expect(text.rowCount).toBe(812);
    expect(fitRows(text, 10_000, (row) => row.length).at(-1)).toBe('and 802 more');
    const three = fitRows(text, 75, (row) => row.length);
    expect(three).toHaveLength(4);
    expect(three.at(-1)).toBe('and 809 more');
    expect(fitRows(text, 5, (row) => row.length)).toEqual([]);
  });

  test('of a storm names agents with their routers that have no site', () => {
    const behind = { text: 'a-madrid', router: null, site: null, routers: 12, openedAt: FIRST_AT, resolvedAt: null };
    const away = { text: 'a-lisbon', router: null, site: null, openedAt: FIRST_AT, resolvedAt: null };
    const view = { ...storm(0, 13), items: [behind, away], itemCount: 2 };
    expect(writeText(view, reader()).rows).toEqual(['a-madrid: 12 routers', 'a-lisbon']);
    expect(LOCALES.map((locale) => read(view, locale)[0])).toEqual([
      '13 routers affected since 08:31',
      '13 Router betroffen seit 08:31 Uhr',
      '13 routers afectados desde las 08:31',
    ]);
  });

  test('does not repeat the site or the fault that the sentence has named', () => {
    const items = [
      { text: '', fault: 'router_offline' as const, router: CORE, site: MADRID, openedAt: FIRST_AT, resolvedAt: null },
      {
        text: '',
        fault: 'router_offline' as const,
        router: named('core-2'),
        site: MADRID,
        openedAt: FIRST_AT,
        resolvedAt: FIRST_AT + MINUTE,
      },
    ];
    const view = viewOf(
      { type: 'site', site: MADRID, fault: 'router_offline', affected: 2, of: 14 },
      { items, itemCount: 2, openCount: 1 },
    );
    expect(writeText(view, reader()).rows).toEqual(['core-1', 'core-2: 08:31–08:32']);
    expect(read(view)[2]).toBe('1 of 2 still open.');
  });

  test('at the end of an agent names only the routers that stay offline', () => {
    expect(writeText(endOf(agentAway()), reader()).rows).toEqual([]);
    const [first, second, third] = agentAway().items.map((item) => ({ ...item, resolvedAt: FIRST_AT + MINUTE }));
    const items = [first!, { ...second!, resolvedAt: null }, { ...third!, openedAt: FIRST_AT + 5 * MINUTE, resolvedAt: null }];
    const text = writeText(endOf(agentAway(), { stillOpen: 30, items }), reader());
    expect(text.rows).toEqual(['branch-2', 'branch-3: since 08:36']);
    expect(text.rowCount).toBe(30);
    expect(fitRows(text, 1000, (row) => row.length).at(-1)).toBe('and 28 more');
  });

  test('says when a record began, unless the sentence has said it', () => {
    const items = storm().items.map((item, index) => ({ ...item, openedAt: FIRST_AT + index * MINUTE }));
    expect(writeText({ ...storm(), items }, reader()).rows.slice(0, 2)).toEqual([
      'Depot 1: 60 routers',
      'Depot 2: 59 routers, since 08:32',
    ]);
  });

  test('is left out where the sentence says it all', () => {
    expect(writeText(routerOffline(), reader()).rows).toEqual([]);
  });

  test('always counts right: shown and hidden rows are all rows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 20, max: 2000 }), (all, budget) => {
        const text = writeText(storm(37, all), reader());
        const rows = fitRows(text, budget, (row) => row.length);
        if (rows.length === 0) return true;
        const hidden = Number(/^and ([\d,]+) more$/.exec(rows.at(-1)!)?.[1]?.replaceAll(',', '') ?? 0);
        return rows.length - (hidden > 0 ? 1 : 0) + hidden === Math.max(all, text.rows.length);
      }),
    );
  });
});

describe('text of routers', () => {
  /** What no name may bring into a message. */
  const FORBIDDEN = /[\p{Cc}\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF\p{Co}]|[\uD800-\uDFFF](?![\uDC00-\uDFFF])/u;
  /** What programs make links of, with the joiner still in place. */
  const LINK = /:\/\/|\bwww\.(?!\u2060)|@[\p{L}\p{N}_]|[\p{L}\p{N}-]\.(?:com|example|net|org)\b|javascript:(?!\u2060)\S/iu;

  test.each(HOSTILE_NAMES)('%j is one harmless line', (name) => {
    const clean = cleanName(name);
    expect(clean).not.toBe('');
    expect(clean).not.toMatch(FORBIDDEN);
    expect(clean).not.toMatch(LINK);
    expect(clean.length).toBeLessThan(140);
  });

  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['core-1.depot.lan', 'core-1.depot.lan'],
    ['rb4011.local', 'rb4011.local'],
    ['Büro Süd, Gebäude 3', 'Büro Süd, Gebäude 3'],
    ['мост-1', 'мост-1'],
    ['倉庫', '倉庫'],
    ['ether1: no link (1.5 s)', 'ether1: no link (1.5 s)'],
    ['7.15.2', '7.15.2'],
  ])('%s can be copied as it is', (name, expected) => {
    expect(cleanName(name)).toBe(expected);
  });

  test('reads as before where a link was broken up', () => {
    expect(plain(cleanName('router.example.com'))).toBe('router.example.com');
    expect(cleanName('router.example.com')).not.toBe('router.example.com');
  });

  test('any text is one harmless line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const clean of [cleanName(text), cleanDetail(text)]) {
          expect(clean).not.toMatch(FORBIDDEN);
          expect(clean).not.toMatch(LINK);
          expect(clean.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  const hostile = fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string({ unit: 'binary', maxLength: 100 }));
  const anyView = fc
    .tuple(hostile, fc.constantFrom(...SUBJECTS), fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 5000 }), fc.boolean())
    .map(([name, subject, kind, count, ended]): ThreadView => {
      const evil = { id: '1', name };
      const item = { text: name, router: evil, site: evil, openedAt: FIRST_AT, resolvedAt: ended ? FIRST_AT + HOUR : null };
      return viewOf(withName(subject, name), {
        kind,
        items: [item, item],
        itemCount: count,
        endedAt: ended ? FIRST_AT + HOUR : null,
        acknowledgedBy: ended ? null : name,
        team: name,
        group: name,
      });
    });

  test.each(LOCALES)('every message in %s is complete, in one line each, and short', (locale) => {
    fc.assert(
      fc.property(anyView, (view) => {
        const text = writeText(view, reader(locale, 'Pacific/Auckland'));
        expect(text.subject.length).toBeLessThanOrEqual(MAX_SUBJECT_CHARS);
        for (const line of [text.subject, text.first, ...text.lines, ...text.rows, ...Object.values(text.labels)]) {
          expect(line.trim()).not.toBe('');
          expect(line).not.toMatch(FORBIDDEN);
          expect(line).not.toMatch(/undefined|null|NaN|\[object|Invalid Date/);
        }
      }),
      { numRuns: 100 },
    );
  });
});

test.each([
  ['en', 'You get this because the notification group On call of the team Northwind names you.', 'a notification group of'],
  ['de', 'Sie erhalten diese Nachricht, weil Sie in der Benachrichtigungsgruppe On call des Teams Northwind stehen.', 'in einer'],
  ['es', 'Recibe este mensaje porque figura en el grupo de notificaciones On call del equipo Northwind.', 'en un grupo'],
] as const)('why the reader gets it names the group in %s, unless it is of several', (locale, ofOne, ofSeveral) => {
  expect(writeText(routerOffline(), reader(locale)).labels.reason).toBe(ofOne);
  expect(writeText({ ...routerOffline(), group: null }, reader(locale)).labels.reason).toContain(ofSeveral);
});

test.each(LOCALES)('every subject and kind has its words in %s', (locale) => {
  for (const subject of SUBJECTS) {
    for (const kind of KINDS) {
      const ended = kind === 'resolve' || kind === 'was_away';
      const view = viewOf(subject, {
        kind,
        endedAt: ended ? FIRST_AT + HOUR : null,
        acknowledgedBy: kind === 'acknowledged' ? 'Ana' : null,
      });
      const text = writeText(view, reader(locale));
      expect(text.subject, `${subject.type} ${kind}`).toMatch(/\S/);
      expect(text.first).toMatch(/\.$/);
      if (locale !== 'en') expect(text.first, `${subject.type} is translated`).not.toBe(writeText(view, reader('en')).first);
    }
  }
});

/** The subject with every name and detail replaced. */
function withName(subject: ThreadSubject, name: string): ThreadSubject {
  const replaced = Object.entries(subject).map(([key, value]) => {
    if (['detail', 'reason', 'address', 'channel', 'first', 'by'].includes(key)) return [key, name];
    return [key, typeof value === 'object' && value !== null && 'name' in value ? { ...value, name } : value];
  });
  return Object.fromEntries(replaced) as ThreadSubject;
}

test.each([
  ['en', 'Confirm this address for Signalbox', 'within 1 day', 'Confirm this address'],
  ['de', 'Bestätigen Sie diese Adresse für Signalbox', 'Er gilt 1 Tag.', 'Adresse bestätigen'],
  ['es', 'Confirme esta dirección para Signalbox', 'durante 1 día.', 'Confirmar la dirección'],
] as const)('a mail that proves an address is no test, and says so in %s', (locale, subject, line, button) => {
  const view = viewOf({ type: 'proof', code: null, by: 'Ana Ruiz', validMs: 24 * HOUR }, { kind: 'test', severity: 'info' });
  const text = writeText(view, reader(locale));
  expect(text.subject).toBe(subject);
  expect(plain(text.lines.join(' '))).toContain(line);
  expect(text.labels.open).toBe(button);
  // Who is asked is in no group yet.
  expect(text.labels.reason).not.toContain(view.team);
});

test('a sentence with an abbreviated duration at its end has one full stop', () => {
  const view = { ...routerOffline(), kind: 'reminder', at: FIRST_AT + 4 * HOUR } as const;
  expect(plain(writeText(view, reader('de')).lines.at(-1)!)).toBe('Offen seit 4 Std.');
});

test('what was observed has a label, because it is no sentence', () => {
  const view = viewOf({ type: 'router', router: CORE, site: MADRID, fault: 'router_offline', detail: 'the router no longer answers' });
  const firstLines = (shown: ThreadView) => LOCALES.map((locale) => writeText(shown, reader(locale)).lines[0]);
  // Facts of older versions have no codes.
  expect(firstLines(view)).toEqual([
    'Cause: the router no longer answers',
    'Ursache: the router no longer answers',
    'Causa: the router no longer answers',
  ]);
  const causes: Cause[] = [{ code: 'no_answer', reason: 'timeout', said: 'no answer to the connection attempt (ETIMEDOUT)' }];
  expect(firstLines({ ...view, subject: { ...view.subject, causes } as ThreadSubject })).toEqual([
    'Cause: no answer to the connection attempt (ETIMEDOUT)',
    'Ursache: keine Antwort auf den Verbindungsversuch',
    'Causa: sin respuesta al intento de conexión',
  ]);
});

test('a list says what was observed in the language of its reader', () => {
  const item = {
    text: 'it is 2 minutes ahead',
    fault: 'clock_wrong',
    router: CORE,
    site: MADRID,
    openedAt: FIRST_AT,
    resolvedAt: null,
  } as const;
  const causes: Cause[] = [{ code: 'clock_offset', seconds: 120 }];
  const view = viewOf(
    { type: 'site', site: MADRID, fault: 'clock_wrong', affected: 2, of: 2 },
    { items: [{ ...item, causes }, item], itemCount: 2 },
  );
  expect(writeText(view, reader('de')).rows.map(plain)).toEqual(['core-1: sie geht 2 Minuten vor', 'core-1: it is 2 minutes ahead']);
});

test.each([
  ['en', 'web push', 'ntfy', 'Microsoft Teams'],
  ['de', 'Web-Push', 'ntfy', 'Microsoft Teams'],
  ['es', 'web push', 'ntfy', 'Microsoft Teams'],
] as const)('a channel that fails is called as people of %s call it', (locale, ...names) => {
  for (const [index, channel] of ['web_push', 'ntfy', 'teams'].entries()) {
    const view = viewOf({ type: 'delivery', channel, address: 'a•••', reason: '', to: '', group: '' });
    expect(writeText(view, { locale, timeZone: 'UTC' }).subject).toContain(`(${names[index]})`);
  }
});
