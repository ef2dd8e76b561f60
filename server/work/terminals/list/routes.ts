import { z } from 'zod';
import { TERMINAL_LEVELS } from '../../../../protocol/index.ts';
import type { App } from '../../../platform/http/app.ts';
import { dateTime, toDateTime, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { uuidField } from '../../../platform/http/fields.ts';
import { recordListRoute } from '../../../platform/http/record-list.ts';
import type { TerminalsService } from '../service.ts';
import { TERMINAL_ENDS } from '../types.ts';
import type { TerminalView } from '../types.ts';

export const terminalExample = {
  id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1a',
  router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  agent_id: '01a1fb9a-1b2c-7c3d-8e4f-5a6b7c8d9e0f',
  level: 'read' as const,
  reason: 'ticket 4711: the uplink drops at noon',
  status: 'open' as const,
  attached: true,
  away: false,
  opened_by: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  opened_by_kind: 'user' as const,
  source: '203.0.113.7',
  created_at: '2031-05-01T08:30:00.000Z',
  opened_at: '2031-05-01T08:30:00.400Z',
  ended_at: null,
  end_reason: null,
  end_message: null,
  ended_by: null,
  output_bytes: 2048,
  input_bytes: 96,
  recording: 'kept' as const,
};

export const terminalSchema = z
  .object({
    id: z.string(),
    router_id: z.string(),
    agent_id: z.string(),
    level: z.enum(TERMINAL_LEVELS),
    reason: z.string().describe('Why it was opened, in the words of its opener'),
    status: z.enum(['open', 'ended']),
    attached: z.boolean().describe('A page or a command line is attached now'),
    away: z.boolean().describe('The way to the router is broken and is being restored'),
    opened_by: z.string().describe('Id of the person or API key'),
    opened_by_kind: z.enum(['user', 'api_key']),
    source: z.string().describe('Address from which it was opened'),
    created_at: dateTime,
    opened_at: dateTime.nullable().describe("Since when the router's shell was open; null when it never was"),
    ended_at: dateTime.nullable(),
    end_reason: z.enum(TERMINAL_ENDS).nullable(),
    end_message: z.string().nullable(),
    ended_by: z.string().nullable().describe('Who ended it, if a person or API key did'),
    output_bytes: z.int().describe('Output of the router that is recorded so far'),
    input_bytes: z.int().describe('Bytes typed so far. What was typed is not recorded'),
    recording: z.enum(['kept', 'deleted', 'none']).describe('deleted: it was older than recordings are kept'),
  })
  .meta({ id: 'Terminal', examples: [terminalExample] });

/** The terminals of all routers. */
export function teamTerminalsRoute(app: App, { terminals }: { terminals: TerminalsService }): void {
  recordListRoute(app, {
    path: '/api/terminals',
    tag: 'terminals',
    operationId: 'listTerminals',
    summary: 'List the terminals of every router of the team, newest first',
    name: 'terminals',
    item: terminalSchema,
    filters: {
      status: z.enum(['open', 'ended']).optional(),
      opened_by: uuidField.optional().describe('Terminals of this person or API key'),
    },
    find: ({ teamId, filter, given, page, wantsTotal }) =>
      terminals.list(teamId, { ...filter, status: given.status, openedBy: given.opened_by }, page, wantsTotal),
    recordOf: ({ record }) => record,
    present: presentTerminal,
  });
}

export function presentTerminal({ record, attached, away }: TerminalView): z.infer<typeof terminalSchema> {
  return {
    id: record.id,
    router_id: record.router_id,
    agent_id: record.agent_id,
    level: record.level === 'full' ? 'full' : 'read',
    reason: record.reason,
    status: record.ended_at === null ? 'open' : 'ended',
    attached,
    away,
    opened_by: record.opened_by,
    opened_by_kind: record.opened_by_kind === 'user' ? 'user' : 'api_key',
    source: record.source,
    created_at: toDateTime(record.created_at),
    opened_at: toDateTimeOrNull(record.opened_at),
    ended_at: toDateTimeOrNull(record.ended_at),
    end_reason: TERMINAL_ENDS.find((reason) => reason === record.end_reason) ?? null,
    end_message: record.end_message,
    ended_by: record.ended_by,
    output_bytes: record.output_bytes,
    input_bytes: record.input_bytes,
    recording: record.recording_deleted_at !== null ? 'deleted' : record.recording_chunks > 0 ? 'kept' : 'none',
  };
}
