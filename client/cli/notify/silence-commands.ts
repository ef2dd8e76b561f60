import type { Silence } from '../../generated.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { identities, nameOf, routerId, siteId, siteNames } from '../names.ts';
import { record, table } from '../text.ts';
import { inMinutes } from './columns.ts';

const silence: Command = {
  name: 'notify silence',
  summary: 'silence a router, a site or the whole team for a time',
  positionals: [],
  options: {
    minutes: { value: 'N', help: 'for this time, at most 90 days', required: true },
    reason: { value: 'TEXT', help: 'why, for the others', required: true },
    router: { value: 'ROUTER', help: 'only this router' },
    site: { value: 'SITE', help: 'only this site, by id or name' },
  },
  examples: [
    'notify silence --router edge-berlin --minutes 30 --reason "New power supply"',
    'notify silence --site Berlin --minutes 240 --reason "Move of the rack"',
  ],
  async run({ signalbox, surroundings }, input) {
    const { signal } = surroundings;
    const [router, site] = [input.option('router'), input.option('site')];
    if (router !== undefined && site !== undefined) throw new UsageError('give --router or --site, not both');
    const body = {
      reason: input.option('reason')!,
      until: inMinutes(input.number('minutes')!),
      ...(router === undefined ? {} : { router_id: await routerId(signalbox, signal, router) }),
      ...(site === undefined ? {} : { site_id: await siteId(signalbox, signal, site) }),
    };
    const { data } = await signalbox.call('createSilence', { body }, surroundings);
    const text = record([
      ['silence', data.id],
      ['of', router ?? site ?? 'the whole team'],
      ['until', data.until],
    ]);
    return { json: data, text };
  },
};

const list: Command = {
  name: 'notify silences',
  summary: 'list the silences of the team, newest first',
  positionals: [],
  options: {},
  examples: ['notify silences'],
  async run({ signalbox, surroundings: { signal, columns } }) {
    const found = await signalbox.all('listSilences', {}, { signal });
    const has = (field: 'router_id' | 'site_id'): boolean => found.some((one) => one[field] !== null);
    const none = new Map<string, string>();
    const [routers, sites] = [
      has('router_id') ? await identities(signalbox, signal) : none,
      has('site_id') ? await siteNames(signalbox, signal) : none,
    ];
    const placeOf = ({ router_id: router, site_id: site }: Silence): string =>
      nameOf(routers, router) ?? nameOf(sites, site) ?? 'the whole team';
    const text = table(
      found,
      [
        ['ID', ({ id }) => id],
        ['OF', placeOf],
        ['FROM', ({ from }) => from],
        ['UNTIL', ({ until }) => until],
        ['NOW', ({ active_now: isActive }) => isActive],
        ['REASON', ({ reason }) => reason],
      ],
      'no silences',
      columns,
    );
    return { json: found, text };
  },
};

const end: Command = {
  name: 'notify unsilence',
  summary: 'end a silence',
  positionals: ['SILENCE'],
  options: {},
  examples: ['notify unsilence 01a1fba7-2e4f-7b54-8c11-d4f2a6c8e0b2'],
  async run({ signalbox, surroundings }, input) {
    await signalbox.call('deleteSilence', { path: { silence_id: input.at(0) } }, surroundings);
    return { json: { id: input.at(0), deleted: true }, text: `silence ${input.at(0)} is ended\n` };
  },
};

export const silenceCommands: readonly Command[] = [silence, list, end];
