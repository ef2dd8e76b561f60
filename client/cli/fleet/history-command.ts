import type { HistoryItem } from '../../generated.ts';
import type { Command } from '../command.ts';
import { durationText } from '../quantities.ts';
import { table } from '../text.ts';

/** A screen of what happened last. */
const ITEMS = 50;

export const history: Command = {
  name: 'history',
  summary: 'show the history of a router, newest first',
  positionals: ['ROUTER'],
  options: {
    kind: { value: 'K', help: 'only these, separated by commas: state, session, fault, job, forward, terminal, backup, action, unknown' },
    from: { value: 'TIME', help: 'only what began at this time or later: 2031-05-01T00:00:00Z' },
    to: { value: 'TIME', help: 'only what began before this time' },
    limit: { value: 'N', help: `at most N items, up to 1000; default: ${ITEMS}` },
  },
  examples: ['history edge-berlin', 'history edge-berlin --kind state,fault --from 2031-05-01T00:00:00Z --limit 200'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const [kind, from, to] = ['kind', 'from', 'to'].map((name) => input.option(name));
    const limit = input.number('limit') ?? ITEMS;
    const query = {
      limit,
      ...(kind === undefined ? {} : { kind: kind.split(',') as HistoryItem['kind'][] }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
    const { data } = await signalbox.call('listRouterHistory', { path: { router_id: input.at(0) }, query }, { signal });
    const text = table(
      data,
      [
        ['TIME', (item) => item.at],
        ['FOR', durationOf],
        ['KIND', (item) => item.kind],
        ['STATUS', (item) => item.status],
        ['WHAT', whatOf],
        ['BY', (item) => item.by, 1],
      ],
      'nothing happened in this time',
      columns,
    );
    const rest = data.length === limit ? `\nthe latest ${limit} items; --limit or --to shows older ones\n` : '';
    return { json: data, text: text + rest };
  },
};

/** Without the status that stands beside it: `refused` of `not_answering: refused`. */
function whatOf({ status, title }: HistoryItem): string {
  return title.startsWith(`${status}: `) ? title.slice(status.length + 2) : title;
}

/** Nothing for what goes on, takes no time, or ended nobody knows when. */
function durationOf({ at, until }: HistoryItem): string | null {
  return until === null ? null : durationText(Date.parse(until) - Date.parse(at));
}
