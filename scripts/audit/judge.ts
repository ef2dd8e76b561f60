import { z } from 'zod';

const decisionsSchema = z.array(
  z.strictObject({
    /** Id of the GitHub advisory: `GHSA-xxxx-xxxx-xxxx`. */
    id: z.string().regex(/^GHSA(?:-[a-z0-9]{4}){3}$/),
    package: z.string().min(1),
    decision: z.enum(['not affected', 'accepted', 'to be mended']),
    reason: z.string().min(20),
    /** Day of the next review: a decision expires. */
    until: z.iso.date(),
  }),
);

export type Decision = z.infer<typeof decisionsSchema>[number];

/** @throws Error that names what is wrong with the file */
export function readDecisions(json: string): Decision[] {
  return decisionsSchema.parse(JSON.parse(json));
}

const advisorySchema = z.object({ name: z.string(), title: z.string(), url: z.string(), severity: z.string(), range: z.string() });
const reportSchema = z.object({
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), advisorySchema])) })),
  metadata: z.object({ vulnerabilities: z.object({ total: z.int() }) }).optional(),
});
type Advisory = z.infer<typeof advisorySchema>;
/** What npm prints instead of a report when the registry does not serve advisories, or cannot be reached. */
const failureSchema = z.object({ message: z.string(), vulnerabilities: z.never().optional(), metadata: z.never().optional() });

export interface Verdict {
  isFine: boolean;
  /** For people. */
  lines: string[];
}

/**
 * @param output what `npm audit --json` printed, or why it did not run
 * @param today to find decisions due for review
 */
export function judgeAudit(output: string, decisions: readonly Decision[], today = new Date().toISOString().slice(0, 10)): Verdict {
  const answer = parse(output);
  const failure = failureSchema.safeParse(answer);
  if (answer === undefined || failure.success) return notChecked(failure.data?.message ?? output.trim().split('\n')[0]!);
  const report = reportSchema.safeParse(answer);
  // Never "not checked": a form that this script does not know may hold findings.
  if (!report.success) return unreadable(z.prettifyError(report.error));
  const found = advisoriesIn(report.data);
  if (found.length === 0 && (report.data.metadata?.vulnerabilities.total ?? 0) > 0)
    return unreadable('it counts weaknesses and names none');
  const open = found.filter(({ id, name }) => !decisions.some((one) => one.id === id && one.package === name && one.until >= today));
  const unused = decisions.filter((one) => !found.some(({ id, name }) => one.id === id && one.package === name));
  return {
    isFine: open.length === 0,
    lines: [
      `dependencies: ${found.length} advisories, ${open.length} without a decision that holds today`,
      ...open.map(({ id, name, severity, title, range }) => `  ${id} ${name} ${range} (${severity}): ${title}`),
      ...(open.length > 0 ? ['  Decide about each in docs/security/advisories.json.'] : []),
      ...unused.map(({ id, package: name }) => `  ${id} ${name} is decided and not found any more: remove it`),
    ],
  };
}

/** One advisory may concern several packages, and each needs a decision of its own. */
function advisoriesIn({ vulnerabilities }: z.infer<typeof reportSchema>): (Advisory & { id: string })[] {
  const found = Object.values(vulnerabilities)
    .flatMap(({ via }) => via.filter((one) => typeof one !== 'string'))
    .map((advisory) => ({ ...advisory, id: advisory.url.split('/').at(-1)! }));
  return [...new Map(found.map((advisory) => [`${advisory.id} ${advisory.name}`, advisory])).values()];
}

function notChecked(reason: string): Verdict {
  return { isFine: true, lines: [`dependencies: NOT CHECKED, the registry does not tell of advisories: ${reason || 'no answer'}`] };
}

function unreadable(reason: string): Verdict {
  return { isFine: false, lines: [`dependencies: the report of npm audit cannot be read: ${reason}`] };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
