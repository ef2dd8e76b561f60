import http from 'node:http';
import https from 'node:https';
import { describeConnectionError } from './connection-errors.ts';
import { LinkError } from './errors.ts';

/** Look-up, TLS and one small request, milliseconds. */
const REACH_TIMEOUT_MS = 10_000;

/**
 * Asks the control plane whether it is there, without opening a tunnel: that would replace a running agent's.
 * @returns the HTTP status of its health page
 * @throws LinkError `refused`
 */
export function reachServer(server: string, ca: string | undefined): Promise<number> {
  const url = new URL(server);
  url.protocol = /^(https|wss):$/.test(url.protocol) ? 'https:' : 'http:';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/healthz`;
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const request = client.get(url, { signal: AbortSignal.timeout(REACH_TIMEOUT_MS), agent: false, ...(ca === undefined ? {} : { ca }) }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    request.on('error', (error) => reject(new LinkError('refused', describeConnectionError(error))));
  });
}
