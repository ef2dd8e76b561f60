/** Runs sources in the script language as the router does: in a session, or as a job of its own. */
import type { ExecutionKind } from './executions.ts';
import { formatDateTime } from './formats.ts';
import type { ScriptResult, Session } from './menu/types.ts';
import { ALL_POLICIES } from './menu/values.ts';
import type { RouterState } from './state.ts';

export interface ScriptRun {
  kind: ExecutionKind;
  /** Script, scheduler or file name; '' for a bare source. */
  name: string;
  source: string;
  /** In whose name and with which rights; its signal interrupts the run. */
  session: Session;
  write?: (text: string) => void;
}

export interface RunningScript {
  /** Id in /system/script/job. */
  readonly id: string;
  /** Never rejects. */
  readonly done: Promise<ScriptResult>;
}

const JOBS = '/system/script/job';

/** Starts a run. It is a row of /system/script/job while it lasts; removing the row interrupts it. */
export function startScript(router: RouterState, run: ScriptRun): RunningScript {
  const execution = router.executions.begin({ kind: run.kind, name: run.name, source: run.source, user: run.session.user });
  const controller = new AbortController();
  const jobs = router.table(JOBS);
  const started = formatDateTime(router.version, router.clock.wallMs());
  const job = jobs.add(
    [
      ['type', 'command'],
      ['started', started],
      ['owner', run.session.user],
      ['policy', [...run.session.policies].join(',')],
      ...(run.name === '' ? [] : [['script', run.name] as const]),
    ],
    { dynamic: true },
  );
  const unwatch = jobs.watch(({ kind, item }) => {
    if (kind === 'remove' && item === job) controller.abort();
  });
  const session = { ...run.session, signal: AbortSignal.any([run.session.signal, controller.signal]) };
  const finish = (result: ScriptResult): ScriptResult => {
    unwatch();
    const outcome = session.signal.aborted ? 'interrupted' : result.error === undefined ? 'ok' : 'error';
    execution.end(outcome, result.error);
    jobs.remove(job);
    return result;
  };
  const done = router.scripts.run(run.source, session, run.write ?? (() => undefined));
  return { id: job.id, done: done.then(finish, (error: unknown) => finish({ error: `simulator error: ${String(error)}` })) };
}

/** Policies both sides have. */
export function sharedPolicies(left: ReadonlySet<string>, right: ReadonlySet<string>): Set<string> {
  return new Set([...left].filter((policy) => right.has(policy)));
}

export function policySet(text: string): Set<string> {
  return new Set(text.split(',').filter((policy) => policy !== '' && !policy.startsWith('!')));
}

/** Runs a script of /system/script in a session and keeps its books. Throws nothing; the result carries the error. */
export function startNamedScript(
  router: RouterState,
  name: string,
  session: Session,
  options: { write?: (text: string) => void } = {},
): RunningScript | undefined {
  const table = router.table('/system/script');
  const item = table.find('name', name);
  if (!item) return undefined;
  const count = Number(item.values.get('run-count') ?? '0') + 1;
  table.update(item, [
    ['run-count', String(count)],
    ['last-started', formatDateTime(router.version, router.clock.wallMs())],
  ]);
  return startScript(router, { kind: 'script', name, source: item.values.get('source') ?? '', session, ...options });
}

/** Runs the commands of a file in the router's own name; a file that is gone runs nothing. */
export function runFile(router: RouterState, name: string): void {
  const contents = router.files.read(name);
  if (!contents) return;
  const session = router.ownSession({ user: '*sys', policies: new Set(ALL_POLICIES), origin: 'script' });
  const { done } = startScript(router, { kind: 'import', name, source: contents.toString('utf8'), session });
  // `done` never rejects.
  void done.then(() => session.end());
}
