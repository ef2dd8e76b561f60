import { afterEach, describe, expect, it } from 'vitest';
import type { NotificationGroup, ScheduleWindow } from '../../../client/index.ts';
import { addressOf, isComplete } from '../../../console/src/pages/notifications/channels/address-fields.ts';
import { stateWords, takerWords, threadState, untoldWords } from '../../../console/src/pages/notifications/log/words.ts';
import { groupSentence, whyNobody } from '../../../console/src/pages/notifications/sentence.ts';
import type { Names } from '../../../console/src/pages/notifications/sentence.ts';
import { EMPTY_SILENCE, missingIn, silenceOf } from '../../../console/src/pages/notifications/silences/silence-form.ts';
import { SORTS, covers, eventsWords } from '../../../console/src/pages/notifications/topics/kinds.ts';
import { coverOf, hoursOf, minuteOf, weekWords, windowsOf } from '../../../console/src/pages/notifications/week.ts';
import { shortTime, showTimesIn } from '../../../console/src/parts/times.ts';
import { topicsOf } from '../../../console/src/pages/notifications/log/followed.ts';
import { momentOf } from '../../../console/src/pages/notifications/shown-time.ts';
import { listed, targetName } from '../../../console/src/pages/notifications/words.ts';
import { FAULT_SEVERITY } from '../../../server/fleet/faults/types.ts';
import { OTHER_NOTICE_KINDS } from '../../../server/platform/notices/types.ts';

const office = (from = 480, to = 1080): ScheduleWindow[] =>
  (['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const).map((day) => ({ day, from, to }));

describe('a week in words', () => {
  it.each<[string, ScheduleWindow[]]>([
    ['never', []],
    ['Mondays to Fridays 08:00–18:00', office()],
    ['every day all day', [...office(0, 1440), { day: 'saturday', from: 0, to: 1440 }, { day: 'sunday', from: 0, to: 1440 }]],
    ['Mondays to Fridays 22:00–06:00 the next day', office(1320, 360)],
    [
      'Saturdays 09:00–13:00 and 14:00–20:00',
      [
        { day: 'saturday', from: 840, to: 1200 },
        { day: 'saturday', from: 540, to: 780 },
      ],
    ],
    ['Mondays to Fridays 18:00–24:00', office(1080, 1440)],
    ['Mondays to Fridays 08:00–18:00, Saturdays 09:00–12:00', [{ day: 'saturday', from: 540, to: 720 }, ...office()]],
    [
      'Mondays, Wednesdays, Saturdays and Sundays 08:00–09:00',
      (['sunday', 'monday', 'saturday', 'wednesday'] as const).map((day) => ({ day, from: 480, to: 540 })),
    ],
  ])('%s', (words, windows) => {
    expect(weekWords(windows)).toBe(words);
  });

  it('keeps every window when it is taken apart for a form and put together again', () => {
    const windows: ScheduleWindow[] = [...office(), { day: 'friday', from: 1200, to: 60 }];
    expect(windowsOf(hoursOf(windows))).toEqual(windows);
  });

  it('covers two days with a window over midnight, also from Sunday to Monday', () => {
    const night: ScheduleWindow[] = [{ day: 'sunday', from: 1320, to: 360 }];
    expect(coverOf(night, 'sunday')).toEqual([{ from: 1320, to: 1440 }]);
    expect(coverOf(night, 'monday')).toEqual([{ from: 0, to: 360 }]);
    expect(coverOf(night, 'tuesday')).toEqual([]);
  });

  it('reads a time of day, and nothing else', () => {
    expect([minuteOf('07:30'), minuteOf('00:00'), minuteOf(''), minuteOf('soon')]).toEqual([450, 0, undefined, undefined]);
  });
});

describe('what became of a message', () => {
  const attempt = { at: '2031-05-01T08:30:00.000Z', duration_ms: 5, outcome: 'sent', error: null, detail: null } as const;
  const sent = { state: 'sent' as const, reason: null, attempts: [attempt], delivered_at: null, read_at: null };
  const [delivered, read] = ['2031-05-01T08:31:00.000Z', '2031-05-01T08:40:00.000Z'];

  it('says how far it came', () => {
    expect(stateWords(sent).word).toBe('sent');
    expect(stateWords({ ...sent, delivered_at: delivered }).word).toBe(`delivered ${shortTime(delivered)}`);
    expect(stateWords({ ...sent, delivered_at: delivered, read_at: read }).word).toBe(`read ${shortTime(read)}`);
  });

  it('says that it was not delivered, and why: in words of our own where there are any', () => {
    const failed = (reason: string, error: string, detail: string | null) =>
      stateWords({ ...sent, state: 'failed', reason, attempts: [attempt, { ...attempt, outcome: 'undelivered', error, detail }] });
    expect(failed('undelivered', 'undelivered', '30003 Unreachable')).toMatchObject({ work: 'failed', word: 'not delivered', why: '' });
    expect(failed('undelivered', 'undelivered', null).why).toBe('the provider took it and could not deliver it');
    expect(failed('no_account', 'gone', '30005 Unknown').why).toBe('nothing arrives at this number');
    const refused = { ...attempt, outcome: 'never', error: 'refused' } as const;
    expect(stateWords({ ...sent, state: 'failed', reason: 'refused', attempts: [refused] }).word).toBe('given up');
  });
});

describe('a thread in words', () => {
  const open = {
    state: 'open',
    acknowledged_at: null,
    flapping: false,
    muted: false,
    silenced_until: null,
    parent_id: null,
    told_at: null,
    closed_at: null,
  } as const;

  it('says why nobody hears of it: a mute, or a silence and until when', () => {
    expect(threadState(open).why).toBe('');
    expect(threadState({ ...open, muted: true }).why).toBe('the group is muted');
    expect(threadState({ ...open, silenced_until: '2031-05-01T08:30:00.000Z' }).why).toMatch(/^silent until \S/);
  });

  it('says why nobody was told yet, the thread that stands for it first', () => {
    expect(untoldWords(open)).toContain('waits until nothing new has come');
    expect(untoldWords({ ...open, muted: true })).toContain('the group is muted');
    expect(untoldWords({ ...open, silenced_until: '2031-05-01T08:30:00.000Z' })).toContain('a silence holds until');
    expect(untoldWords({ ...open, muted: true, parent_id: 'storm' })).toContain('a larger thread');
    expect(untoldWords({ ...open, state: 'closed', closed_at: '2031-05-01T08:30:00.000Z' })).toContain('over before it was to be told');
    expect(untoldWords({ ...open, state: 'closed' }), 'a reboot that is gathered').toContain('waits until nothing new has come');
    expect(untoldWords({ ...open, told_at: '2031-05-01T08:30:00.000Z' })).toContain('named nobody');
  });

  it('names who has taken it over, and somebody who is gone', () => {
    expect(takerWords({ acknowledged_by: 'ada@example.org' })).toBe('ada@example.org');
    expect(takerWords({ acknowledged_by: null })).toBe('somebody who is gone');
  });
});

describe('a group as a sentence', () => {
  const base: NotificationGroup = {
    id: 'g',
    name: 'On call',
    schedule_id: null,
    mute: 'never',
    recipients: [],
    notifiables: [],
    topics: [],
    sites: [],
    targets: [],
    escalate_after_minutes: null,
    escalate_to: null,
    created_at: '',
    updated_at: '',
    muted_now: false,
    reaches: 1,
  };
  const record = <T extends object>(id: string, more: T) => new Map([[id, { id, ...more }]]);
  const names = {
    members: record('anna', { email: 'anna@example.org' }),
    targets: new Map([
      ['noc', { name: '#noc', channel: 'slack', verified_at: '2031-05-01T08:00:00.000Z' }],
      ['new', { name: '#new', channel: 'slack', verified_at: null }],
    ]),
    topics: record('outages', { name: 'Outages', events: [] }),
    sites: record('madrid', { name: 'Depot Madrid' }),
    schedules: record('office', { name: 'Office', time_zone: 'Europe/Madrid', windows: office() }),
    groups: record('boss', { name: 'Management' }),
  } as unknown as Names;
  const said = (changes: Partial<NotificationGroup>): string =>
    groupSentence({ ...base, ...changes }, names)
      .map(({ text }) => text)
      .join('');

  it.each<[string, Partial<NotificationGroup>]>([
    [
      'anna@example.org and Slack #noc are told of Outages at Depot Madrid, Mondays to Fridays 08:00–18:00 (Europe/Madrid).',
      { recipients: ['anna'], targets: ['noc'], topics: ['outages'], sites: ['madrid'], schedule_id: 'office', mute: 'schedule-active' },
    ],
    [
      'anna@example.org (by text message) is told of Outages everywhere, except Mondays to Fridays 08:00–18:00 (Europe/Madrid).',
      { notifiables: [{ id: 'anna', channel: 'sms' }], topics: ['outages'], schedule_id: 'office', mute: 'schedule-inactive' },
    ],
    [
      'anna@example.org (also by Telegram) is told of Outages everywhere, at any time. If nobody takes it over within 15 minutes, Management is told.',
      {
        recipients: ['anna'],
        notifiables: [{ id: 'anna', channel: 'telegram' }],
        topics: ['outages'],
        escalate_after_minutes: 15,
        escalate_to: 'boss',
      },
    ],
    ['Nobody is told of anything by this group yet.', {}],
    ['anna@example.org would be told of Outages everywhere, at any time.', { recipients: ['anna'], topics: ['outages'], reaches: 0 }],
    [
      'anna@example.org is told of Outages everywhere, but it is muted until an administrator ends that.',
      { recipients: ['anna'], topics: ['outages'], mute: 'always' },
    ],
    // Without its schedule nothing is muted (docs/information.md).
    ['Slack #new (not confirmed yet) is told of Outages everywhere, at any time.', { targets: ['new'], topics: ['outages'] }],
    ['Slack #noc is told of Outages everywhere, at any time.', { targets: ['noc'], topics: ['outages'], mute: 'schedule-active' }],
  ])('%s', (sentence, changes) => {
    expect(said(changes)).toBe(sentence);
  });

  it('says what keeps it from telling anybody, and nothing when it does', () => {
    expect(whyNobody(base)).toContain('add people');
    expect(whyNobody({ ...base, recipients: ['anna'] })).toContain('choose topics');
    expect(whyNobody({ ...base, recipients: ['anna'], topics: ['outages'], reaches: 0 })).toContain('confirmed');
    expect(whyNobody({ ...base, recipients: ['anna'], topics: ['outages'] })).toBeUndefined();
  });

  it('names a few and counts the rest', () => {
    expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
    expect(listed(['a', 'b', 'c', 'd'])).toBe('a, b, c and d');
    expect(targetName({ name: 'Slack #noc', channel: 'slack' })).toBe('Slack #noc');
  });
});

describe('topics', () => {
  it('have words for every kind that the control plane tells of', () => {
    const known = new Set(SORTS.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)));
    const kinds = [...Object.keys(FAULT_SEVERITY).map((type) => `fault.${type}`), ...OTHER_NOTICE_KINDS];
    expect([...known].sort()).toEqual(kinds.sort());
  });

  it('say what they are about; what is not known stays as it is', () => {
    expect(eventsWords(['fault.router_offline', 'job.*', 'brand.new'])).toBe('a router does not answer, everything about jobs, brand.new');
    expect(eventsWords(['*'])).toBe('everything');
    expect([covers('fault.*', 'fault.voltage'), covers('*', 'x'), covers('job.failed', 'job.expired')]).toEqual([true, true, false]);
  });
});

describe('forms', () => {
  it('send only the fields of a channel, and wait for those that it needs', () => {
    const typed = { url: ' https://ntfy.example.net ', topic: 'noc', routing_key: 'left from another channel' };
    expect(addressOf('ntfy', typed)).toEqual({ url: 'https://ntfy.example.net', topic: 'noc' });
    expect([isComplete('ntfy', typed), isComplete('ntfy', { url: 'x' }), isComplete('gotify', { url: 'x' })]).toEqual([true, false, false]);
    expect(addressOf('pagerduty', { routing_key: 'k' })).toEqual({ routing_key: 'k', region: 'us' });
  });

  it('silence what was chosen, to the whole minute, so that the same input is the same request', () => {
    const draft = { ...EMPTY_SILENCE, routerId: 'r', siteId: 's', reason: ' work ', length: '60' } as const;
    const now = Date.parse('2026-11-23T08:00:10Z');
    expect(silenceOf(draft, now)).toEqual({ router_id: 'r', until: '2026-11-23T09:01:00.000Z', reason: 'work' });
    expect(silenceOf(draft, now + 20_000)).toEqual(silenceOf(draft, now));
    expect(silenceOf({ ...draft, scope: 'site' }, now)).toMatchObject({ site_id: 's' });
    expect(missingIn(draft)).toEqual([]);
    expect(missingIn({ ...draft, scope: 'router', routerId: '', reason: ' ' })).toEqual(['router', 'why']);
    expect(missingIn({ ...draft, scope: 'site', siteId: '' })).toEqual(['site']);
    expect(missingIn({ ...draft, scope: 'team', from: 'never' })).toEqual(['from']);
  });
});

describe('a time that somebody types', () => {
  afterEach(() => showTimesIn(undefined));
  const iso = (wall: string): string => new Date(momentOf(wall)).toISOString();

  it('is one of the zone in which the pages show times, also when its clocks change', () => {
    showTimesIn('Europe/Madrid');
    expect(iso('2026-11-23T09:30')).toBe('2026-11-23T08:30:00.000Z');
    expect(iso('2026-07-01T09:30')).toBe('2026-07-01T07:30:00.000Z');
    // Twice, and not at all.
    expect(iso('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
    expect(iso('2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z');
    showTimesIn('Pacific/Auckland');
    expect(iso('2026-11-23T09:30')).toBe('2026-11-22T20:30:00.000Z');
    expect(momentOf('soon')).toBeNaN();
    const draft = { ...EMPTY_SILENCE, scope: 'team' as const, from: '2026-11-23T09:30', reason: 'work' };
    expect(silenceOf(draft, 0)).toMatchObject({ from: '2026-11-22T20:30:00.000Z', until: '2026-11-22T22:30:00.000Z' });
  });

  it('of a day has 24 hours', () => {
    expect(['00:00', '23:59', '8:30', '24:00', '12:60', '12:3', ''].map(minuteOf)).toEqual([0, 1439, ...Array(5).fill(undefined)]);
  });
});

describe('the topics by which a group hears of a thread', () => {
  const topic = (id: string, events: string[]) => [id, { id, name: id, events }] as const;
  const names = {
    groups: new Map([['g', { topics: ['Outages', 'Jobs', 'Gone'] }]]),
    topics: new Map([topic('Outages', ['fault.router_offline', 'fault.agent_offline']), topic('Jobs', ['job.*']), topic('All', ['*'])]),
  } as unknown as Names;
  const thread = (kind: string, ...kinds: string[]) =>
    ({ group_id: 'g', kind, items: kinds.map((one) => ({ kind: one })) }) as unknown as Parameters<typeof topicsOf>[0];

  it('are those of the group that have what is in it', () => {
    expect(topicsOf(thread('fault.agent_offline', 'fault.agent_offline'), names)).toEqual(['Outages']);
    expect(topicsOf(thread('site', 'fault.router_offline', 'job.failed'), names)).toEqual(['Outages', 'Jobs']);
    expect(topicsOf(thread('test', 'test'), names)).toEqual([]);
    expect(topicsOf({ ...thread('job.failed'), group_id: 'removed' }, names)).toEqual([]);
  });
});
