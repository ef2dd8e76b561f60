import type { NotificationThread, Operations } from '../../generated.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { groupId, routerId, siteId } from '../names.ts';
import { record, table } from '../text.ts';
import type { Column } from '../text.ts';
import { inMinutes, LIMIT, moreText, pageOf, wordsOf } from './columns.ts';

type Query = NonNullable<Operations['listThreads']['input']['query']>;

const COLUMNS: readonly Column<NotificationThread>[] = [
  ['ID', ({ id }) => id, 2],
  ['SINCE', ({ opened_at: at }) => at],
  ['STATE', ({ state }) => state],
  ['SEVERITY', ({ severity }) => severity, 3],
  ['GROUP', ({ group }) => group, 4],
  ['SUBJECT', ({ subject }) => subject],
  ['TAKEN OVER BY', ({ acknowledged_by: by }) => by, 1],
];

const list: Command = {
  name: 'notify threads',
  summary: 'list what each group sees as one thing, newest first',
  positionals: [],
  options: {
    state: { value: 'S', help: 'only open or closed ones' },
    group: { value: 'GROUP', help: 'only this group, by id or name' },
    router: { value: 'ROUTER', help: 'only this router' },
    site: { value: 'SITE', help: 'only this site and its routers, by id or name' },
    kind: { value: 'K', help: 'only these: fault.wan_down, job.failed, site, storm …; ! leaves one out' },
    limit: LIMIT,
  },
  examples: ['notify threads --state open', 'notify threads --site Berlin --kind fault.wan_down,site'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const query: Query = pageOf(input);
    const [state, group, router, site] = ['state', 'group', 'router', 'site'].map((name) => input.option(name));
    if (state !== undefined && state !== 'open' && state !== 'closed') throw new UsageError('--state must be open or closed');
    if (state !== undefined) query.state = state;
    if (group !== undefined) query.group_id = await groupId(signalbox, signal, group);
    if (router !== undefined) query.router_id = await routerId(signalbox, signal, router);
    if (site !== undefined) query.site_id = await siteId(signalbox, signal, site);
    const kind = wordsOf(input, 'kind');
    if (kind !== undefined) query.kind = kind;
    const { data, ...found } = await signalbox.call('listThreads', { query }, { signal });
    return { json: data, text: table(data, COLUMNS, 'no threads', columns) + moreText(data.length, found, 'threads') };
  },
};

const EXAMPLE_ID = '01a1fbb0-2c1d-7a44-9b0e-5d8f7a6c3e21';

const acknowledge: Command = {
  name: 'notify acknowledge',
  summary: 'take a thread over: no reminders, and no other group is told',
  positionals: ['THREAD'],
  options: { minutes: { value: 'N', help: 'for this time; default: until its end' } },
  examples: [`notify acknowledge ${EXAMPLE_ID}`, `notify acknowledge ${EXAMPLE_ID} --minutes 60`],
  async run({ signalbox, surroundings }, input) {
    const minutes = input.number('minutes');
    const body = minutes === undefined ? {} : { until: inMinutes(minutes) };
    const { data } = await signalbox.call('acknowledgeThread', { path: { thread_id: input.at(0) }, body }, surroundings);
    const text = record([
      ['subject', data.subject],
      ['taken over by', data.acknowledged_by],
      ['until', data.acknowledged_until ?? 'its end'],
    ]);
    return { json: data, text };
  },
};

export const threadCommands: readonly Command[] = [list, acknowledge];
