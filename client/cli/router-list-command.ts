import type { Signalbox } from '../client.ts';
import type { Operations, Router } from '../generated.ts';
import type { Command, Input } from './command.ts';
import { agentIds, ROUTERS_PAGE, siteIds } from './names.ts';
import { ORDER_HELP, orderOf, reasonText, STATE_HELP, statesOf } from './state-words.ts';
import type { Column } from './text.ts';
import { table } from './text.ts';

type Query = NonNullable<Operations['listRouters']['input']['query']>;
type Field = NonNullable<Query['fields']>[number];

const COLUMNS: readonly (readonly [fields: readonly Field[], column: Column<Router>])[] = [
  [['id'], ['ID', (router) => router.id, 1]],
  [['identity'], ['IDENTITY', (router) => router.identity]],
  [['state'], ['STATE', (router) => router.state]],
  [['state_since'], ['SINCE', (router) => router.state_since]],
  [['state_reason'], ['REASON', (router) => reasonText(router.state_reason)]],
  [
    ['model', 'board_name'],
    ['MODEL', (router) => router.model ?? router.board_name, 3],
  ],
  [['software_version'], ['VERSION', (router) => router.software_version, 4]],
  [['agent_name'], ['AGENT', (router) => router.agent_name, 5]],
  [['last_seen_from'], ['FROM', (router) => router.last_seen_from, 2]],
];

export const routerList: Command = {
  name: 'routers',
  summary: 'list the routers: their states, since when and why',
  positionals: [],
  options: {
    state: { value: 'S', help: `only these, separated by commas: ${STATE_HELP}; ! leaves one out` },
    site: { value: 'SITE', help: 'only routers of this site, by id or name; none: routers without a site' },
    agent: { value: 'AGENT', help: 'only routers of this agent, by id or name' },
    version: { value: 'V', help: 'only these versions: 7.18, <7.15, ">=7.10,<7.15", !6' },
    model: { value: 'MODEL', help: 'only this model' },
    q: { value: 'TEXT', help: 'match part of identity, serial number, software id, model, board name or version' },
    sort: { value: 'ORDER', help: `${ORDER_HELP}; default: newest router first` },
    fields: { value: 'F', help: 'these fields instead, separated by commas, as the API names them: identity,uptime' },
    limit: { value: 'N', help: 'at most N routers, and how many there are' },
  },
  examples: [
    'routers',
    'routers --state away --sort since',
    'routers --state down --site Berlin --limit 20',
    'routers --version "<7.15" --fields identity,model,software_version',
    'routers --state "!answering" --json',
  ],
  async run({ signalbox, surroundings: { signal, columns }, json }, input) {
    const fields = input.option('fields')?.split(',') as Field[] | undefined;
    const query = await queryOf(signalbox, signal, input);
    const shown = fields ?? (json ? undefined : COLUMNS.flatMap(([needed]) => needed));
    if (shown !== undefined) query.fields = shown;
    const { data, total } = await read(signalbox, signal, query, input.number('limit'));
    const asked = fields?.map((field): Column<Router> => [field.toUpperCase().replaceAll('_', ' '), (router) => router[field]]);
    const isFiltered = ['state', 'site', 'agent', 'version', 'model', 'q'].some((name) => input.option(name) !== undefined);
    const text = table(data, asked ?? COLUMNS.map(([, column]) => column), isFiltered ? 'no such routers' : 'no routers yet', columns);
    return { json: data, text: text + moreText(data.length, total) };
  },
};

interface Found {
  data: Router[];
  /** As text; undefined when every router was read. */
  total: string | undefined;
}

async function read(signalbox: Signalbox, signal: AbortSignal, query: Query, limit: number | undefined): Promise<Found> {
  if (limit === undefined)
    return { data: await signalbox.all('listRouters', { query: { ...query, limit: ROUTERS_PAGE } }, { signal }), total: undefined };
  const found = await signalbox.call('listRouters', { query: { ...query, limit, total: 'true' } }, { signal });
  return { data: found.data, total: `${found.total_is_exact === false ? 'more than ' : ''}${found.total}` };
}

function moreText(count: number, total: string | undefined): string {
  return total === undefined || count === 0 || total === String(count) ? '' : `\n${count} of ${total} routers\n`;
}

async function queryOf(signalbox: Signalbox, signal: AbortSignal, input: Input): Promise<Query> {
  const query: Query = {};
  const [state, sort, site, agent] = ['state', 'sort', 'site', 'agent'].map((name) => input.option(name));
  if (state !== undefined) query.state = statesOf(state);
  if (sort !== undefined) query.sort = orderOf(sort);
  if (site !== undefined) query.site_id = await siteIds(signalbox, signal, site);
  if (agent !== undefined) query.agent_id = await agentIds(signalbox, signal, agent);
  const [version, model, text] = ['version', 'model', 'q'].map((name) => input.option(name));
  if (version !== undefined) query.version = version.split(',');
  if (model !== undefined) query.model = [model];
  if (text !== undefined) query.q = text;
  return query;
}
