import { MAX_OUTPUT_BYTES } from '../../protocol/index.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { quote } from '../../routeros-text/quote.ts';
import { catchesErrors, scriptNameOf, withOwnColumn } from './source.ts';
import { syntaxErrorIn } from '../../routeros-text/refusals.ts';
import type { RunReport } from './verdict/verdict.ts';

/** SSH ends lines with two bytes, of which one is kept: this much is read of an output that is kept whole. */
const PRINTED_BYTES = 2 * MAX_OUTPUT_BYTES;
/** A syntax tree in text is several times as long as its source. */
const PARSED_BYTES = 256 * 1024;
/** RouterOS's trap category for the value of a top-level `:return`: not an error. */
const RETURNED = 7;
/** The command was cancelled on the router. */
const INTERRUPTED = 2;

/**
 * What the router's own parser has against the script, with line and column; undefined when nothing, or when this
 * router cannot be asked (before 7.8 without SSH): its parser then refuses the run as a whole.
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
 * Runs the stored script of a job: on the console where there is one, because it returns the output, else by
 * `/system/script/run`. Never rejects: what the call came to is only one part of the verdict.
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
    // Without a console nobody has checked the syntax before: the router did it now, before anything ran.
    return report.kind === 'refused' ? { ...report, message: withOwnColumn(report.message, job.jobId, job.version) } : report;
  }
}

/** Whether it was given up because it had its time is known to the caller, who set it. */
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
