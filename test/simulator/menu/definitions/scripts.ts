import { formatDate, formatRecent, formatTime, parseDate, parseDuration } from '../../formats.ts';
import { nextRun } from '../../scheduler-plan.ts';
import { policySet, sharedPolicies, startNamedScript, startScript } from '../../script-jobs.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuContext, MenuDefinition, ProposedChange } from '../definition.ts';
import type { Item } from '../table.ts';
import { Trap, type CommandResult, type Session } from '../types.ts';
import { comment, disabled, flag, readOnly } from './parts.ts';

const DAY_MS = 86_400_000;

const DEFAULT_POLICY = ['ftp', 'reboot', 'read', 'write', 'policy', 'test', 'password', 'sniff', 'sensitive', 'romon'];

/** A user cannot store a script with more rights than their own. */
function ownPolicies({ values, given, item, call }: ProposedChange): void {
  const { policies, user } = call.session;
  if (given.has('.remove')) return;
  if (!item && !given.has('owner')) values.set('owner', user);
  const wanted = given.has('policy') ? [...policySet(values.get('policy') ?? '')] : [];
  if (wanted.some((policy) => !policies.has(policy))) throw new Trap('not enough permissions (9)');
  if (!item && !given.has('policy')) values.set('policy', DEFAULT_POLICY.filter((policy) => policies.has(policy)).join(','));
}

function numberNames(change: ProposedChange, prefix: string): void {
  const { values, table, item, given } = change;
  if (item || given.has('.remove') || (values.get('name') ?? '') !== '') return;
  let index = 1;
  while (table.find('name', `${prefix}${index}`)) index += 1;
  values.set('name', `${prefix}${index}`);
}

const run: CustomCommand = {
  parameters: ['number', 'numbers', 'use-script-permissions'],
  policies: ['read', 'test'],
  async run({ router, table, call }): Promise<CommandResult> {
    const reference = call.attributes.get('.id') ?? call.attributes.get('number') ?? call.attributes.get('numbers');
    if (reference === undefined) throw new Trap('missing =number=');
    const item = table.byId(reference) ?? table.find('name', reference);
    if (!item) throw new Trap('no such item', 0);
    const session = scriptSession(item, call.session);
    let printed = 0;
    const write = (text: string): void => {
      printed += 1;
      call.write?.(text);
    };
    const result = await startNamedScript(router, item.values.get('name') ?? '', session, { write })?.done;
    if (call.session.signal.aborted) throw new Trap('interrupted', 2);
    if (result?.error !== undefined) throw new Trap(call.session.origin === 'api' ? result.error : (result.printed ?? result.error));
    // One nearly empty row for every command that would have printed.
    return { rows: Array.from({ length: printed }, (_, index) => new Map([['.section', String(index)]])) };
  },
};

function scriptSession(item: Item, session: Session): Session {
  const wanted = policySet(item.values.get('policy') ?? '');
  if (item.values.get('dont-require-permissions') === 'true') return { ...session, policies: wanted, origin: 'script' };
  if ([...wanted].some((policy) => !session.policies.has(policy))) throw new Trap('not enough permissions (9)');
  return { ...session, policies: sharedPolicies(wanted, session.policies), origin: 'script' };
}

/** `/execute`: text back with as-string (7.8+), otherwise a job that outlives its session. */
export const execute: CustomCommand = {
  parameters: (router) => (router.version.atLeast('7.8') ? ['script', 'file', 'as-string'] : ['script', 'file']),
  policies: ['read'],
  run(context): CommandResult | Promise<CommandResult> {
    const script = context.call.attributes.get('script');
    if (script === undefined) throw new Trap('missing =script=');
    const source = context.router.table('/system/script').find('name', script)?.values.get('source') ?? script;
    return context.call.attributes.has('as-string') ? executeHere(context, source) : executeApart(context, source);
  },
};

async function executeHere({ router, call }: MenuContext, source: string): Promise<CommandResult> {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  await startScript(router, { kind: 'execute', name: '', source, session: { ...call.session, origin: 'script' }, write }).done;
  if (call.session.signal.aborted) throw new Trap('interrupted', 2);
  return { rows: [], ret: text };
}

function executeApart({ router, call }: MenuContext, source: string): CommandResult {
  const { user, policies } = call.session;
  const session = router.ownSession({ user, policies, origin: 'script' });
  let text = '';
  const running = startScript(router, { kind: 'execute', name: '', source, session, write: (part) => (text += part) });
  const file = call.attributes.get('file');
  // `done` never rejects; a full disk loses the output, as on a router.
  void running.done.then(() => {
    session.end();
    if (file !== undefined && !router.faults.diskFull) router.files.write(/\.\w+$/.test(file) ? file : `${file}.txt`, text);
  });
  return { rows: [], ret: running.id };
}

export const importFile: CustomCommand = {
  parameters: ['file-name', 'from-line', 'verbose', 'dry-run'],
  async run({ router, call }): Promise<CommandResult> {
    const name = call.attributes.get('file-name');
    if (name === undefined) throw new Trap('missing =file-name=');
    const contents = router.files.read(name);
    if (!contents) throw new Trap('failure: file not found');
    const source = contents.toString('utf8');
    const session: Session = { ...call.session, origin: 'script' };
    const result = await startScript(router, { kind: 'import', name, source, session, ...(call.write ? { write: call.write } : {}) }).done;
    if (call.session.signal.aborted) throw new Trap('interrupted', 2);
    if (result.error !== undefined) throw new Trap(call.session.origin === 'api' ? result.error : `Script Error: ${result.error}`);
    return { rows: [], text: 'Script file loaded and executed successfully\r\n' };
  },
};

function isSchedulerAllowed(router: RouterState): boolean {
  return !router.hasMenu('/system/device-mode') || router.setting('/system/device-mode', 'scheduler') !== 'false';
}

function checkSchedule(change: ProposedChange): void {
  const { router, values, given, item } = change;
  if (given.has('.remove')) return;
  if (!isSchedulerAllowed(router)) throw new Trap('failure: not allowed by device-mode');
  numberNames(change, 'schedule');
  ownPolicies(change);
  const wall = router.clock.wallMs();
  if (!item && !given.has('start-time')) values.set('start-time', formatTime(wall));
  if (values.get('start-time') === 'startup') values.delete('start-date');
  else if (!values.has('start-date') || (!given.has('start-date') && given.has('start-time') && !item))
    values.set('start-date', formatDate(router.version, wall));
  const time = values.get('start-time') ?? '';
  if (time !== 'startup' && (parseDuration(time) ?? DAY_MS) >= DAY_MS) throw new Trap('invalid value for argument start-time', 1);
  if (given.has('start-date') && parseDate(values.get('start-date') ?? '') === undefined)
    throw new Trap('invalid value for argument start-date', 1);
}

function schedulerValues(router: RouterState, item: Item): [string, string | undefined][] {
  const { clock, version } = router;
  const wall = clock.wallMs();
  const next = nextRun(item.values, { wallMs: wall, uptimeMs: clock.uptimeMs() });
  return [['next-run', next === undefined ? undefined : formatRecent(version, next, wall)]];
}

export const SCRIPT_MENUS: readonly MenuDefinition[] = [
  {
    path: '/system/script',
    noun: 'script',
    changePolicies: ['write'],
    custom: { run },
    unique: { properties: ['name'], message: 'failure: item with this name already exists' },
    check: (change) => {
      numberNames(change, 'script');
      ownPolicies(change);
      if (!change.item && !change.given.has('.remove'))
        for (const [name, value] of [
          ['run-count', '0'],
          ['invalid', 'false'],
        ] as const)
          change.values.set(name, value);
    },
    properties: {
      name: {},
      owner: {},
      policy: { type: 'policies' },
      'dont-require-permissions': flag('false'),
      'last-started': readOnly,
      'run-count': readOnly,
      source: { default: '' },
      invalid: readOnly,
      comment: { since: '7.0' },
    },
  },
  {
    path: '/system/script/job',
    firstId: 0xb500,
    volatile: true,
    noExport: true,
    removableDynamic: true,
    without: ['add', 'set', 'unset'],
    properties: { type: readOnly, started: readOnly, owner: readOnly, policy: readOnly, script: readOnly },
  },
  {
    path: '/system/scheduler',
    noun: 'scheduled event',
    check: checkSchedule,
    compute: schedulerValues,
    unique: { properties: ['name'], message: 'failure: item with this name already exists' },
    properties: {
      name: {},
      'start-date': { type: 'date' },
      'start-time': {},
      interval: { type: 'duration', default: '0s' },
      'on-event': { default: '' },
      owner: readOnly,
      policy: { type: 'policies' },
      'run-count': { readOnly: true, default: '0' },
      'next-run': readOnly,
      disabled,
      comment: { ...comment },
    },
  },
];

export { isSchedulerAllowed };
