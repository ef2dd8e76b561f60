import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { describeConnectionError } from './connection-errors.ts';
import { LinkError } from './errors.ts';

/** For name look-up, TLS and one small request, in milliseconds. */
const GET_TIMEOUT_MS = 10_000;

/** Largest answer: 1,000 entries with a reason of about 200 characters each. All other answers are much smaller. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface HttpGetOptions {
  /** Base address of the control plane. */
  server: string;
  /** Below the base address. */
  path: string;
  /** PEM of the authority that signed the server's certificate, instead of the public ones. */
  ca?: string | undefined;
  bearer?: string;
}

export interface HttpAnswer {
  status: number;
  body: string;
}

/**
 * Sends one GET request to the control plane, without opening a tunnel, which would replace that of a running agent.
 * @throws LinkError `refused` when it cannot be reached, or its answer is too long
 */
export async function httpGet({ server, path, ca, bearer }: HttpGetOptions): Promise<HttpAnswer> {
  const url = new URL(server);
  url.protocol = /^(https|wss):$/.test(url.protocol) ? 'https:' : 'http:';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  const client = url.protocol === 'https:' ? https : http;
  const options = {
    signal: AbortSignal.timeout(GET_TIMEOUT_MS),
    agent: false,
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    ...(ca === undefined ? {} : { ca }),
  };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      client.get(url, options, resolve).on('error', reject);
    });
    return { status: response.statusCode ?? 0, body: await readBody(response) };
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError('refused', describeConnectionError(error));
  }
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new LinkError('refused', 'the answer is not that of a control plane');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
