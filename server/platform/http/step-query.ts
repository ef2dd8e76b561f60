import { z } from 'zod';
import { STEP_WORDS } from '../core/time-steps.ts';
import type { StepRange } from '../core/time-steps.ts';
import { dateTime, toDateTime } from './envelope.ts';
import { momentField } from './fields.ts';

/** `?from&to&step` of measurements over time: read it with `readStepRange`. */
export const stepQuery = z.object({
  from: momentField.optional().describe('24 hours before `to` when missing. It is moved back to the beginning of its step'),
  to: momentField.optional().describe('Now when missing. It is moved on to the end of its step'),
  step: z
    .enum(STEP_WORDS)
    .optional()
    .describe('Length of a step. When missing, the shortest that gives at most 400 of them. Steps are aligned to midnight UTC'),
});

/** The answer: the range that was read, and its steps with measurements, oldest first. */
export function stepsOf<Point extends z.ZodType>(point: Point) {
  return z.object({ from: dateTime, to: dateTime, step_seconds: z.int(), steps: z.array(point) });
}

export function presentSteps<Point>({ from, to, stepMs }: StepRange, steps: Point[]) {
  return { from: toDateTime(from), to: toDateTime(to), step_seconds: stepMs / 1000, steps };
}
