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
const reportSchema = z.object({ vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), advisorySchema])) })) });

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
  const report = reportSchema.safeParse(parse(output));
  if (!report.success)
    return { isFine: true, lines: [`dependencies: NOT CHECKED, the registry does not tell of advisories: ${reasonIn(output)}`] };
  const found = new Map(
    Object.values(report.data.vulnerabilities)
      .flatMap(({ via }) => via.filter((one) => typeof one !== 'string'))
      .map((advisory) => [advisory.url.split('/').at(-1)!, advisory] as const),
  );
  const open = [...found].filter(([id, { name }]) => !decisions.some((one) => one.id === id && one.package === name && one.until >= today));
  const unused = decisions.filter(({ id }) => !found.has(id));
  return {
    isFine: open.length === 0,
    lines: [
      `dependencies: ${found.size} advisories, ${open.length} without a decision that holds today`,
      ...open.map(([id, { name, severity, title, range }]) => `  ${id} ${name} ${range} (${severity}): ${title}`),
      ...(open.length > 0 ? ['  Decide about each in docs/security/advisories.json.'] : []),
      ...unused.map(({ id, package: name }) => `  ${id} ${name} is decided and not found any more: remove it`),
    ],
  };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

const failureSchema = z.object({ message: z.string() });

function reasonIn(output: string): string {
  const failure = failureSchema.safeParse(parse(output));
  return (failure.success ? failure.data.message : output.trim().split('\n')[0]) || 'no answer';
}
