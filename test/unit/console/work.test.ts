import { describe, expect, it } from 'vitest';
import type { CampaignTarget, JobDetail, JobTimelineItem, OutputGroup, Router } from '../../../client/index.ts';
import { hunksOf, pairsOf } from '../../../console/src/pages/work/backups/diff.ts';
import { readPair } from '../../../console/src/pages/work/backups/pair.ts';
import { cellOf, indexAt, planOf } from '../../../console/src/pages/work/campaign/matrix-plan.ts';
import { saidBy } from '../../../console/src/pages/work/campaign/said.ts';
import { wavesOf } from '../../../console/src/pages/work/campaign/waves.ts';
import { jobSentence } from '../../../console/src/pages/work/job/sentence.ts';
import { axisOf, linesOf } from '../../../console/src/pages/work/job/timeline.ts';
import { jobsFilter } from '../../../console/src/pages/work/jobs/filter.ts';
import { cautionOf, checksOf } from '../../../console/src/pages/work/run/caution.ts';
import { deedAction, deedQuestion } from '../../../console/src/pages/work/run/deed-words.ts';
import { completionsOf, endingOf, splitCommand, withHistory } from '../../../console/src/pages/work/run/command-line.ts';
import { mayChoose, wrongFilter } from '../../../console/src/pages/work/run/filter-wrong.ts';
import { COMMANDS } from '../../../console/src/pages/work/run/menus.ts';
import { routersNamed } from '../../../console/src/pages/work/run/named.ts';
import { EMPTY_DRAFT, campaignOf, isGuarded, jobOf } from '../../../console/src/pages/work/run/script-form.ts';

describe('a script that can lock somebody out', () => {
  it.each([
    ['/ip address add address=10.0.0.1/24 interface=ether1', ['addresses']],
    ['/ip/address/remove [find]', ['addresses']],
    ['/ip route\nadd gateway=10.0.0.1', ['routes']],
    [':foreach i in=[/ip firewall filter find] do={ /ip firewall filter remove $i }', ['the firewall']],
    ['/interface vlan add name=v vlan-id=3 interface=ether1; /ip service set api disabled=yes', ['interfaces', 'services and logins']],
    ['/system reset-configuration no-defaults=yes', ['the whole configuration']],
    ['/import file-name=x.rsc', ['the whole configuration']],
    ['/routing bgp connection disable 0', ['routes']],
    ['/interface bridge set bridge1 comment=mast disabled=yes', ['interfaces']],
    ['/interface bridge set bridge1 disabled=yes comment=mast', ['interfaces']],
    ['/interface bridge set bridge1 comment=mast \\\n  disabled=yes', ['interfaces']],
    ['/interface bridge set bridge1 comment=mast; /interface bridge remove bridge2', ['interfaces']],
    ['/interface bridge set bridge1 comment="$[/ip address remove 0]"', ['interfaces', 'addresses']],
    ['/interface bridge set [/ip address remove 0] comment=mast', ['addresses']],
  ])('is recognised: %s', (script, touches) => {
    expect(cautionOf(script).touches).toEqual(touches);
  });

  it.each([
    ':put [/ip address print as-value]',
    '/ip dns set servers=192.0.2.53',
    ':local address [/ip address get [find interface=ether1] address]',
    '# /ip address remove [find]',
    '/ip address print; :log info "add nothing"',
    '/system identity set name=gw',
    '/interface bridge set bridge1 comment="to the mast; north"',
    '/interface/bridge/set [find name=bridge1] comment=mast',
    '/interface bridge\nset numbers=0 comment=""; :put done',
    ':foreach i in=[/interface find] do={ /interface set $i comment=x }',
  ])('is not suspected without a reason: %s', (script) => {
    expect(cautionOf(script).touches).toEqual([]);
  });

  it.each([
    ['/system reboot', ['reboot'], 'not_needed'],
    ['/system/reboot', ['reboot'], 'not_needed'],
    ['system reboot', ['reboot'], 'not_needed'],
    ['/system\nreboot', ['reboot'], 'not_needed'],
    [':delay 5; /system reboot', ['reboot'], 'not_needed'],
    [':execute "/system reboot"', ['reboot'], 'not_needed'],
    [':do { /system/shutdown } on-error={ :put no }', ['shutdown'], 'not_needed'],
    ['/system package update install', ['install'], 'not_needed'],
    ['/system/package/update/install', ['install'], 'not_needed'],
    ['/system routerboard upgrade; /system reboot', ['firmware', 'reboot'], 'not_needed'],
    ['/system package downgrade', ['downgrade'], 'not_needed'],
    ['/disk/format-drive usb1 file-system=ext4', ['format'], 'not_needed'],
    ['/disk format usb1', ['format'], 'not_needed'],
    ['/ip address add address=10.0.0.1/24 interface=ether1; /system reboot', ['reboot'], 'wanted'],
    ['/system reset-configuration no-defaults=yes', ['reset'], 'useless'],
    ['/ip address add address=10.0.0.1/24 interface=ether1; /system/reset-configuration', ['reset'], 'useless'],
    ['/system backup load name=a', ['load'], 'useless'],
  ])('takes the router away, and a guard helps or not: %s', (script, deeds, guard) => {
    const caution = cautionOf(script);
    expect(caution).toMatchObject({ deeds, guard });
    expect(caution.lines.size).toBe(1);
  });

  it.each([
    '# /system reboot',
    '/system package update check-for-updates',
    '/system reboot-on-panic print',
    '/system routerboard print',
    ':log info "a system reboot comes"',
    '/system scheduler print',
    '/disk print',
  ])('takes nothing away: %s', (script) => {
    expect(cautionOf(script)).toMatchObject({ deeds: [], guard: 'not_needed' });
  });

  it('takes the router away in its own line only', () => {
    expect([...cautionOf('/system reboot\n:put done\nprint').lines]).toEqual([1]);
  });

  it('is asked about by its worst part, with the number of routers', () => {
    expect(deedAction(['reboot'], 2)).toBe('Reboot 2 routers');
    expect(deedQuestion(['reset', 'reboot'], 1, 'core-1')).toBe('Reset core-1?');
    expect(deedQuestion([], 3, 'core-1')).toBe('Run on 3 routers?');
  });

  it('marks the lines that go on after a backslash, and no others', () => {
    const script = ':put a\n/ip firewall filter add chain=input \\\n  action=drop \\\n  place-before=0\n:put b';
    expect([...cautionOf(script).lines]).toEqual([2, 3, 4]);
  });

  it('names the menus to look at', () => {
    const script =
      '/interface vlan add name=v vlan-id=3 interface=ether1\n/ip dns set servers=192.0.2.53\n/ip address\nadd address=10.0.0.1/24';
    expect(checksOf(script)).toEqual(['/interface/vlan/print', '/ip/dns/print', '/ip/address/print']);
  });

  it('has its guard on by default, and as a person decides otherwise', () => {
    expect(isGuarded({ guard: 'auto' }, true)).toBe(true);
    expect(isGuarded({ guard: 'auto' }, false)).toBe(false);
    expect(isGuarded({ guard: 'off' }, true)).toBe(false);
    expect(jobOf({ ...EMPTY_DRAFT, script: 'x' }, true)).toMatchObject({ undo_unless_reachable_seconds: 120 });
    expect(jobOf({ ...EMPTY_DRAFT, script: 'x' }, false)).not.toHaveProperty('undo_unless_reachable_seconds');
  });

  it('sends what is no number as it is, so that the server names the field', () => {
    const campaign = campaignOf({ ...EMPTY_DRAFT, canaries: 'two', ratePerMinute: '' }, false, ['r']);
    expect(campaign).toMatchObject({ canary_count: 'two', rate_per_minute: null, abort_after_failures: 3, abort_at_percent: null });
  });
});

describe('a typed command', () => {
  it.each([
    ['/ip address print', '/ip address print', ''],
    ['/interface/print where type=ether', '/interface/print', 'where type=ether'],
    ['ip address add address=10.0.0.1/24 interface=ether2', 'ip address add', 'address=10.0.0.1/24 interface=ether2'],
    ['/ip/route print detail', '/ip/route print', 'detail'],
    ['/ping address=192.0.2.1 count=3', '/ping', 'address=192.0.2.1 count=3'],
    ['/ping 192.0.2.1 count=3', '/ping', 'address=192.0.2.1 count=3'],
    ['/tool traceroute example.org count=1', '/tool traceroute', 'address=example.org count=1'],
    ['/export', '/export', ''],
  ])('is split into its two fields: %s', (line, command, parameters) => {
    expect(splitCommand(line)).toEqual({ command, parameters });
  });

  it.each([
    ['/ping 127.0.0.1', '/ping address=127.0.0.1 count=4'],
    ['/tool/traceroute address=example.org', '/tool/traceroute address=example.org count=1'],
    ['/interface ethernet monitor ether1', '/interface ethernet monitor ether1 once'],
    ['/tool torch interface=ether1', '/tool torch interface=ether1 duration=5'],
    ['/ping 127.0.0.1 count=2', undefined],
    ['/interface/print', undefined],
    ['', undefined],
  ])('is offered with what makes it end: %s', (line, ending) => {
    expect(endingOf(line)).toBe(ending);
  });

  it('is completed by menus with spaces or slashes, printing first, and by what was run before', () => {
    expect(completionsOf('/ip addr', COMMANDS, [])[0]).toBe('/ip/address/print');
    expect(completionsOf('ip/addr', COMMANDS, [])[0]).toBe('/ip/address/print');
    expect(completionsOf('/ip addr', COMMANDS, ['/ip address print where dynamic=no'])[0]).toBe('/ip address print where dynamic=no');
    expect(completionsOf('lease', COMMANDS, [])).toContain('/ip/dhcp-server/lease/print');
    expect(completionsOf('', COMMANDS, ['/ip address print'])).toEqual([]);
    expect(completionsOf('/', COMMANDS, []).length).toBeLessThanOrEqual(8);
  });

  it('is remembered once, the newest first', () => {
    expect(withHistory(['b', 'a'], 'a')).toEqual(['a', 'b']);
  });
});

const router = (id: string, identity: string): Router => ({ id, identity }) as Router;
const HOW = 'No router matches. Filters are written field:value, such as version:<7.15. A part of a name is found without *.';

describe('addresses', () => {
  const routers = [router('1', 'Core-1'), router('2', 'core-2')];
  const sites = new Map([['s1', 'Main street']]);

  it('name routers by id or identity, and say which there are not', () => {
    expect(routersNamed('2,core-1,2,gone', routers)).toEqual({ routers: [routers[1], routers[0]], missing: ['gone'] });
  });

  it.each([
    ['state:up', 0, 'There is no state up. It is one of answering, not_answering, agent_away, never_seen.'],
    ['state:away', 0, 'No router matches.'],
    ['-state:"never seen"', 2, undefined],
    ['site:hq', 0, 'No site is called hq.'],
    ['site:"main street"', 0, 'No router matches.'],
    ['nosuch', 0, 'No router matches.'],
    ['status:up', 0, 'No router matches. A filter has no field status. It has state, site, agent, model and version.'],
    ['version<7', 0, HOW],
    ['edge-*', 0, HOW],
    ['2001:db8::1', 1, undefined],
    ['state:', 2, undefined],
    ['', 0, undefined],
  ])('say why a filter of routers finds none: %s', (q, found, wrong) => {
    expect(wrongFilter(q, found, sites)).toBe(wrong);
  });

  it.each([
    ['-site:"main street"', true],
    ['-site:hq', false],
    ['-site:none core', true],
    ['-state:away', true],
    ['-state:gone', false],
    ['-status:up', false],
    ['-edge-*', false],
    ['-version<7', false],
    ['-2001:db8::1', true],
    ['-agent:nobody', true],
    ['', true],
  ])('choose nothing to work on by leaving out what there is not: %s', (q, may) => {
    expect(mayChoose(q, sites)).toBe(may);
  });

  it('choose nothing by a site before the sites are read', () => {
    expect([mayChoose('-site:"main street"', undefined), mayChoose('-state:away', undefined)]).toEqual([false, true]);
  });

  it('do not know whether there is a site before the sites are read', () => {
    expect(wrongFilter('site:hq', 0, undefined)).toBe('No router matches.');
  });

  it('filter jobs with the words of the lamps or of the interface', () => {
    expect(jobsFilter('status:failed status:waiting core-1', routers, sites)).toEqual({
      query: { router_id: '1', status: ['failed', 'pending'] },
    });
    expect(jobsFilter('-status:done', routers, sites)).toEqual({ query: { status: ['!completed'] } });
    expect(jobsFilter('status:gone', routers, sites).wrong).toContain('no status gone');
    expect(jobsFilter('status:constructor', routers, sites).wrong).toContain('no status constructor');
    expect(jobsFilter('nobody', routers, sites).wrong).toContain('No router is called nobody');
    expect(jobsFilter('core-1 core-2', routers, sites).wrong).toContain('one router');
    expect(jobsFilter('status:gone', routers, sites).wrong).toContain('waiting, running, done, failed, canceled, expired, unknown');
    expect(jobsFilter('status:rolled_back', routers, sites).wrong).toContain('write status:failed');
    expect(jobsFilter('status:rolled back', routers, sites).wrong).toContain('write status:failed');
  });

  it('filter jobs by a part of a name that one router has, and name a field that there is not', () => {
    const fleet = [...routers, { id: '7', identity: 'edge-berlin' } as Router, { id: '8', identity: 'edge-bern' } as Router];
    expect(jobsFilter('router:berlin', fleet, sites)).toEqual({ query: { router_id: '7' } });
    expect(jobsFilter('BERN', fleet, sites)).toEqual({ query: { router_id: '8' } });
    expect(jobsFilter('edge-ber', fleet, sites).wrong).toBe('2 routers have edge-ber in their names. Write more of one.');
    expect(jobsFilter('by:admin', fleet, sites).wrong).toBe('A filter of this list has no field by. It has status, router and site.');
    expect(jobsFilter('-router:berlin', fleet, sites).wrong).toContain('minus sign');
  });

  it('filter jobs by the site where their router stood, and wait while a field is being typed', () => {
    expect(jobsFilter('site:"main street" status:failed', routers, sites)).toEqual({ query: { site_id: 's1', status: ['failed'] } });
    expect(jobsFilter('site:none', routers, sites)).toEqual({ query: { site_id: 'none' } });
    expect(jobsFilter('status:failed Main street', [{ id: '9', identity: 'Main street' } as Router], sites)).toEqual({
      query: { router_id: '9', status: ['failed'] },
    });
    expect(jobsFilter('site:hq', routers, sites).wrong).toContain('No site is called hq');
    expect(jobsFilter('status: -', routers, sites)).toEqual({ query: {} });
  });

  it('name two backups', () => {
    expect(readPair('a..b')).toEqual({ from: 'a', to: 'b' });
    expect(readPair('a')).toBeUndefined();
    expect(readPair('a..b..c')).toBeUndefined();
  });
});

describe('what a router of a campaign said', () => {
  const target = (id: string, status: CampaignTarget['status'], reason: string | null = null): CampaignTarget =>
    ({ router_id: id, status, reason }) as CampaignTarget;
  const group = (change: Partial<OutputGroup>): OutputGroup => ({
    status: 'completed',
    output_hash: '',
    count: 1,
    output: null,
    error: null,
    reason: null,
    router_ids: [],
    ...change,
  });

  it('is the first line of its group, also where the group does not name it', () => {
    const groups = [
      group({ output: '\n7.16\nmore', count: 6, router_ids: ['1', '2', '3', '4', '5'] }),
      group({ status: 'failed', reason: 'script_error', error: 'no space left', output: 'x', router_ids: ['7'] }),
    ];
    expect(saidBy(target('1', 'completed'), groups)).toBe('7.16');
    expect(saidBy(target('6', 'completed'), groups)).toBe('7.16');
    expect(saidBy(target('7', 'failed', 'script_error'), groups)).toBe('no space left');
    expect(saidBy(target('8', 'waiting'), groups)).toBeUndefined();
  });

  it('is not guessed where two groups have its result', () => {
    const groups = [group({ output: 'a', count: 6, router_ids: ['1'] }), group({ output: 'b', router_ids: ['7'] })];
    expect(saidBy(target('6', 'completed'), groups)).toBeUndefined();
    expect(saidBy(target('7', 'completed'), groups)).toBe('b');
  });
});

describe('the timeline of a job', () => {
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const item = (kind: JobTimelineItem['kind'], seconds: number, change: Partial<JobTimelineItem> = {}): JobTimelineItem => ({
    kind,
    at: at(seconds),
    until: null,
    phase: null,
    epoch: null,
    by: null,
    reason: null,
    waits_for: null,
    ...change,
  });
  const items = [
    item('created', 0, { phase: 'queued' }),
    item('waiting', 0, { until: at(7200), waits_for: 'agent', reason: 'network' }),
    item('accepted', 7200, { phase: 'accepted' }),
    item('guard_armed', 7201),
    item('began', 7201, { phase: 'running' }),
    item('guard_disarmed', 7203),
    item('ended', 7203, { phase: 'done' }),
  ];

  it('gives waits, runs and guards their lengths', () => {
    const lines = linesOf(items, 9_000_000);
    expect(lines.map(({ drawn, until, at: from }) => [drawn, (until - from) / 1000])).toEqual([
      ['moment', 0],
      ['wait', 7200],
      ['wait', 1],
      ['guard', 2],
      ['run', 2],
      ['moment', 0],
      ['moment', 0],
    ]);
    expect(lines[1]).toMatchObject({ says: 'waited for its agent', why: 'network', isGoingOn: false });
    expect(lines[4]).toMatchObject({ says: 'the script ran' });
  });

  it('says what goes on as that, and of what nobody saw the end that it may have been', () => {
    const says = (...others: JobTimelineItem[]): string =>
      linesOf([item('created', 0), ...others], 9_000_000)
        .map((line) => line.says)
        .join(', ');
    expect(says(item('waiting', 0, { waits_for: 'router' }))).toBe('made, waits for its router');
    expect(says(item('began', 1))).toBe('made, the script runs');
    expect(says(item('began', 1), item('gave_up', 121, { phase: 'unknown' }))).toBe('made, the script may have run, no result came');
  });

  it('says what the agent does before the script', () => {
    const because = (make_backup: boolean, undo_unless_reachable_seconds: number | null): string =>
      linesOf(items, 0, { make_backup, undo_unless_reachable_seconds })[2]!.why;
    expect(because(true, 120)).toBe('which checks the script, takes the backup and arms the undo guard');
    expect(because(false, null)).toBe('which checks the script');
    expect(linesOf(items, 0)[2]!.why).toBe('');
  });

  it('says that nothing ran where the check of the script refused it, and only there', () => {
    const refused = {
      status: 'failed',
      reason: 'script_error',
      started_at: null,
      failed_at: at(2),
      output: null,
      output_truncated: false,
      backup: null,
      error: 'syntax error (line 3 column 7)',
    } as JobDetail;
    const said = (change: Partial<JobDetail>): string => {
      const { strong, weak } = jobSentence({ ...refused, ...change }, null);
      return `${strong} ${weak}`;
    };
    const ends = [item('ended', 2, { phase: 'done', reason: 'script_error' })];
    expect(said({})).toMatch(/^Refused by the router's check of the script .*: nothing ran, no backup was taken\.$/);
    expect(linesOf(ends, 0, refused)[0]!.why).toBe("refused by the router's check of the script, nothing ran");
    for (const ran of [{ started_at: at(1) }, { output: '' }, { output_truncated: true }, { backup: 'b' }, { error: 'no such item' }]) {
      expect(said(ran)).toMatch(/^Failed .*: an error in the script\./);
      expect(linesOf(ends, 0, { ...refused, ...ran })[0]!.why).toBe('an error in the script');
    }
  });

  it('folds a wait of hours, so that a run of seconds can be seen', () => {
    const axis = axisOf(linesOf(items, 9_000_000));
    expect(axis.folds).toMatchObject([{ left: 0, width: 12, ms: 7_200_000 }]);
    expect(axis.place(0)).toBe(0);
    expect(axis.place(7_200_000)).toBe(12);
    expect(axis.place(7_203_000)).toBe(100);
    expect(axis.place(7_201_000)).toBeCloseTo(12 + 88 / 3);
  });

  it('never folds a run', () => {
    const long = linesOf([item('created', 0), item('began', 1, { phase: 'running' }), item('ended', 7200, { phase: 'done' })], 0);
    expect(axisOf(long).folds).toEqual([]);
  });

  it('goes on until now, and hatches what nobody knew', () => {
    const [, running] = linesOf([item('created', 0), item('began', 1, { phase: 'running' })], 60_000);
    expect(running).toMatchObject({ until: 60_000, isGoingOn: true, drawn: 'run' });
    const lost = linesOf([item('began', 1, { phase: 'running' }), item('gave_up', 50, { phase: 'unknown' })], 90_000);
    expect(lost[0]).toMatchObject({ until: 50_000, isGoingOn: false, drawn: 'unknown' });
  });
});

describe('two exports compared', () => {
  const diff = [
    '--- before',
    '+++ after',
    '@@ -10,3 +10,3 @@ /ip address',
    ' add address=10.0.0.1/24',
    '-add address=10.0.0.2/24',
    '+add address=10.0.0.3/24',
    ' /ip dns',
    '@@ -40 +40,2 @@ /system identity',
    ' set name=gw',
    '+set comment=--- no head',
    '',
  ].join('\n');

  it('name the section and number the lines of both', () => {
    const hunks = hunksOf(diff);
    expect(hunks.map(({ menu }) => menu)).toEqual(['/ip address', '/system identity']);
    expect(hunks[0]!.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ['same', 10, 10],
      ['removed', 11, null],
      ['added', null, 11],
      ['same', 12, 12],
    ]);
    expect(hunks[1]!.lines[1]).toMatchObject({ kind: 'added', text: 'set comment=--- no head' });
  });

  it('stand side by side, what was removed beside what came instead', () => {
    const pairs = pairsOf(hunksOf(diff)[0]!.lines);
    expect(pairs.map(({ before, after }) => [before?.text, after?.text])).toEqual([
      ['add address=10.0.0.1/24', 'add address=10.0.0.1/24'],
      ['add address=10.0.0.2/24', 'add address=10.0.0.3/24'],
      ['/ip dns', '/ip dns'],
    ]);
  });
});

describe('the picture of a campaign', () => {
  it.each([
    [5, 1, 800],
    [212, 3, 800],
    [5000, 10, 800],
    [5000, 0, 340],
  ])('gives each of %i targets with %i canaries a place of its own on %i pixels', (count, canaries, width) => {
    const plan = planOf(count, canaries, width);
    expect(plan.columns * plan.pitch).toBeLessThanOrEqual(width);
    const places = new Set<string>();
    for (let index = 0; index < count; index += 1) {
      const { column, row } = cellOf(plan, index, canaries);
      places.add(`${column} ${row}`);
      const middle = { x: (column + 0.5) * plan.pitch, y: (row + 0.5) * plan.pitch };
      expect(indexAt(plan, middle, canaries, count)).toBe(index);
    }
    expect(places.size).toBe(count);
  });

  const target = (position: number, change: Partial<CampaignTarget> = {}): CampaignTarget => ({
    router_id: String(position),
    position,
    canary: position === 0,
    status: 'waiting',
    job_id: null,
    reason: null,
    started_at: null,
    settled_at: null,
    ...change,
  });
  const done = (position: number, from: number, until: number): CampaignTarget =>
    target(position, { status: 'completed', started_at: new Date(from).toISOString(), settled_at: new Date(until).toISOString() });

  it('shows the canaries and stretches of the others with what came of them', () => {
    const targets = [
      done(0, 0, 5_000),
      ...Array.from({ length: 10 }, (_none, index) => (index < 4 ? done(index + 1, 10_000, 20_000) : target(index + 1))),
    ];
    const waves = wavesOf(targets, { ratePerMinute: 60, isGoingOn: true, now: 20_000 });
    expect(waves.map(({ name }) => name)).toEqual([
      'Canaries',
      'Routers 2 to 3',
      'Routers 4 to 5',
      'Routers 6 to 7',
      'Routers 8 to 9',
      'Routers 10 to 11',
    ]);
    expect(waves[1]).toMatchObject({ from: 10_000, until: 20_000, counts: { done: 2 }, expected: null });
    // Four results in ten seconds: one in 2.5 s.
    expect(waves[3]!.expected).toEqual({ from: 20_000, until: 25_000 });
    expect(waves[5]!.expected).toEqual({ from: 30_000, until: 35_000 });
  });

  it('tells routers that wait, as in a pause, from those that never run any more', () => {
    const targets = [done(0, 0, 5_000), done(1, 0, 5_000), target(2), target(3, { status: 'skipped' })];
    const waves = wavesOf(targets, { ratePerMinute: 60, isGoingOn: false, now: 20_000 });
    const sum = (count: 'waiting' | 'notRun'): number => waves.reduce((all, { counts }) => all + counts[count], 0);
    expect([sum('waiting'), sum('notRun')]).toEqual([1, 1]);
  });

  it('expects nothing of a campaign that has ended', () => {
    const waves = wavesOf([done(0, 0, 5_000), target(1), target(2)], { ratePerMinute: 60, isGoingOn: false, now: 20_000 });
    expect(waves.slice(1).map(({ expected }) => expected)).toEqual([null, null]);
  });
});
