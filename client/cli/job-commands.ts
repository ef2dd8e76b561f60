import { readFile } from 'node:fs/promises';
import type { Job, NewJob } from '../generated.ts';
import type { Command, Context, Input, Outcome } from './command.ts';
import { UsageError } from './command.ts';
import { exitCodeOfJob } from './exit-codes.ts';
import { printable, printableLines, record, table } from './text.ts';

/** docs/interface.md, new job. */
const DESCRIPTION_CHARS = 100;

const WAIT = { help: 'wait until the job ends; the exit code tells how' };

const submit: Command = {
  name: 'job submit',
  summary: 'queue a script that runs once on a router',
  positionals: ['ROUTER', '[SCRIPT]'],
  options: {
    file: { value: 'F', help: 'read the script from a file; - is standard input' },
    description: { value: 'TEXT', help: 'shown in the job list; default: the start of the script' },
    backup: { help: 'back up the router first; without a backup the script does not run' },
    'at-check-in': { help: "deliver the job at the router's next check-in instead of at once" },
    'no-acknowledgement': { help: 'for scripts that reboot: the job completes when the agent has received it' },
    'notify-url': { value: 'URL', help: 'POST each status change of the job to this URL' },
    'timeout-seconds': { value: 'N', help: 'longest run of the script; default: 300' },
    'deliver-within-minutes': { value: 'N', help: 'longest wait for the router; default: 7 days' },
    'idempotency-key': { value: 'K', help: 'a repeat with the same key returns the first job' },
    wait: WAIT,
  },
  examples: [
    'job submit edge-berlin ":put [/system/resource/get uptime]" --wait',
    'job submit edge-berlin --file upgrade.rsc --backup --at-check-in --description "Firmware 7.18.2"',
  ],
  async run(context, input) {
    const { signalbox, surroundings } = context;
    const script = await readScript(context, input);
    const id = input.at(0);
    const key = input.option('idempotency-key');
    const call = { signal: surroundings.signal, ...(key === undefined ? {} : { idempotencyKey: key }) };
    const { data } = await signalbox.call('submitJob', { path: { router_id: id }, body: newJob(script, input) }, call);
    if (input.isOn('wait')) return waitFor(context, id, data.job_id);
    return { json: data, text: `job ${data.job_id}\n` };
  },
};

async function readScript({ surroundings }: Context, input: Input): Promise<string> {
  const [script, file] = [input.optional(1), input.option('file')];
  if ((script === undefined) === (file === undefined)) throw new UsageError('give SCRIPT or --file');
  if (script !== undefined) return script;
  return file === '-' ? surroundings.readInput() : readFile(file!, 'utf8');
}

function newJob(script: string, input: Input): NewJob {
  const [notifyUrl, timeout, delivery] = [
    input.option('notify-url'),
    input.number('timeout-seconds'),
    input.number('deliver-within-minutes'),
  ];
  return {
    description: input.option('description') ?? printable(script.trim()).slice(0, DESCRIPTION_CHARS),
    script,
    make_backup: input.isOn('backup'),
    express_execute: !input.isOn('at-check-in'),
    needs_acknowledgement: !input.isOn('no-acknowledgement'),
    ...(notifyUrl === undefined ? {} : { notify_url: notifyUrl }),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
    ...(delivery === undefined ? {} : { deliver_within_minutes: delivery }),
  };
}

const show: Command = {
  name: 'job show',
  summary: 'show a job and the output of its script',
  positionals: ['ROUTER', 'JOB'],
  options: {},
  examples: ['job show edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    const job = await signalbox.getJob(id, input.at(1), surroundings);
    return { json: job, text: jobText(job) };
  },
};

const wait: Command = {
  name: 'job wait',
  summary: 'wait until a job ends; the exit code tells how',
  positionals: ['ROUTER', 'JOB'],
  options: {},
  examples: ['job wait edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run(context, input) {
    const id = input.at(0);
    return waitFor(context, id, input.at(1));
  },
};

async function waitFor({ signalbox, surroundings }: Context, routerId: string, jobId: string): Promise<Outcome> {
  const onChange = (job: Job): void =>
    surroundings.stderr(`job ${jobId}: ${job.status}${job.phase === 'accepted' ? ', at the agent' : ''}\n`);
  const job = await signalbox.waitForJob(routerId, jobId, { signal: surroundings.signal, onChange });
  return { json: job, text: jobText(job), exitCode: exitCodeOfJob(job) };
}

const cancel: Command = {
  name: 'job cancel',
  summary: 'cancel a pending job, or delete a finished one',
  positionals: ['ROUTER', 'JOB'],
  options: {},
  examples: ['job cancel edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    const { data } = await signalbox.call('cancelJob', { path: { router_id: id, job_id: input.at(1) } }, surroundings);
    const text = data.status === 'deleted' ? `job ${data.id} is deleted\n` : `job ${data.id}: the agent was asked to return it\n`;
    return { json: data, text };
  },
};

const list: Command = {
  name: 'job list',
  summary: 'list the jobs of a router, newest first',
  positionals: ['ROUTER'],
  options: {
    status: { value: 'S', help: 'only these, separated by commas: pending, running, completed, failed, deleted, expired, unknown' },
    limit: { value: 'N', help: 'at most N jobs; default: 50' },
  },
  examples: ['job list edge-berlin', 'job list edge-berlin --status failed,unknown --limit 10'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    const status = input.option('status')?.split(',') as Job['status'][] | undefined;
    const query = { limit: input.number('limit') ?? 50, ...(status === undefined ? {} : { status }) };
    const { data } = await signalbox.call('listJobs', { path: { router_id: id }, query }, surroundings);
    const text = table(
      data,
      [
        ['ID', (job) => job.id],
        ['STATUS', (job) => job.status],
        ['REASON', (job) => job.reason],
        ['CREATED', (job) => job.created_at],
        ['DESCRIPTION', (job) => job.description],
      ],
      'no jobs',
      surroundings.columns,
    );
    return { json: data, text };
  },
};

function jobText(job: Job): string {
  const { id, status, reason, error, description, created_at, started_at, completed_at, failed_at } = job;
  const fields = { id, status, reason, error, description, created: created_at, started: started_at, ended: completed_at ?? failed_at };
  const output = job.output === null || job.output === '' ? '' : `\n${printableLines(job.output).trimEnd()}\n`;
  return record(Object.entries(fields)) + output;
}

export const jobCommands: readonly Command[] = [submit, show, wait, cancel, list];
