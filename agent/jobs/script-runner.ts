import { MAX_OUTPUT_BYTES } from '../../protocol/index.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { quote } from '../../routeros-text/quote.ts';
import { catchesErrors, scriptNameOf, withOwnColumn } from './run-marker.ts';
import { syntaxErrorIn } from '../../routeros-text/refusals.ts';
import type { RunReport } from './verdict/verdict.ts';

/** Bytes to read for a complete output: SSH ends lines with two bytes, of which one is kept. */
const PRINTED_BYTES = 2 * MAX_OUTPUT_BYTES;
/** Largest output of `:parse`: a syntax tree as text is several times as long as its source. */
const PARSED_BYTES = 256 * 1024;
/** Trap category of a top-level `:return`, which is not an error. */
const RETURNED = 7;
/** Trap category of a command that was cancelled on the router. */
const INTERRUPTED = 2;

/**
 * The syntax error that the router's own parser finds in the script, with line and column. Undefined without one, or when this router
 * cannot check it (before 7.8 without SSH): its parser then refuses the whole run.
 */
export async function findSyntaxError(router: RouterAdapter, script: string, deadline: Deadline): Promise<string | undefined> {
  try {
    const { text } = await router.console(`:put [:parse ${quote(script)}]`, { ...deadline, maxBytes: PARSED_BYTES });
    return syntaxErrorIn(text);
  } catch (error) {
    if (error instanceof AgentError && (error.code === 'unsupported' || error.code === 'rejected')) return undefined;
    throw error;
  }
}

/**
 * Runs the stored script of a job: on the console if there is one, because it returns the output, else by `/system/script/run`.
 * Never rejects: the result of the call is only one part of the verdict.
 */
export async function runStoredScript(
  router: RouterAdapter,
  job: { jobId: string; script: string; version: string },
  deadline: Deadline,
): Promise<RunReport> {
  const name = scriptNameOf(job.jobId);
  try {
    const line = `/system script run ${quote(name)}`;
    const { text, truncated } = await router.console(line, { ...deadline, maxBytes: PRINTED_BYTES });
    const mayRaise = !catchesErrors(job.version) && /:error\b/.test(job.script);
    return { kind: 'text', text, truncated, mayReturn: /:return\b/.test(job.script), mayRaise };
  } catch (error) {
    if (!isUnsupported(error) || !router.hasApi) return reportOf(error);
  }
  try {
    await router.command({ path: '/system/script/run', words: [`=number=${name}`] }, deadline);
    return { kind: 'finished' };
  } catch (error) {
    const report = reportOf(error);
    // Without a console the router checks the syntax only now, before anything runs.
    return report.kind === 'refused' ? { ...report, message: withOwnColumn(report.message, job.jobId, job.version) } : report;
  }
}

/** The caller sets `late`, because it knows the time limit. */
const LOST: RunReport = { kind: 'lost', late: false };

function isUnsupported(error: unknown): boolean {
  return error instanceof AgentError && error.code === 'unsupported';
}

function reportOf(error: unknown): RunReport {
  if (!(error instanceof AgentError)) return LOST;
  switch (error.code) {
    case 'rejected':
      if (error.category === RETURNED) return { kind: 'finished' };
      return error.category === INTERRUPTED ? LOST : { kind: 'refused', message: error.message };
    case 'outcome_unknown':
    case 'internal':
      return LOST;
    case 'router_unreachable':
    case 'not_allowed':
    case 'invalid':
    case 'unsupported':
    case 'wrong_router':
      return { kind: 'not_sent', message: error.message };
  }
}
