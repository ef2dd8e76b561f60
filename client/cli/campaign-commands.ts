import { readFile } from 'node:fs/promises';
import type { Campaign, NewCampaign } from '../generated.ts';
import type { Command, Context, Input, Outcome } from './command.ts';
import { UsageError } from './command.ts';
import { idOf, identities, nameOf, siteNames } from './names.ts';
import { printable, record, table } from './text.ts';

const CAMPAIGN = '01a1fba0-5b1e-7354-a8b1-996d0b28db1a';
/** The API's limit. */
const DESCRIPTION_CHARS = 100;

const list: Command = {
  name: 'campaign list',
  summary: 'list the campaigns, newest first',
  positionals: [],
  options: { limit: { value: 'N', help: 'at most N campaigns; default: 50' } },
  examples: ['campaign list'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const { data } = await signalbox.call('listCampaigns', { query: { limit: input.number('limit') ?? 50 } }, { signal });
    const text = table(
      data,
      [
        ['ID', (campaign) => campaign.id],
        ['STATE', (campaign) => campaign.state],
        ['ROUTERS', (campaign) => campaign.target_count],
        ['RESULTS', (campaign) => countsText(campaign)],
        ['CREATED', (campaign) => campaign.created_at],
        ['DESCRIPTION', (campaign) => campaign.description],
      ],
      'no campaigns',
      columns,
    );
    return { json: data, text };
  },
};

const show: Command = {
  name: 'campaign show',
  summary: 'show a campaign and its result on every router',
  positionals: ['CAMPAIGN'],
  options: {},
  examples: [`campaign show ${CAMPAIGN}`],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const path = { campaign_id: input.at(0) };
    const { data: campaign } = await signalbox.call('getCampaign', { path }, { signal });
    const targets = await signalbox.all('listCampaignTargets', { path }, { signal });
    const routers = await identities(signalbox, signal);
    const rows = table(
      targets,
      [
        ['ROUTER', (target) => nameOf(routers, target.router_id)],
        ['CANARY', (target) => target.canary],
        ['STATUS', (target) => target.status],
        ['REASON', (target) => target.reason],
        ['JOB', (target) => target.job_id],
      ],
      'no routers',
      columns,
    );
    return { json: { ...campaign, targets }, text: `${campaignText(campaign)}\n${rows}` };
  },
};

const start: Command = {
  name: 'campaign start',
  summary: 'run a script on many routers, canary routers first',
  positionals: ['[SCRIPT]'],
  options: {
    routers: { value: 'NAMES', help: 'routers by identity or id, separated by commas' },
    sites: { value: 'NAMES', help: 'all routers of these sites, separated by commas' },
    file: { value: 'F', help: 'read the script from a file; - is standard input' },
    description: { value: 'TEXT', help: 'shown in the job list; default: the start of the script' },
    backup: { help: 'back up each router before its script runs' },
    canaries: { value: 'N', help: 'run the first N routers alone; the others start when all N have completed' },
    'at-once': { value: 'N', help: 'run at most N jobs at the same time' },
    'per-minute': { value: 'N', help: 'start at most N jobs per minute' },
    'stop-after-failures': { value: 'N', help: 'stop the campaign after N failed routers' },
  },
  examples: [
    'campaign start --file upgrade.rsc --sites Depot,Harbour --canaries 2 --stop-after-failures 3 --backup',
    'campaign start ":log info hello" --routers edge-berlin,edge-zurich',
  ],
  async run(context, input) {
    const body = await newCampaign(context, input);
    const { data } = await context.signalbox.call('createCampaign', { body }, context.surroundings);
    return { json: data, text: `campaign ${data.id} started on ${data.target_count} routers\n` };
  },
};

async function newCampaign(context: Context, input: Input): Promise<NewCampaign> {
  const [routers, sites] = [input.option('routers'), input.option('sites')];
  if (routers === undefined && sites === undefined) throw new UsageError('give --routers or --sites');
  const script = await readScript(context, input);
  const { signalbox, surroundings } = context;
  const limits = {
    canary_count: input.number('canaries'),
    most_at_once: input.number('at-once'),
    rate_per_minute: input.number('per-minute'),
    abort_after_failures: input.number('stop-after-failures'),
  };
  return {
    description: input.option('description') ?? printable(script.trim()).slice(0, DESCRIPTION_CHARS),
    script,
    make_backup: input.isOn('backup'),
    express_execute: true,
    needs_acknowledgement: true,
    ...(routers === undefined ? {} : { router_ids: idsOf('router', routers, await identities(signalbox, surroundings.signal)) }),
    ...(sites === undefined ? {} : { site_ids: idsOf('site', sites, await siteNames(signalbox, surroundings.signal)) }),
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
  };
}

/** @throws UsageError for a name that is unknown or not unique */
function idsOf(kind: string, names: string, known: ReadonlyMap<string, string>): string[] {
  return names.split(',').map((name) => idOf(kind, name, known));
}

async function readScript({ surroundings }: Context, input: Input): Promise<string> {
  const [script, file] = [input.optional(0), input.option('file')];
  if ((script === undefined) === (file === undefined)) throw new UsageError('give SCRIPT or --file');
  if (script !== undefined) return script;
  return file === '-' ? surroundings.readInput() : readFile(file!, 'utf8');
}

function stateChange(
  verb: 'pause' | 'resume' | 'cancel',
  summary: string,
  operation: 'pauseCampaign' | 'resumeCampaign' | 'cancelCampaign',
): Command {
  return {
    name: `campaign ${verb}`,
    summary,
    positionals: ['CAMPAIGN'],
    options: {},
    examples: [`campaign ${verb} ${CAMPAIGN}`],
    async run({ signalbox, surroundings }, input): Promise<Outcome> {
      const { data } = await signalbox.call(operation, { path: { campaign_id: input.at(0) } }, surroundings);
      return { json: data, text: campaignText(data) };
    },
  };
}

function campaignText(campaign: Campaign): string {
  const { id, state, description, stop_message: stopped, canaries, target_count: routers } = campaign;
  return record(Object.entries({ id, state, description, routers, canaries, results: countsText(campaign), stopped }));
}

function countsText({ counts }: Campaign): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');
}

export const campaignCommands: readonly Command[] = [
  list,
  show,
  start,
  stateChange('pause', 'start no more jobs; running jobs finish', 'pauseCampaign'),
  stateChange('resume', 'continue a paused campaign', 'resumeCampaign'),
  stateChange('cancel', 'end a campaign and cancel its jobs that have not started', 'cancelCampaign'),
];
