/** The part of pino that the product uses; injected, so that tests can silence it. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
}

/** Field names of log lines, fixed so that they can be searched. No payloads, no secrets. */
export interface LogFields {
  err?: unknown;
  team_id?: string;
  agent_id?: string;
  router_id?: string;
  job_id?: string;
  forward_id?: string;
  campaign_id?: string;
  request_id?: string;
  epoch?: number;
  message_type?: string;
  reason?: string;
  source?: string;
  count?: number;
  port?: number;
  duration_ms?: number;
  component?: string;
}
