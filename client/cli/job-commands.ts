import { readFile } from 'node:fs/promises';
import type { Job, NewJob } from '../generated.ts';
import type { Command, Context, Input, Outcome } from './command.ts';
import { UsageError } from './command.ts';
import { exitCodeOfJob } from './exit-codes.ts';
import { printable, printableLines, record, table } from './text.ts';

/** docs/interface.md, new job. */
const DESCRIPTION_CHARS = 100;

const WAIT = { help: 'wait until the job is over; the exit code then says how it ended' };

const submit: Command = {
  name: 'job submit',
  summary: 'queue a script for a router; it runs once',
  positionals: ['ROUTER', '[SCRIPT]'],
  options: {
    file: { value: 'F', help: 'read the script from a file; - is the standard input' },
    description: { value: 'TEXT', help: 'for the log; the beginning of the script when missing' },
    backup: { help: 'take a backup first; if that fails the script does not run' },
    'at-check-in': { help: "hand it over at the router's next check-in instead of at once" },
    'no-acknowledgement': { help: 'completed once the agent has it; for scripts that reboot' },
    'notify-url': { value: 'URL', help: 'receives updates of the job' },
    'timeout-seconds': { value: 'N', help: 'longest run of the script (300)' },
    'deliver-within-minutes': { value: 'N', help: 'how long it may wait for its router (7 days)' },
    'idempotency-key': { value: 'K', help: 'submitting again with the same key finds the first job' },
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
  summary: 'show a job and what its script printed',
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
  summary: 'wait until a job is over; the exit code says how it ended',
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
    surroundings.stderr(`job ${jobId}: ${job.status}${job.phase === 'accepted' ? ', at its agent' : ''}\n`);
  const job = await signalbox.waitForJob(routerId, jobId, { signal: surroundings.signal, onChange });
  return { json: job, text: jobText(job), exitCode: exitCodeOfJob(job) };
}

const cancel: Command = {
  name: 'job cancel',
  summary: 'take back a job that has not begun, or mark a finished one as deleted',
  positionals: ['ROUTER', 'JOB'],
  options: {},
  examples: ['job cancel edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    const { data } = await signalbox.call('cancelJob', { path: { router_id: id, job_id: input.at(1) } }, surroundings);
    const text = data.status === 'deleted' ? `job ${data.id} is deleted\n` : `job ${data.id}: its agent has been asked to give it back\n`;
    return { json: data, text };
  },
};

const list: Command = {
  name: 'job list',
  summary: 'list the jobs of a router, newest first',
  positionals: ['ROUTER'],
  options: {
    status: { value: 'S', help: 'only these: pending, running, completed, failed, deleted, expired, unknown; separated by commas' },
    limit: { value: 'N', help: 'at most N jobs (50)' },
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
