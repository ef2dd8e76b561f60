import type { Delivery, JobDetail } from '../../../../../client/browser.ts';

export const words = {
  jobs: 'Jobs',
  /** The record, in sentences about one that cannot be read. */
  job: 'job',
  head: {
    crumb: '{router}, {made}',
    crumbInCampaign: '{router}, {made} in a {campaign}',
    made: (time: string, by: string | null) => (by === null ? `made ${time}` : `made ${time} by ${by}`),
    campaign: 'campaign',
    noDescription: 'Without a description',
    cancel: 'Cancel the job',
    runAgain: 'Edit and run again',
  },
  cancel: {
    title: 'Cancel this job?',
    cancel: 'Cancel the job',
    keep: 'Leave it',
    what: 'It has not begun, so its script will never run. If the agent begins it in this moment, the answer says so and the job goes on.',
  },
  wrong: 'Error',
  output: {
    title: 'What it said',
    copy: 'the output',
    output: 'Output',
    isCut: 'It said more than is kept.',
    deleted: 'The output was deleted to make room for newer ones.',
    nothingYet: 'Nothing yet. The output comes with the end of the script.',
    nothing: 'It printed nothing.',
  },
  script: {
    title: 'Script',
    mayNot: 'People with the role operator read scripts.',
    risky: '! lines that can lock you out',
    copy: 'the script',
  },
  conditions: {
    title: 'Conditions',
    backup: 'Backup',
    backupFirst: 'before the script',
    noBackup: 'none',
    guard: 'Undo guard',
    guardAfter: (seconds: number, state: string | null) => (state === null ? `${seconds} s` : `${seconds} s, ${state}`),
    guardStates: { armed: 'armed', disarmed: 'taken away', fired: 'fired', unknown: 'nobody knows' } satisfies Record<
      NonNullable<JobDetail['guard']>['state'],
      string
    >,
    noGuard: 'no',
    begins: 'Begins',
    atOnce: 'at once, before others',
    atCheckIn: 'at the next check-in',
    isDone: 'Is done',
    atEnd: 'when the script has ended',
    onDisk: 'when the agent has it on disk',
    longestRun: 'Longest run',
    seconds: (seconds: number) => `${seconds} s`,
    waitsUntil: 'Waits until',
    id: 'Id',
  },
  changes: { title: 'What it changed', what: 'export before and after', reading: 'Reading' },
  guard: {
    title: 'Undo guard',
    left: 'Time left',
    undoesAt: (time: string) => `undoes the script by itself at ${time}`,
    how: 'The agent takes the guard away as soon as it has reached the router over a new connection and this control plane. Otherwise the router loads its restore point, with a reboot.',
  },
  timeline: {
    title: 'Timeline',
    folds: 'a zigzag is a long wait, drawn short',
    at: 'At',
    what: 'What',
    length: 'Length',
    by: 'By',
    goesOn: (length: string) => `for ${length}`,
    legend: { wait: 'waits', run: 'runs', guard: 'guard armed', unknown: 'nobody knew' },
  },
  deliveries: {
    title: 'Webhook',
    empty: 'Nothing was sent yet.',
    states: {
      pending: 'on its way',
      resending: 'on its way again',
      delivered: 'delivered',
      failed: 'given up',
      gone: 'the receiver wants no more',
    } satisfies Record<Delivery['state'], string>,
    atAttempt: (answer: string | number, attempt: number) => (attempt > 1 ? `${answer} at attempt ${attempt}` : String(answer)),
    sendAgain: 'Send again',
    lookAgain: 'May have been sent. Look again',
  },
  unknown: {
    title: 'What is known of the outcome',
    certain: 'Certain',
    notCertain: 'Not certain',
    look: 'Look, then decide',
    compare: 'Compare its backups',
    twice: 'Running it again may do everything a second time. A result that still comes corrects this page.',
    taken: (agent: string | null, time: string) => `${agent === null ? 'Its agent' : `Agent ${agent}`} took it at ${time}`,
    began: (time: string) => `The script began at ${time}`,
    notSeen: 'Nobody saw the script begin',
    neverAgain: 'It is never run again by itself',
    scriptTook: 'Whether the script took effect wholly, partly or not at all',
    linesTook: (first: number, last: number) =>
      first === last
        ? `Whether line ${first} took effect wholly, partly or not at all`
        : `Whether lines ${first} to ${last} took effect wholly, partly or not at all`,
    guardFired: 'Whether the undo guard has undone it',
    guardArmed: 'Whether the undo guard was armed',
  },
};

/** What is certain of a job whose outcome nobody knows, by the reason of the interface. */
const HAPPENED: Record<string, string> = {
  interrupted: 'The agent stopped while the script ran',
  router_rebooted: 'The router rebooted while the script ran',
  agent_forgot: 'The agent came back without its memory of this job',
  agent_revoked: 'Its agent was revoked before it told a result',
  timed_out: 'No result came in the time that it had',
};

export function happenedWords(reason: string): string {
  return HAPPENED[reason] ?? reason.replaceAll('_', ' ');
}
