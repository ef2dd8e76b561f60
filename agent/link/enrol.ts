import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import * as z from 'zod';
import { ENROL_PATH, enrolResponse } from '../../protocol/index.ts';
import type { EnrolResponse } from '../../protocol/index.ts';
import { describeConnectionError } from './connection-errors.ts';
import { CredentialsFile } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { LinkError } from './errors.ts';

/** For the whole exchange: name look-up, TLS and one small request, in milliseconds. */
const ENROL_TIMEOUT_MS = 20_000;

/** Largest answer. It holds an id and a secret, or an error of a few lines. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface EnrolOptions {
  /** Base address of the control plane. */
  server: string;
  /** One-use token that an administrator created. */
  token: string;
  /** Display name of the agent. */
  name: string;
  credentialsFile: string;
  /** PEM of the authority that signed the server's certificate, instead of the public ones. */
  ca?: string | undefined;
}

/**
 * Exchanges a one-use token for the agent's credentials, and writes them to the credentials file.
 * @throws AgentError `invalid` when the file exists or cannot be written; LinkError `unauthorized` for a used, expired or unknown
 *   token, otherwise as for a dial
 */
export async function enrol(options: EnrolOptions): Promise<Credentials> {
  const url = enrolUrl(options.server);
  const file = await CredentialsFile.prepare(options.credentialsFile);
  try {
    const answer = await post(url, JSON.stringify({ token: options.token, name: options.name }), options.ca);
    const credentials = { server: options.server, ...answer };
    await file.commit(credentials);
    return credentials;
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

function enrolUrl(server: string): URL {
  const url = URL.parse(server);
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) throw new LinkError('refused', `not an address of a control plane: ${server}`);
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'https:' : 'http:';
  url.pathname = url.pathname.replace(/\/+$/, '') + ENROL_PATH;
  return url;
}

async function post(url: URL, body: string, ca: string | undefined): Promise<EnrolResponse> {
  const signal = AbortSignal.timeout(ENROL_TIMEOUT_MS);
  try {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      signal,
      agent: false,
      ...(ca === undefined ? {} : { ca }),
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return readAnswer(response.statusCode ?? 0, await readBody(response));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    const reason = describeConnectionError(error, '--server-ca');
    throw new LinkError(signal.aborted ? 'timeout' : 'unreachable', `cannot reach ${url.host}: ${reason}`, { cause: error });
  }
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new LinkError('refused', 'the answer is not that of a control plane');
  }
  return Buffer.concat(chunks).toString('utf8');
}

const problem = z.object({ message: z.string() });

function readAnswer(status: number, body: string): EnrolResponse {
  const json = parseJson(body);
  const answer = enrolResponse.safeParse(json);
  if (status >= 200 && status < 300 && answer.success) return answer.data;
  const said = problem.safeParse(json);
  const reason = said.success ? said.data.message : `it answered ${status}`;
  const refusedToken = status === 401 || status === 403 || status === 404 || status === 422;
  throw new LinkError(refusedToken ? 'unauthorized' : 'refused', `the control plane refuses to enrol this agent: ${reason}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
